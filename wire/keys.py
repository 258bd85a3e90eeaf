"""CURVE keys on disk: one file for the secret (mode 0600, or weft refuses to start), one beside it for the public half, which is given to others.

A file holds one line, the key in Z85 (40 characters).
"""
from __future__ import annotations

import os
import stat
from pathlib import Path

from ..scheduler.errors import Misuse
from .sockets import Keys, is_key, new_keys, public_key


def create_keys(folder: Path, name: str) -> Keys:
    """Make `name.secret` and `name.public`. A secret that is there already is never overwritten."""
    keys = new_keys()
    secret = folder / f"{name}.secret"
    try:
        file = os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise Misuse(f"{secret} exists; remove it yourself if every peer is to learn a new key") from None
    except OSError as error:
        raise Misuse(f"the secret key {secret} cannot be written: {error.strerror}; name a folder that is there and is yours") from None
    with os.fdopen(file, "wb") as out:
        out.write(keys.secret + b"\n")
    (folder / f"{name}.public").write_bytes(keys.public + b"\n")
    return keys


def load_keys(secret: Path) -> Keys:
    """The key pair of a secret file that nobody else can read."""
    try:
        file = os.open(secret, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise Misuse(f"the secret key {secret} cannot be read: {error.strerror}") from None
    with os.fdopen(file, "rb") as opened:
        found = os.fstat(opened.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise Misuse(f"the secret key {secret} must be a file of this user's own")
        if found.st_mode & 0o077:
            raise Misuse(f"the secret key {secret} can be read by others (mode {found.st_mode & 0o777:03o}); run: chmod 600 {secret}")
        key = _key(opened.read(256), secret)
    return Keys(public_key(key), key)


def load_public(path: Path) -> bytes:
    try:
        return _key(path.read_bytes()[:256], path)
    except OSError as error:
        raise Misuse(f"the public key {path} cannot be read: {error.strerror}") from None


def _key(text: bytes, path: Path) -> bytes:
    key = text.strip()
    if not is_key(key):
        raise Misuse(f"{path} holds no key: one line of 40 characters (Z85) is expected")
    return key
