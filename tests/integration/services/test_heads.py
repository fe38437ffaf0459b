"""Whoever follows a match looks at it only where there may be something to see."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from matches.domain.commands import Join, Ready
from matches.eventstore import store
from matches.eventstore.pool import Unavailable
from matches.services import execute, heads
from matches.services.accounts import Identity
from matches.services.heads import Heads
from tests.support.seated import Seated

Make = Callable[..., Identity]


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Heads:
    """Heads that are asked for by the test alone."""
    monkeypatch.setattr(Heads, "_run", lambda _self: None)
    return Heads()


def version(seated: Seated) -> int:
    return execute.observe(match_id=seated.match_id).version


def test_nothing_is_known_before_it_was_asked(known: Heads, player: Make) -> None:
    seated = Seated([player()])
    with known.followed(seated.match_id):
        assert known.may_have_moved(seated.match_id, version(seated))


def test_who_has_all_need_not_look_until_there_is_more(known: Heads, player: Make) -> None:
    ana, ben = player(), player()
    seated = Seated([ana, ben])
    with known.followed(seated.match_id):
        known.ask()
        before = version(seated)
        assert not known.may_have_moved(seated.match_id, before)
        assert known.may_have_moved(seated.match_id, before - 1)

        seated.send(1, Join())
        known.ask()

        assert known.may_have_moved(seated.match_id, before)
        assert not known.may_have_moved(seated.match_id, version(seated))


def test_a_match_in_which_the_table_owes_something_may_have_moved(
    known: Heads, player: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    seated = Seated([player(), player()])
    for seat, body in ((1, Join()), (0, Ready()), (1, Ready())):
        seated.send(seat, body)
    with known.followed(seated.match_id):
        known.ask()
        assert not known.may_have_moved(seated.match_id, version(seated))
        # Nothing of what the table does is due now; later it would be left out.
        monkeypatch.setattr(store, "settled_versions", lambda _ids: {})
        known.ask()

        assert known.may_have_moved(seated.match_id, version(seated))


def test_what_nobody_follows_is_not_asked_for(known: Heads, player: Make) -> None:
    seated = Seated([player()])
    with known.followed(seated.match_id), known.followed(seated.match_id):
        pass
    known.ask()

    assert known.may_have_moved(seated.match_id, version(seated))


def test_old_knowledge_is_none(known: Heads, player: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    seated = Seated([player()])
    with known.followed(seated.match_id):
        known.ask()
        monkeypatch.setattr(heads, "TRUSTED_S", 0.0)

        assert known.may_have_moved(seated.match_id, version(seated))


def test_a_database_that_is_away_is_asked_again(
    player: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    seated, answers, asked = Seated([player()]), [True, False], threading.Event()
    settled_versions = store.settled_versions

    def away_at_first(match_ids: object) -> object:
        if answers.pop(0):
            raise Unavailable("away")
        asked.set()
        answers.append(False)
        return settled_versions(match_ids)  # type: ignore[arg-type]

    monkeypatch.setattr(heads, "EVERY_S", 0.01)
    monkeypatch.setattr(store, "settled_versions", away_at_first)
    known = Heads()
    with known.followed(seated.match_id):
        assert asked.wait(10)
