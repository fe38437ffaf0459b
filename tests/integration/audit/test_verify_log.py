from __future__ import annotations

import io
from pathlib import Path
from uuid import uuid4

import msgspec
import psycopg
import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from matches.audit import database
from tests.integration.audit.stored import ended, recorder, store_whole
from tests.support.recording import Recorder

pytestmark = pytest.mark.django_db


def told(*arguments: object) -> str:
    """What the command says where all is proven."""
    out = io.StringIO()
    call_command("verify_log", *map(str, arguments), stdout=out)
    return out.getvalue()


def found(*arguments: object) -> str:
    """What the command says where something is wrong; it must end with an error."""
    out = io.StringIO()
    with pytest.raises(CommandError, match="not proven"):
        call_command("verify_log", *map(str, arguments), stdout=out)
    return out.getvalue()


class TestMatchInTheDatabase:
    def test_that_ended_is_proven(self) -> None:
        log = store_whole(ended(4))

        assert f"all {len(log.rows)} events are proven" in told(log.match_id)

    def test_that_goes_on_is_proven_by_its_sealed_secret(self) -> None:
        log = recorder(3)
        log.start()
        log.play(until_hand=2)
        store_whole(log)

        assert "the match goes on" in told(log.match_id)

    def test_that_nobody_joined_yet_is_proven(self) -> None:
        log = store_whole(recorder(3))

        assert "all 1 events are proven" in told(log.match_id)

    def test_that_does_not_exist_is_named(self) -> None:
        match_id = uuid4()

        assert f"match {match_id}\n  there is no such match" in found(match_id)

    def test_that_goes_on_is_not_proven_without_its_key(self, settings: Settings) -> None:
        log = store_whole(recorder(3))
        settings.XQMJ_SEAL_KEYS = {"other": bytes(32)}

        assert "secret_sealed" in found(log.match_id)

    def test_that_ended_is_proven_without_its_key(self, settings: Settings) -> None:
        log = store_whole(ended(4))
        settings.XQMJ_SEAL_KEYS = {"other": bytes(32)}

        assert "proven" in told(log.match_id)


