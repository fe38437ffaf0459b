"""What an honest client of two-player xiangqi mahjong knows: a fold of the lines it was sent.

It is written on plain JSON values and shares nothing with the server, so that
it shows that the lines alone are enough, and that the view tells nothing more.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

ORDER = ["rK", "rA", "rE", "rR", "rH", "rC", "rP", "bK", "bA", "bE", "bR", "bH", "bC", "bP"]

Json = dict[str, Any]


class Client:
    """One viewer's hand. `view` is what the server's view must equal after each line."""

    def __init__(self, dealt: Json) -> None:
        self.view: Json = deepcopy(dealt)

    def apply(self, kind: str, data: Json) -> None:
        """Learn one line."""
        getattr(self, "_" + kind.removeprefix("xqmj."))(data)

    def _tile_drawn(self, data: Json) -> None:
        side = self._side(data["seat"])
        side["held"] += 1
        if "tile" in data:
            side["drawn"] = data["tile"]
        self.view["wall_left"] -= 1
        if "wall" in self.view:
            self.view["wall"].pop(0)
        self._stage("after_draw", data["seat"])

    def _tile_discarded(self, data: Json) -> None:
        side = self._side(data["seat"])
        side["held"] -= 1
        if "concealed" in side:
            side["concealed"] = self._kept(side, data)
            side.pop("drawn", None)
        side.setdefault("discards", []).append({"tile": data["tile"], "drawn": data["drawn"]})
        self._stage("offer", 1 - data["seat"])
        self.view["offered"] = data["tile"]

    def _chow_made(self, data: Json) -> None:
        side = self._side(data["seat"])
        used = list(data["meld"]["tiles"])
        used.remove(data["tile"])
        side["held"] -= len(used)
        for tile in used:
            if "concealed" in side:
                side["concealed"].remove(tile)
        side["meld"] = data["meld"]
        self._take_from(1 - data["seat"])
        self._stage("after_claim", data["seat"])

    _pung_made = _chow_made

    def _claim_passed(self, data: Json) -> None:
        assert data["seat"] == self.view["turn"]
        self.view["passed"] = True

    def _hand_won(self, data: Json) -> None:
        seat = data["seat"]
        if data["how"] == "discard":
            side = self._side(seat)
            side["held"] += 1
            if "concealed" in side:
                side["concealed"] = _sorted([*side["concealed"], self.view["offered"]])
            self._take_from(1 - seat)
        self._end({**{key: data[key] for key in data if key != "seat"}, "winner": seat})

    def _hand_voided(self, data: Json) -> None:
        assert data == {}
        self._end({"how": "void"})

    def _end(self, result: Json) -> None:
        self._stage("over", None)
        self.view["result"] = result

    def _stage(self, stage: str, turn: int | None) -> None:
        self.view["stage"] = stage
        for key in ("offered", "passed", "turn"):
            self.view.pop(key, None)
        if turn is not None:
            self.view["turn"] = turn

    def _take_from(self, seat: int) -> None:
        side = self._side(seat)
        side["discards"].pop()
        if not side["discards"]:
            del side["discards"]

    def _kept(self, side: Json, data: Json) -> list[str]:
        held = list(side["concealed"])
        if not data["drawn"]:
            held.remove(data["tile"])
            held += [side["drawn"]] if "drawn" in side else []
        return _sorted(held)

    def _side(self, seat: int) -> Json:
        side: Json = self.view["sides"][seat]
        return side


def _sorted(held: list[str]) -> list[str]:
    return sorted(held, key=ORDER.index)
