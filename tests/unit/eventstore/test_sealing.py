"""Sealing: opened by the same key and for the same purpose only."""

from __future__ import annotations

import base64

import pytest
from django.conf import settings

from matches.eventstore import sealing
from matches.eventstore.ids import new_match_id
from matches.eventstore.sealing import SealBroken

SECRET = bytes(range(32))
MATCH_ID = new_match_id()


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "XQMJ_SEAL_KEYS", {"k2": b"2" * 32, "k1": b"1" * 32})


class TestSeal:
    def test_is_opened_for_its_match(self) -> None:
        sealed, key_id = sealing.seal(SECRET, MATCH_ID)

        assert key_id == "k2"
        assert sealing.unseal(sealed, key_id, MATCH_ID) == SECRET

    def test_is_not_opened_for_another_match(self) -> None:
        sealed, key_id = sealing.seal(SECRET, MATCH_ID)

        with pytest.raises(SealBroken):
            sealing.unseal(sealed, key_id, new_match_id())

    def test_shows_nothing_and_never_the_same(self) -> None:
        sealed, _ = sealing.seal(SECRET, MATCH_ID)

        assert SECRET not in base64.b64decode(sealed)
        assert sealing.seal(SECRET, MATCH_ID)[0] != sealed

    def test_is_opened_after_the_key_was_changed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        sealed, key_id = sealing.seal(SECRET, MATCH_ID)
        keys = {"k3": b"3" * 32, **settings.XQMJ_SEAL_KEYS}
        monkeypatch.setattr(settings, "XQMJ_SEAL_KEYS", keys)

        assert sealing.unseal(sealed, key_id, MATCH_ID) == SECRET
        assert sealing.seal(SECRET, MATCH_ID)[1] == "k3"

    @pytest.mark.parametrize("key_id", ["k1", "k9", ""])
    def test_is_not_opened_by_another_key(self, key_id: str) -> None:
        sealed, _ = sealing.seal(SECRET, MATCH_ID)

        with pytest.raises(SealBroken):
            sealing.unseal(sealed, key_id, MATCH_ID)

    @pytest.mark.parametrize("sealed", ["", "AAAA", "not base64!", "A" * 80])
    def test_is_not_anything(self, sealed: str) -> None:
        with pytest.raises(SealBroken):
            sealing.unseal(sealed, "k2", MATCH_ID)

    def test_needs_a_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(settings, "XQMJ_SEAL_KEYS", {})

        with pytest.raises(SealBroken, match="XQMJ_SEAL_KEYS"):
            sealing.seal(SECRET, MATCH_ID)


class TestSealBytes:
    def test_is_opened_for_its_purpose(self) -> None:
        blob = sealing.seal_bytes(b"token", aad=b"answer")

        assert sealing.unseal_bytes(blob, aad=b"answer") == b"token"
        assert b"token" not in blob

    def test_is_not_opened_for_another_purpose(self) -> None:
        blob = sealing.seal_bytes(b"token", aad=b"answer")

        with pytest.raises(SealBroken):
            sealing.unseal_bytes(blob, aad=b"other")

    def test_does_not_pass_for_the_secret_of_a_match(self) -> None:
        blob = sealing.seal_bytes(SECRET, aad=MATCH_ID.bytes)
        cut = base64.b64encode(blob[1 + len("k2") :]).decode()

        with pytest.raises(SealBroken):
            sealing.unseal(cut, "k2", MATCH_ID)

    @pytest.mark.parametrize("blob", [b"", b"\x02", b"\x02k2", b"\xff" * 40])
    def test_is_not_anything(self, blob: bytes) -> None:
        with pytest.raises(SealBroken):
            sealing.unseal_bytes(blob, aad=b"")
