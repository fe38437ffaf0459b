from __future__ import annotations

import pytest

from ratings import pools
from ratings.pools import Pool, UnknownControl, UnknownPool


class TestPoolOf:
    @pytest.mark.parametrize(
        ("control", "key"),
        [
            ("1+1", "xqmj-32-2p-bullet"),
            ("3+2", "xqmj-32-2p-blitz"),
            ("5+5", "xqmj-32-2p-rapid"),
        ],
    )
    def test_names_ruleset_and_class_of_speed(self, control: str, key: str) -> None:
        assert pools.pool_of(ruleset="xqmj-32-2p", control=control).key == key

    @pytest.mark.parametrize("control", ["10+5", "3+3", "", "blitz"])
    def test_refuses_a_control_that_is_never_rated(self, control: str) -> None:
        with pytest.raises(UnknownControl):
            pools.pool_of(ruleset="xqmj-32-2p", control=control)


class TestParse:
    def test_reads_back_the_key_of_a_pool(self) -> None:
        assert pools.parse("xqmj-32-2p-rapid") == Pool("xqmj-32-2p", "rapid")

    @pytest.mark.parametrize(
        "text", ["", "blitz", "-blitz", "xqmj-32-2p", "xqmj-32-2p-", "xqmj-32-2p-Blitz", "a\0-b"]
    )
    def test_refuses_what_names_no_class_of_speed(self, text: str) -> None:
        with pytest.raises(UnknownPool):
            pools.parse(text)


class TestPoolsOf:
    def test_lists_them_from_the_fastest(self) -> None:
        assert [pool.key for pool in pools.pools_of("go", frozenset({"5+5", "1+1", "10+5"}))] == [
            "go-bullet",
            "go-rapid",
        ]

    def test_lists_none_without_a_rated_control(self) -> None:
        assert pools.pools_of("go", frozenset({"10+5"})) == ()


class TestControlsOf:
    def test_gives_the_controls_of_a_class_of_speed(self) -> None:
        assert pools.controls_of("blitz") == ("3+2",)
