"""The terminal's match against the computer: whole ones, with what a person types written down."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple
from wsgiref.simple_server import make_server

import pytest
from django.core.management import CommandError, call_command
from django.core.wsgi import get_wsgi_application

from matches import worker
from matches.bots import pace
from matches.games.names import LANGS, Lang
from matches.games.xqmj.rules import TwoPlayerRules
from matches.management.demo.ink import Ink
from matches.management.play.game import Game
from matches.services import execute
from matches.services.computer import Computer
from matches.services.sweep import Sweeper
from tests.functional.test_demo import Quiet, Server

PLAIN = Ink(colour=False, wide=False)


class Expected(NamedTuple):
    """What a match shows: its last hand, the first of the actions, its end, and the prompts."""

    hand: str
    first: str
    end: str
    asked: str


EXPECTED: Mapping[Lang, Expected] = {
    "en": Expected(
        "hand 6 of 6   you ",
        r"^  1  (win|discard (red|black) \w+(, just drawn)?|(chow|pung) (red|black) \w+)$",
        r"^\d+ : \d+   (You win|You lose|A draw) by score\.$",
        r"1 to \d+, or resign: |Enter for the next hand: ",
    ),
    "zh-Hans": Expected(
        "第 6 局，共 6 局   你 ",
        r"^  1  (胡|打出 \w(（刚摸）)?|[吃碰] \w)$",
        r"^\d+ : \d+   (你赢了|你输了|平局)（比分）。$",
        r"1 到 \d+，认输请输入 resign：|按回车开始下一局：",
    ),
    "zh-Hant": Expected(
        "第 6 局，共 6 局   你 ",
        r"^  1  (胡|打出 \w(（剛摸）)?|[吃碰] \w)$",
        r"^\d+ : \d+   (你贏了|你輸了|平手)（比分）。$",
        r"1 到 \d+，認輸請輸入 resign：|按 Enter 開始下一局：",
    ),
}


@pytest.fixture
def url(_django_db_helper: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the API in this process, and the worker's loops."""
    monkeypatch.setattr(TwoPlayerRules, "pause_ms", 20)
    monkeypatch.setattr(worker, "EVERY_S", 0.01)
    soon = dict.fromkeys(pace.RANGES_MS, (0, 10))
    monkeypatch.setattr(pace, "RANGES_MS", MappingProxyType(soon))
    server = make_server(
        "127.0.0.1", 0, get_wsgi_application(), server_class=Server, handler_class=Quiet
    )
    serving = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    serving.start()
    loops = (
        worker.SweepLoop(Sweeper(execute.engine()).settle_due),
        worker.ComputerLoop(Computer(execute.engine())),
    )
    for loop in loops:
        loop.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    for loop in loops:
        loop.stop()
    server.shutdown()
    server.server_close()
    serving.join()


class Typist:
    """Types what was written down, then the same answer for ever; keeps what it was asked."""

    def __init__(self, *lines: str, always: str = "1") -> None:
        self.lines = list(lines)
        self.always = always
        self.asked: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.asked.append(prompt)
        return self.lines.pop(0) if self.lines else self.always


def played(url: str, ask: Callable[[str], str], *, lang: Lang = "en", ink: Ink = PLAIN) -> str:
    """What the terminal showed of a match."""
    out = io.StringIO()
    Game(out, url=url, ink=ink, lang=lang, ask=ask, patience_s=20).run(level=3, control="10+5")
    return out.getvalue()


class TestMatch:
    @pytest.mark.parametrize("lang", LANGS)
    def test_goes_to_its_end_in_every_language(self, url: str, lang: Lang) -> None:
        typist = Typist()

        told = played(url, typist, lang=lang)

        expected = EXPECTED[lang]
        assert expected.hand in told
        assert len(re.findall(expected.first, told, re.MULTILINE)) > 5
        assert re.search(expected.end, told, re.MULTILINE)
        assert re.search(r"^[> ] Misty 3  [D ] +\d+:\d\d  ##", told, re.MULTILINE)
        assert all(re.fullmatch(expected.asked, one) for one in typist.asked)

    def test_asks_again_for_what_it_does_not_understand(self, url: str) -> None:
        told = played(url, Typist("x", "0", "99", "", always="resign"))

        assert told.count("That is not one of them.") == 4

    def test_can_be_given_up(self, url: str) -> None:
        told = played(url, Typist("Resign"))

        assert re.search(r"^0 : 0   You lose by resignation\.$", told, re.MULTILINE)

    def test_is_left_where_nothing_more_is_typed(self, url: str) -> None:
        def end(_prompt: str) -> str:
            raise EOFError

        assert re.search(r"You lose by leaving\.$", played(url, end), re.MULTILINE)

    def test_goes_on_where_an_answer_comes_too_late(self, url: str) -> None:
        """What was typed is refused: the seat has not seen the match as it stands."""
        game = Game(
            out := io.StringIO(),
            url=url,
            ink=PLAIN,
            lang="en",
            ask=Typist("1", always="resign"),
            patience_s=20,
        )
        chair, act = game._chair, game._chair.act

        def late(action: object) -> None:
            chair.sight = {**chair.sight, "seq": chair.sight["seq"] - 1}
            act(action)

        chair.act = late  # type: ignore[method-assign]
        game.run(level=1, control="1+1")

        assert "Too late: the match has gone on." in out.getvalue()
        assert "You lose by resignation." in out.getvalue()

    def test_is_drawn_over_the_last_one_in_a_terminal(self, url: str) -> None:
        ink = Ink(colour=True, wide=True, script="zh-Hans")

        told = played(url, Typist(always="resign"), lang="zh-Hans", ink=ink)

        assert "\x1b[H\x1b[2J" in told
        assert "弃牌" in told
        assert "俥" not in told


class TestCommand:
    def test_says_where_it_looked_for_a_server(self) -> None:
        with pytest.raises(CommandError, match=r"No server at http://127\.0\.0\.1:1 "):
            call_command("play", "--server", "http://127.0.0.1:1", "--patience", "0.1")

    @pytest.mark.parametrize("wrong", [("--level", "9"), ("--lang", "fr")])
    def test_refuses_what_there_is_not(self, wrong: tuple[str, str]) -> None:
        with pytest.raises(CommandError, match="invalid choice"):
            call_command("play", *wrong)

    def test_says_what_the_server_refuses(self, url: str) -> None:
        with pytest.raises(CommandError, match="unknown_control"):
            call_command("play", "--server", url, "--control", "9+9")

    def test_plays_in_this_terminal(
        self, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("builtins.input", Typist(always="resign"))

        call_command("play", "--server", url, "--lang", "zh-Hans", "--level", "8")

        told = capsys.readouterr().out
        assert "Misty 8" in told
        assert "你输了（认输）。" in told
