"""The command line, and the process tree it starts."""
