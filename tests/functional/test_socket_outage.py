"""Valkey is killed and started again while a match is played over sockets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.functional.test_match_socket import to_move
from tests.support.api import OverHttp, begun, registered
from tests.support.servers import OwnServers
from tests.support.serving import Serving, serving
from tests.support.sockets import Socket

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

HEALED_S = 3.0


@pytest.fixture(scope="module")
def roles(
    own_servers: OwnServers, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Serving, Serving]]:
    """Web and live over servers that may be killed."""
    with ExitStack() as stack:
        web, live = (
            stack.enter_context(
                serving(
                    role,
                    servers=own_servers.addresses,
                    folder=tmp_path_factory.mktemp(role),
                    health=health,
                )
            )
            for role, health in (("web", "/api/v1/health"), ("live", "/live/v1/health"))
        )
        yield web, live


def heard(socket: Socket, kind: str) -> float:
    """How long it takes until a line of the kind comes."""
    began_s = time.monotonic()
    while socket.line(within_s=HEALED_S)["kind"] != kind:
        pass
    return time.monotonic() - began_s


class TestOutage:
    def test_keeps_no_line_from_a_socket(
        self, roles: tuple[Serving, Serving], own_servers: OwnServers
    ) -> None:
        web, live = roles
        address = f"http://127.0.0.1:{web.port}"
        one, two = (registered(OverHttp(address)) for _ in range(2))
        match_id = begun(one, two)
        sockets = {
            player.id: Socket(live.port, f"/live/v1/matches/{match_id}/events", token=player.token)
            for player in (one, two)
        }
        for socket in sockets.values():
            socket.line()

        def discarded() -> float:
            """How long the other seat's socket waits for a discard that is sent over REST."""
            time.sleep(1.7)
            mover, discard = to_move(match_id, one, two)
            other = one if mover is two else two
            assert mover.post(f"matches/{match_id}/act", {"action": discard}).status == 200
            return heard(sockets[other.id], "xqmj.tile_discarded")

        def commanded() -> None:
            """A discard by a socket."""
            time.sleep(1.7)
            mover, discard = to_move(match_id, one, two)
            assert "answer" in sockets[mover.id].command(
                f"k{time.monotonic_ns()}", "act", {"action": discard}
            )

        assert discarded() < HEALED_S
        own_servers.valkey.kill()
        assert discarded() < HEALED_S
        commanded()
        own_servers.valkey.start()
        commanded()
        assert discarded() < HEALED_S
        for socket in sockets.values():
            socket.close()
