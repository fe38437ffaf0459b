"""Facts for moderators."""

from __future__ import annotations

from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command

from matches import tasks
from matches.models import Flag, SeenAddress
from matches.models import Player as PlayerRow
from matches.services import fairness, housekeeping
from tests.support import api
from tests.support.api import PASSWORD, Answer, Api, InProcess, Player, fresh_name

pytestmark = pytest.mark.django_db


class From(InProcess):
    """Requests from an address, behind a proxy of ours."""

    def __init__(self, address: str) -> None:
        self.address = address

    def send(self, method: str, path: str, headers: Any, body: bytes | None) -> Answer:
        return super().send(method, path, {**headers, "X-Forwarded-For": self.address}, body)


@pytest.fixture(autouse=True)
def _proxied(settings: Any) -> None:
    settings.XQMJ_NUM_PROXIES = 1
    SeenAddress.objects.all().delete()
    Flag.objects.all().delete()


def pairs(kind: str) -> list[tuple[str, str, int]]:
    fairness.look()
    found = Flag.objects.filter(kind=kind).order_by("id")
    return [(flag.one.hex, flag.other.hex, flag.count) for flag in found]


def lower_first(*players: Player) -> tuple[str, str]:
    one, other = sorted((player.id for player in players), key=lambda hex_: UUID(hex=hex_).bytes)
    return one, other


class TestSharedAddress:
    def test_is_flagged_once_a_day(self) -> None:
        ada, bob = (api.registered(From("192.0.2.7")) for _ in range(2))
        api.registered(From("192.0.2.8"))

        expected = [(*lower_first(ada, bob), 1)]
        assert pairs("shared_address") == expected
        assert pairs("shared_address") == expected

    def test_is_noted_at_a_log_in_too(self) -> None:
        ada, bob = api.registered(From("192.0.2.7")), api.registered(From("192.0.2.8"))
        body = {"username": ada.username, "password": PASSWORD}
        assert Api(From("192.0.2.8")).post("auth/login", body).status == 201

        assert pairs("shared_address") == [(*lower_first(ada, bob), 1)]

    def test_is_kept_as_a_keyed_hash(self, settings: Any) -> None:
        ada = api.registered(From("192.0.2.7"))
        (row,) = SeenAddress.objects.filter(player=ada.id)
        settings.SECRET_KEY = "another" * 10
        other = api.registered(From("192.0.2.7"))

        assert len(row.address) == 32
        assert "192" not in row.address[:3]
        assert SeenAddress.objects.get(player=other.id).address != row.address

    def test_of_a_crowd_says_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(fairness, "CROWD", 2)
        for _ in range(3):
            api.registered(From("192.0.2.7"))

        assert pairs("shared_address") == []

    def test_is_forgotten_in_time(self, settings: Any) -> None:
        ada, bob = (api.registered(From("192.0.2.7")) for _ in range(2))
        SeenAddress.objects.filter(player=ada.id).update(last_at="2020-01-01T00:00:00Z")
        fairness.look()
        settings.XQMJ_FLAG_DAYS = 0

        housekeeping.forget_expired()

        assert [row.player.hex for row in SeenAddress.objects.all()] == [bob.id]
        settings.XQMJ_FLAG_DAYS = -2
        housekeeping.forget_expired()
        assert not Flag.objects.exists()

    def test_that_cannot_be_told_is_not_noted(self) -> None:
        api.registered(From("nowhere"))

        assert not SeenAddress.objects.exists()


class TestManyMatches:
    def play(self, times: int) -> tuple[Player, Player]:
        ada, bob = (api.registered(From(f"192.0.2.{n}")) for n in (1, 2))
        for number in range(times):
            one, other = (ada, bob) if number % 2 else (bob, ada)
            match_id = api.begun(one, other, rated=True)
            assert one.post(f"matches/{match_id}/resign").status == 200
        return ada, bob

    def test_of_a_pair_are_flagged(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(fairness, "MATCHES_A_DAY", 2)
        ada, bob = self.play(3)

        flags = [flag for flag in pairs("many_matches") if flag[0] in (ada.id, bob.id)]
        assert sum(count for *_, count in flags) == 3
        assert flags[0][:2] == lower_first(ada, bob)

    def test_are_none_up_to_the_number(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(fairness, "MATCHES_A_DAY", 2)
        ada, bob = self.play(2)

        assert not [flag for flag in pairs("many_matches") if flag[0] in (ada.id, bob.id)]

    def test_are_more_than_ten(self) -> None:
        assert fairness.MATCHES_A_DAY == 10


class TestList:
    def test_of_the_command_names_both(self) -> None:
        ada, bob = (api.registered(From("192.0.2.7")) for _ in range(2))
        out = StringIO()

        call_command("flags", stdout=out)

        (line,) = [one for one in out.getvalue().splitlines() if ada.username in one]
        assert " shared_address 1 " in line
        assert bob.username in line

    def test_of_the_admin_is_read_only(self, client: Any) -> None:
        for _ in range(2):
            api.registered(From("192.0.2.7"))
        fairness.look()
        flag = Flag.objects.first()
        assert flag is not None
        staff = PlayerRow.objects.create_superuser(fresh_name(), PASSWORD)
        client.force_login(staff)

        page = client.get("/admin/matches/flag/")

        assert page.status_code == 200
        assert b"shared_address" in page.content or b"Shared Address" in page.content
        assert client.get("/admin/matches/flag/add/").status_code == 403
        assert client.post(f"/admin/matches/flag/{flag.pk}/delete/").status_code == 403

    def test_is_looked_after_every_hour(self, settings: Any) -> None:
        entry = settings.CELERY_BEAT_SCHEDULE["look-for-flags"]

        assert (entry["task"], entry["schedule"]) == (tasks.look_for_flags.name, 3600.0)
        assert tasks.look_for_flags() == 0
