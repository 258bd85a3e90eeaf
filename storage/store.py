"""The door to storage's engines: a store by its url, and the engine of one of its spaces."""
from __future__ import annotations

from .engine import open_engine
from .spaces import Store, file_name

__all__ = ["Store", "file_name", "open_engine"]
