from __future__ import annotations

import hashlib

import msgspec
import pytest

from matches.api.bodies import CreateBody, LoginBody, RegisterBody
from matches.games.registry import rules_for
from matches.services import keys
from matches.services.bodies import Body, NoBody, ReadyBody, act_body

ACT = act_body(rules_for("xqmj-32-2p").action)


class TestFingerprint:
    @pytest.mark.parametrize(
        ("kind", "sent", "written"),
        [
            (NoBody, b"", b"{}"),
            (ReadyBody, b"{}", b"{}"),
            (ReadyBody, b'{"nonce":"00ff"}', b'{"nonce":"00ff"}'),
            (
                ACT,
                b'{"action":{"type":"discard","tile":"rP","drawn":true}}',
                b'{"action":{"drawn":true,"tile":"rP","type":"discard"}}',
            ),
            (
                ACT,
                b'{"expected_seq":7,"action":{"type":"pass"}}',
                b'{"action":{"type":"pass"},"expected_seq":7}',
            ),
            (
                CreateBody,
                b'{"control":"3+2","ruleset":"xqmj-32-2p","rated":false,"rules_version":1}',
                b'{"control":"3+2","ruleset":"xqmj-32-2p"}',
            ),
            (
                LoginBody,
                b'{"username":"ana","password":"x"}',
                b'{"password":"x","username":"ana"}',
            ),
            (
                RegisterBody,
                b'{"password":"x","username":"ana"}',
                b'{"password":"x","username":"ana"}',
            ),
        ],
    )
    def test_is_of_what_a_body_says(self, kind: type[Body], sent: bytes, written: bytes) -> None:
        """The log holds their hash for ever: a later field at its default changes nothing."""
        body = msgspec.json.decode(sent or b"{}", type=kind)

        assert keys.written(body) == written

    def test_is_half_of_a_hash(self) -> None:
        digest = hashlib.sha256(b'POST /a\n{"nonce":"00ff"}').digest()

        expected = int.from_bytes(digest[:8], "big", signed=True)
        assert keys.fingerprint("/a", b'{"nonce":"00ff"}') == expected