class TestHeadless:
    def test_are_found_from_page_to_page(
        self, intruder: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(database, "STREAMS", 3)
        before = list(database.headless())
        match_ids = [store_whole(ended(4)).match_id for _ in range(8)]
        beheaded = [match_ids[n] for n in (0, 2, 3, 7)]
        for table in ("match_seat", "match_head"):
            intruder.execute(f"DELETE FROM es.{table} WHERE match_id = ANY(%s)", (beheaded,))

        assert list(database.headless()) == before + beheaded

    def test_are_found_without_their_beginning(self, intruder: psycopg.Connection) -> None:
        match_id = store_whole(ended(4)).match_id
        for rest in ("seat", "head", "event"):
            kept = " AND seq < 5" if rest == "event" else ""
            intruder.execute(f"DELETE FROM es.match_{rest} WHERE match_id = %s{kept}", (match_id,))

        assert match_id in database.headless()


class TestTamperedDatabase:
    @pytest.fixture
    def log(self) -> Recorder:
        return store_whole(ended(4))

    def test_shows_an_edited_body(self, log: Recorder, intruder: psycopg.Connection) -> None:
        intruder.execute(
            'UPDATE es.match_event SET payload = \'{"hand":1,"seat":0}\''
            " WHERE match_id = %s AND seq = 3",
            (log.match_id,),
        )

        assert "event 3: hash_mismatch" in found(log.match_id)

    def test_shows_a_body_that_is_only_spelt_otherwise(
        self, log: Recorder, intruder: psycopg.Connection
    ) -> None:
        intruder.execute(
            "UPDATE es.match_event SET payload = replace(payload::text, ':', ': ')::json"
            " WHERE match_id = %s AND seq = 2",
            (log.match_id,),
        )

        assert "event 2: hash_mismatch" in found(log.match_id)

    def test_shows_a_deleted_middle(self, log: Recorder, intruder: psycopg.Connection) -> None:
        intruder.execute(
            "DELETE FROM es.match_event WHERE match_id = %s AND seq = 7", (log.match_id,)
        )

        assert "event 7: not_dense" in found(log.match_id)

    def test_shows_a_cut_tail(self, log: Recorder, intruder: psycopg.Connection) -> None:
        intruder.execute(
            "DELETE FROM es.match_event WHERE match_id = %s AND seq > 9", (log.match_id,)
        )

        assert "event 10: tail_missing" in found(log.match_id)

    def test_shows_two_swapped(self, log: Recorder, intruder: psycopg.Connection) -> None:
        for old, new in ((7, 1_000), (8, 7), (1_000, 8)):
            intruder.execute(
                "UPDATE es.match_event SET seq = %s WHERE match_id = %s AND seq = %s",
                (new, log.match_id, old),
            )

        assert "event 7: hash_mismatch" in found(log.match_id)

    def test_shows_one_inserted(self, log: Recorder, intruder: psycopg.Connection) -> None:
        intruder.execute(
            "INSERT INTO es.match_event (match_id, seq, kind, v, payload, at_ms, hash)"
            " SELECT match_id, %s, kind, v, payload, at_ms, hash FROM es.match_event"
            " WHERE match_id = %s AND seq = 6",
            (len(log.rows) + 1, log.match_id),
        )

        assert f"event {len(log.rows) + 1}: hash_mismatch" in found(log.match_id)

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            ("head_hash = decode(repeat('00', 32), 'hex')", "head_hash"),
            ("version = version + 1", "tail_missing"),
            ("version = version - 1", "head_count"),
            ("winner = 1 - winner", "head_facts: winner"),
            ("scores = '{9,9}'", "head_facts: scores"),
            ("reason = 'flag'", "head_facts: reason"),
            ("rated = NOT rated", "head_facts: rated"),
            ("control = '1+1'", "head_facts: control"),
            ("ended_at_ms = ended_at_ms + 1", "head_facts: ended_at_ms"),
            ("status = 3", "head_facts: status"),
        ],
    )
    def test_shows_an_edited_head(
        self, log: Recorder, intruder: psycopg.Connection, change: str, code: str
    ) -> None:
        intruder.execute(f"UPDATE es.match_head SET {change} WHERE match_id = %s", (log.match_id,))

        assert code in found(log.match_id)

    def test_shows_an_edited_seat(self, log: Recorder, intruder: psycopg.Connection) -> None:
        intruder.execute(
            "UPDATE es.match_seat SET player = %s WHERE match_id = %s AND seat = 1",
            (uuid4(), log.match_id),
        )

        assert "seat_facts" in found(log.match_id)

    def test_shows_a_due_instant_that_was_moved(self, intruder: psycopg.Connection) -> None:
        log = store_whole(recorder(3))
        intruder.execute(
            "UPDATE es.match_head SET due_at_ms = due_at_ms + 1 WHERE match_id = %s",
            (log.match_id,),
        )

        assert "head_facts: due_at_ms" in found(log.match_id)


class TestFile:
    def test_of_an_export_is_proven(self, tmp_path: Path) -> None:
        path = tmp_path / "match.json"
        path.write_bytes(msgspec.json.encode(ended(4).record))

        assert "proven: all" in told("--file", path)

    def test_that_was_changed_is_not(self, tmp_path: Path) -> None:
        path = tmp_path / "match.json"
        path.write_bytes(msgspec.json.encode({**ended(4).record, "count": 3}))

        assert "event 4: head_count" in found("--file", path)

    @pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
    def test_that_is_no_json_is_refused(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "match.json"
        path.write_bytes(content)

        with pytest.raises(CommandError, match=r"match\.json"):
            call_command("verify_log", "--file", str(path))

    def test_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="none"):
            call_command("verify_log", "--file", str(tmp_path / "none"))


class TestNothingNamed:
    def test_is_refused(self) -> None:
        with pytest.raises(CommandError, match="--all"):
            call_command("verify_log")
