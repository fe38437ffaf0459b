from __future__ import annotations

from typing import Any

import msgspec
import pytest
from django.test import RequestFactory

from matches.api import requests
from matches.services.problems import Problem

make = RequestFactory()


def refused(call: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(Problem) as caught:
        call(*args, **kwargs)
    return caught.value.code


class TestCheckAccept:
    @pytest.mark.parametrize(
        "accept",
        [
            "*/*",
            "application/json",
            "application/*",
            "text/html, */*;q=0.1",
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "APPLICATION/JSON",
            "application/json; charset=utf-8",
            "application/json;q=0.001",
        ],
    )
    def test_lets_pass(self, accept: str) -> None:
        requests.check_accept(make.get("/", headers={"accept": accept}))

    @pytest.mark.parametrize(
        "accept",
        ["text/html", "application/xml", "application/json;q=0", "application/json ; q = 0.0"],
    )
    def test_refuses(self, accept: str) -> None:
        request = make.get("/", headers={"accept": accept})

        assert refused(requests.check_accept, request) == "not_acceptable"


class TestReadBody:
    def test_reads_what_is_there(self) -> None:
        request = make.post("/", b'{"a": 1}', content_type="application/json")

        assert requests.read_body(request) == b'{"a": 1}'

    def test_lets_an_empty_body_have_any_type(self) -> None:
        assert requests.read_body(make.post("/", b"", content_type="text/plain")) == b""

    @pytest.mark.parametrize(
        "stated", ["application/json; charset=UTF-8", 'Application/JSON;charset="utf-8"']
    )
    def test_knows_utf_8_by_its_spellings(self, stated: str) -> None:
        assert requests.read_body(make.post("/", b"{}", content_type=stated)) == b"{}"

    def test_reads_up_to_the_limit(self) -> None:
        request = make.post("/", b"x" * 65_536, content_type="application/json")

        assert len(requests.read_body(request)) == 65_536

    def test_refuses_one_byte_more(self) -> None:
        request = make.post("/", b"x" * 65_537, content_type="application/json")

        assert refused(requests.read_body, request) == "body_too_large"


class Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    after: int = 0


class TestReadQuery:
    def test_reads_numbers(self) -> None:
        assert requests.read_query(make.get("/?after=12"), Query) == Query(12)

    @pytest.mark.parametrize("query", ["after=x", "after=", "after=1.5", "after=1&after=1"])
    def test_refuses_values(self, query: str) -> None:
        assert refused(requests.read_query, make.get(f"/?{query}"), Query) == "invalid_parameter"

    def test_refuses_names(self) -> None:
        assert refused(requests.read_query, make.get("/?before=1"), Query) == "unknown_parameter"


class TestIdempotencyKey:
    @pytest.mark.parametrize(
        "key", ["k", "!", "~", "a" * 64, "0190b3f2-7a3c-7def-8abc-1234567890ab"]
    )
    def test_takes_visible_ascii(self, key: str) -> None:
        assert requests.idempotency_key(make.post("/", headers={"idempotency-key": key})) == key

    @pytest.mark.parametrize("key", [" ", "a b", "a" * 65, "a\n", "é", "\x7f"])
    def test_refuses_the_rest(self, key: str) -> None:
        request = make.post("/", headers={"idempotency-key": key})

        assert refused(requests.idempotency_key, request) == "idempotency_key_invalid"

    def test_of_a_stranger_has_sixteen_characters(self) -> None:
        long, short = (make.post("/", headers={"idempotency-key": "k" * n}) for n in (16, 15))

        assert requests.strangers_key(long) == "k" * 16
        assert refused(requests.strangers_key, short) == "idempotency_key_invalid"


class TestAddressOf:
    def address(
        self, settings: Any, forwarded: str, *, proxies: int, peer: str = "10.0.0.9"
    ) -> str:
        settings.XQMJ_NUM_PROXIES = proxies
        headers = {"x-forwarded-for": forwarded} if forwarded else {}
        return requests.address_of(make.get("/", headers=headers, REMOTE_ADDR=peer))

    def test_believes_nobody_without_proxies(self, settings: Any) -> None:
        assert self.address(settings, "1.2.3.4", proxies=0) == "10.0.0.9"

    def test_takes_what_the_last_proxy_saw(self, settings: Any) -> None:
        assert self.address(settings, "6.6.6.6, 1.2.3.4", proxies=1) == "1.2.3.4"

    def test_takes_what_the_first_of_two_proxies_saw(self, settings: Any) -> None:
        found = self.address(settings, "6.6.6.6, 1.2.3.4, 10.0.0.1", proxies=2)

        assert found == "1.2.3.4"

    def test_survives_fewer_entries_than_proxies(self, settings: Any) -> None:
        assert self.address(settings, "1.2.3.4", proxies=3) == "1.2.3.4"

    def test_counts_an_ipv6_network_as_one(self, settings: Any) -> None:
        one = self.address(settings, "", proxies=0, peer="2001:db8:1:2:3:4:5:6")
        other = self.address(settings, "", proxies=0, peer="2001:db8:1:2:ffff::1")

        assert one == other == "2001:db8:1:2::/64"

    @pytest.mark.parametrize("proxies", [0, 1])
    @pytest.mark.parametrize("mapped", ["::ffff:192.0.2.1", "::FFFF:c000:201"])
    def test_knows_an_ipv4_client_of_a_socket_for_both_protocols(
        self, settings: Any, mapped: str, proxies: int
    ) -> None:
        found = self.address(settings, mapped if proxies else "", proxies=proxies, peer=mapped)

        assert found == "192.0.2.1"

    @pytest.mark.parametrize("junk", ["unknown", "1.2.3.4:80", "' OR 1=1", "", "999.1.1.1"])
    def test_lumps_together_what_is_no_address(self, settings: Any, junk: str) -> None:
        assert self.address(settings, junk or " ", proxies=1) == "unknown"
