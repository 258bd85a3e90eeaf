"""Thin actors: a message comes in, the machine is called, what it decided goes out."""
