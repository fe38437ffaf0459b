"""Generated keys and passwords of a development machine, made once and kept."""

from __future__ import annotations

import base64
import json
import os
import secrets
from pathlib import Path
from typing import NamedTuple

FILE_NAME = "keys.json"


class Keys(NamedTuple):
    """Everything secret that the embedded servers and the development settings need."""

    secret_key: str
    seal_keys: str
    superuser_password: str
    owner_password: str
    app_password: str
    auditor_password: str
    valkey_password: str


def generate() -> Keys:
    """Draw new keys from the operating system."""
    seal_key = base64.b64encode(secrets.token_bytes(32)).decode()
    passwords = [secrets.token_urlsafe(24) for _ in range(5)]
    return Keys(secrets.token_urlsafe(50), f"k1:{seal_key}", *passwords)


def load_or_create(folder: Path) -> Keys:
    """Return the keys in `folder`, made at the first call (file mode 0600).

    Raises `ValueError` when the file is there but is not what we wrote: to make
    new keys then would lock the owner out of the data beside it.
    """
    path = folder / FILE_NAME
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            keys = generate()
            json.dump(keys._asdict(), file, indent=1)
            return keys
    except FileExistsError:
        pass
    try:
        return Keys(**json.loads(path.read_text()))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} does not hold the keys of this version: {error}") from error
