"""Finding rules by name, version and options."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from matches.games.protocol import Rejected
from matches.games.registry import REFUSALS, refusals, rules_for, rulesets
from matches.games.xqmj.refusals import REFUSALS as XQMJ_REFUSALS


class TestRulesFor:
    def test_gives_the_rules_of_a_name(self) -> None:
        rules = rules_for("xqmj-32-2p")

        assert (rules.key, rules.version, rules.seats) == ("xqmj-32-2p", 1, 2)

    def test_fills_in_the_usual_options(self) -> None:
        assert dict(rules_for("xqmj-32-2p").options) == {
            "last_discard_claims": "win_only",
            "absence_claim_ms": 60_000,
        }

    def test_takes_options(self) -> None:
        rules = rules_for(
            "xqmj-32-2p", version=1, options={"last_discard_claims": "all", "absence_claim_ms": 0}
        )

        assert dict(rules.options) == {"last_discard_claims": "all", "absence_claim_ms": 0}

    def test_gives_one_object_for_equal_questions(self) -> None:
        spelt_out = rules_for("xqmj-32-2p", 1, {"last_discard_claims": "win_only"})

        assert rules_for("xqmj-32-2p") is spelt_out
        assert rules_for("xqmj-32-2p", 1, {"last_discard_claims": "all"}) is not spelt_out

    @pytest.mark.parametrize(
        ("key", "version", "options", "code", "detail"),
        [
            ("xqmj-99", 1, None, "unknown_ruleset", {"ruleset": "xqmj-99", "version": 1}),
            ("xqmj-32-2p", 2, None, "unknown_ruleset", {"ruleset": "xqmj-32-2p", "version": 2}),
            ("xqmj-32-2p", 1, {"jokers": 4}, "unknown_option", {"option": "jokers"}),
            (
                "xqmj-32-2p",
                1,
                {"last_discard_claims": "none"},
                "bad_option",
                {"option": "last_discard_claims"},
            ),
            (
                "xqmj-32-2p",
                1,
                {"last_discard_claims": True},
                "bad_option",
                {"option": "last_discard_claims"},
            ),
            (
                "xqmj-32-2p",
                1,
                {"last_discard_claims": []},
                "bad_option",
                {"option": "last_discard_claims"},
            ),
            (
                "xqmj-32-2p",
                1,
                {"absence_claim_ms": 59_999},
                "bad_option",
                {"option": "absence_claim_ms"},
            ),
        ],
    )
    def test_refuses_what_it_does_not_know(
        self, key: str, version: int, options: Any, code: str, detail: dict[str, Any]
    ) -> None:
        with pytest.raises(Rejected) as refused:
            rules_for(key, version, options)

        assert (refused.value.code, dict(refused.value.detail)) == (code, detail)


class TestRulesets:
    def test_say_all_that_a_client_needs_to_offer_a_match(self) -> None:
        (ruleset,) = [one for one in rulesets() if one.key == "xqmj-32-2p"]

        assert msgspec.to_builtins(ruleset) == {
            "key": "xqmj-32-2p",
            "version": 1,
            "names": {
                "en": "Xiangqi mahjong for two",
                "zh-Hans": "双人象棋麻将",
                "zh-Hant": "雙人象棋麻將",
            },
            "seats": 2,
            "controls": ("1+1", "3+2", "5+5", "10+5"),
            "rated_controls": ("1+1", "3+2", "5+5"),
            "options": (
                {
                    "key": "last_discard_claims",
                    "values": ("win_only", "all"),
                    "default": "win_only",
                    "names": {
                        "en": "Claims on the last discard",
                        "zh-Hans": "最后一张弃牌可吃碰",
                        "zh-Hant": "最後一張棄牌可吃碰",
                    },
                },
                {
                    "key": "absence_claim_ms",
                    "values": (0, 30_000, 60_000, 120_000),
                    "default": 60_000,
                    "names": {
                        "en": "Absence until the win may be claimed",
                        "zh-Hans": "对手离线判胜时限",
                        "zh-Hant": "對手離線判勝時限",
                    },
                },
            ),
        }

    def test_have_a_default_that_is_allowed(self) -> None:
        for ruleset in rulesets():
            for option in ruleset.options:
                assert option.allows(option.default)


class TestRefusals:
    def test_are_one_table_without_a_code_of_two_meanings(self) -> None:
        assert not set(REFUSALS) & set(XQMJ_REFUSALS)
        assert dict(refusals()) == {**REFUSALS, **XQMJ_REFUSALS}

    def test_are_explained_in_one_sentence_each(self) -> None:
        for code, meaning in refusals().items():
            assert code == code.lower()
            assert meaning.endswith(".")
            assert "\n" not in meaning
