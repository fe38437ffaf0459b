"""A process that resigns in a transaction of its own, and is stopped before it commits.

Run as `python -m tests.faults.holding MATCH PLAYER`. None of ours holds a
match's lock for longer than a statement: this one shows what would happen.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any
from uuid import UUID

import django

django.setup()

from matches.domain.commands import Resign  # noqa: E402 - Django comes first
from matches.eventstore import pool  # noqa: E402
from matches.services import execute  # noqa: E402

connection = pool._open().getconn()
connection.execute("BEGIN")
patched: Any = pool
patched._run_once = lambda _pool, statement, params: connection.ask(statement, params)
execute.execute(match_id=UUID(sys.argv[1]), player=sys.argv[2], body=Resign())
os.kill(os.getpid(), signal.SIGSTOP)
connection.execute("COMMIT")
