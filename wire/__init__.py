"""Messages, their codec, endpoints and mailboxes."""
