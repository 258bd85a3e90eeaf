"""Documents and the commit algorithm: the authoritative engine, and the replica with its one log."""
