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
    """Make `name.secret` and `name.public`: both, or neither. A secret that is there already is never overwritten."""
    keys = new_keys()
    secret, public = folder / f"{name}.secret", folder / f"{name}.public"
    _check_folder(secret, "written")
    try:
        file = os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
    except FileExistsError:
        raise Misuse(f"{secret} exists; remove it yourself if every peer is to learn a new key") from None
    except OSError as error:
        raise Misuse(f"the secret key {secret} cannot be written: {error.strerror}; name a folder that is there and is yours") from None
    path = secret
    try:
        _write(file, keys.secret)
        path = public
        _write(os.open(public, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _FLAGS, 0o644), keys.public)
    except OSError as error:
        secret.unlink()
        raise Misuse(f"the key {path} cannot be written: {error.strerror}; no key was made") from None
    return keys


def load_keys(secret: Path) -> Keys:
    """The key pair of a secret file that nobody else can read, in a folder where nobody else can replace it."""
    _check_folder(secret, "read")
    text, found = _read(secret, "secret")
    if found.st_uid != os.geteuid():
        raise Misuse(f"the secret key {secret} must be a file of this user's own")
    if found.st_mode & 0o077:
        raise Misuse(f"the secret key {secret} can be read by others (mode {found.st_mode & 0o777:03o}); run: chmod 600 {secret}")
    key = _key(text, secret)
    return Keys(public_key(key), key)


def load_public(path: Path) -> bytes:
    return _key(_read(path, "public")[0], path)


_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe in the place of a key is not waited for


def _check_folder(secret: Path, done: str) -> None:
    """In a folder with the sticky bit, such as /tmp, others may write and yet not replace what is not theirs."""
    try:
        found = os.stat(secret.parent)
    except OSError as error:
        raise Misuse(f"the secret key {secret} cannot be {done}: {error.strerror}; name a folder that is there and is yours") from None
    if found.st_uid not in (os.geteuid(), 0):
        raise Misuse(f"the secret key {secret} is in a folder of user {found.st_uid}, who could replace it; keep it in a folder of your own")
    if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
        raise Misuse(f"the secret key {secret} could be replaced by others, who may write in its folder (mode {found.st_mode & 0o777:03o}); run: chmod go-w {secret.parent}")


def _read(path: Path, half: str) -> tuple[bytes, os.stat_result]:
    """The beginning of a regular file, and what the file is."""
    try:
        file = os.open(path, os.O_RDONLY | (_FLAGS if half == "secret" else _FLAGS & ~os.O_NOFOLLOW))
        with os.fdopen(file, "rb", closefd=True) as opened:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise Misuse(f"the {half} key {path} must be a file")
            return opened.read(256), found
    except OSError as error:
        raise Misuse(f"the {half} key {path} cannot be read: {error.strerror}") from None


def _write(file: int, key: bytes) -> None:
    with os.fdopen(file, "wb") as out:
        out.write(key + b"\n")


def _key(text: bytes, path: Path) -> bytes:
    key = text.strip()
    if not is_key(key):
        raise Misuse(f"{path} holds no key: one line of 40 characters (Z85) is expected")
    return key
