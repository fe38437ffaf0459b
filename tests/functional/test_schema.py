"""The OpenAPI document: it is whole, the server keeps to it, and a fuzzer of it breaks nothing."""

from __future__ import annotations

import hashlib
import json
import secrets
from functools import cache
from typing import Any

import jsonschema
import pytest
import schemathesis
from drf_spectacular.validation import validate_schema
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from matches.api import shapes
from matches.api.catalogue import _document
from matches.games.registry import rules_for, rulesets
from tests.functional.test_authz import TABLE, routes
from tests.support import ahead, api, wsgi
from tests.support.ahead import AheadStore
from tests.support.api import Answer, Api, InProcess, Player

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
EXAMPLES = 8
"""So many generated requests for each operation."""


@cache
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_document())
    return found


@cache
def validator(name: str) -> Any:
    """What holds values against a component of the document."""
    registry: Registry[Any] = Registry().with_resource(
        "urn:api", Resource.from_contents(document(), default_specification=DRAFT202012)
    )
    return jsonschema.Draft202012Validator(
        {"$ref": f"urn:api#/components/schemas/{name}"}, registry=registry
    )


def check(name: str, value: Any) -> None:
    """Hold a value against a component of the document."""
    validator(name).validate(value)


class TestDocument:
    def test_is_openapi(self) -> None:
        validate_schema(document())  # type: ignore[no-untyped-call]

    def test_names_no_token_that_it_does_not_define(self) -> None:
        defined = document()["components"]["securitySchemes"]
        assert defined == {"token": {"type": "http", "scheme": "bearer"}}

        asked = [
            set(scheme)
            for methods in document()["paths"].values()
            for operation in methods.values()
            for scheme in operation.get("security", [])
        ]
        assert {"token"} in asked
        assert all(names <= set(defined) for names in asked)

    def test_names_every_address_and_method(self) -> None:
        hidden = {"schema", "docs", "docs-script"}
        expected = {
            (routes()[name].replace("<id:", "{").replace("<str:", "{").replace(">", "}"), method)
            for name, method in TABLE
            if name not in hidden
        }
        found = {
            (path, method.upper())
            for path, operations in document()["paths"].items()
            for method in operations
        }

        assert found == expected

    def test_gives_every_operation_a_name_of_its_own(self) -> None:
        names = [
            operation["operationId"]
            for operations in document()["paths"].values()
            for operation in operations.values()
        ]

        assert len(names) == len(set(names))

    def test_asks_for_a_key_on_every_write_and_on_nothing_else(self) -> None:
        for path, operations in document()["paths"].items():
            for method, operation in operations.items():
                headers = {
                    one["name"] for one in operation.get("parameters", []) if one["in"] == "header"
                }
                wants = method in ("post", "patch", "delete") and path != "/api/v1/verifications"
                assert ("Idempotency-Key" in headers) == wants, path

    def test_closes_every_body(self) -> None:
        """Nothing that is not named may be sent: no field can be set by guessing its name."""
        schemas = document()["components"]["schemas"]
        for operations in document()["paths"].values():
            for operation in operations.values():
                if "requestBody" in operation and operation["operationId"] != "verify":
                    ref = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
                    assert schemas[ref.rpartition("/")[2]]["additionalProperties"] is False, ref

    def test_has_no_ids_that_count(self) -> None:
        for name, schema in document()["components"]["schemas"].items():
            for field, form in schema.get("properties", {}).items():
                if field == "id" or field.endswith("_id"):
                    assert "integer" not in json.dumps(form), f"{name}.{field}"

    def test_has_every_kind_of_event_of_every_game(self) -> None:
        kinds = {
            event.KIND for one in rulesets() for event in rules_for(one.key, one.version).events
        }

        assert kinds <= set(shapes.SEEN)

    def test_leads_nowhere_that_is_not_there(self) -> None:
        schemas = document()["components"]["schemas"]
        found = json.dumps(document()).split('"#/components/schemas/')[1:]

        assert {ref.partition('"')[0] for ref in found} <= set(schemas)


@pytest.mark.django_db
class TestAnswers:
    def test_of_a_whole_match_are_as_documented(self, clock: AheadStore) -> None:
        ada, bob = api.registered(InProcess()), api.registered(InProcess())
        match_id = api.begun(ada, bob)
        stranger = api.registered(InProcess())
        for _ in range(60):
            self.check_views(match_id, ada, bob, stranger)
            clock.ahead_ms += 1_500
            self.move(match_id, ada, bob)
        ahead.play(match_id, (ada, bob), clock)

        for player in (ada, bob, stranger):
            check("EventsAnswer", player.get(f"matches/{match_id}/events").json)
        check("MatchAnswer", ada.get(f"matches/{match_id}").json)
        check("MatchesAnswer", ada.get("matches").json)
        check("ReplayAnswer", ada.get(f"matches/{match_id}/replay").json)
        export = ada.get(f"matches/{match_id}/export")
        check("ExportAnswer", export.json)
        report = ada.request("POST", "verifications", body=export.raw)
        check("VerificationAnswer", report.json)

    def check_views(self, match_id: str, *players: Player) -> None:
        for player in players:
            check("MatchAnswer", player.get(f"matches/{match_id}").json)

    def move(self, match_id: str, *players: Player) -> None:
        for player in players:
            view = player.view(match_id)
            if view["legal"]:
                answer = player.act(match_id, view["legal"][0])
                check("CommandAnswer", answer.json)
                check("ActBody", {"action": view["legal"][0]})

    @pytest.mark.parametrize(
        ("path", "name"),
        [
            ("", "RootAnswer"),
            ("health", "HealthAnswer"),
            ("readiness", "ReadinessAnswer"),
            ("errors", "ErrorsAnswer"),
            ("rulesets", "RulesetsAnswer"),
            ("controls", "ControlsAnswer"),
            ("nothing", "ProblemBody"),
            ("me", "ProblemBody"),
        ],
    )
    def test_for_everybody_are_as_documented(self, path: str, name: str) -> None:
        check(name, Api(InProcess()).get(path).json)

    def test_show_the_document_and_its_page(self) -> None:
        anybody = Api(InProcess())
        page, script = anybody.get("docs"), anybody.get("docs.js")
        schema: Answer = anybody.get("schema")

        assert schema.headers["content-type"] == "application/vnd.oai.openapi+json"
        assert schema.json["openapi"].startswith("3.1")
        assert page.headers["content-type"].startswith("text/html")
        assert b"<script>" not in page.raw
        assert b"http" not in page.raw.replace(b"xqmj", b"")
        assert "script-src 'self';" in page.headers["content-security-policy"]
        assert script.headers["content-type"].startswith("text/javascript")


@pytest.fixture(scope="session")
def openapi(servers: object, django_db_blocker: Any) -> Any:  # noqa: ARG001
    with django_db_blocker.unblock():
        return schemathesis.openapi.from_wsgi("/api/v1/schema", wsgi.application())


@pytest.fixture(scope="module")
def seat(servers: object, django_db_blocker: Any) -> Any:  # noqa: ARG001
    """Somebody at a table, whose match the fuzzer may move, resign and leave."""
    with django_db_blocker.unblock():
        ada, bob = api.registered(InProcess()), api.registered(InProcess())
        ended = api.begun(ada, bob)
        assert bob.post(f"matches/{ended}/resign").status == 200
        yield ada, (api.begun(ada, bob), api.created(ada), ended)


OPERATIONS = [
    (path, method) for path, operations in document()["paths"].items() for method in operations
]


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_generated_requests_are_answered_as_documented(
    openapi: Any, path: str, method: str, seat: tuple[Player, tuple[str, ...]]
) -> None:
    operation = openapi[path][method]
    for mode in GenerationMode:

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def fuzz(case: schemathesis.Case[Any]) -> None:
            ask(case, seat)

        try:
            fuzz()
        except Unsatisfiable:
            assert mode is GenerationMode.NEGATIVE, "nothing can be asked here"


def ask(case: schemathesis.Case[Any], seat: tuple[Player, tuple[str, ...]]) -> None:
    """Send one generated request, mostly about a match that is there, and hold its answer."""
    ada, matches = seat
    headers = {}
    if case.operation.path != "/api/v1/auth/logout":
        headers["Authorization"] = f"Bearer {ada.token}"
    assert case.meta is not None
    if case.meta.generation.mode is GenerationMode.POSITIVE:
        headers["Idempotency-Key"] = secrets.token_hex(8)
        number = int.from_bytes(hashlib.sha256(repr(case.body).encode()).digest()[:2], "big")
        if "match_id" in case.path_parameters and number % 4:
            case.path_parameters["match_id"] = matches[number % 3]

    answer = case.call(headers=headers)

    checks = list(CHECKS)
    if case.operation.path == "/api/v1/verifications":
        # Whatever is wrong with a record is a finding, and so an answer.
        checks.remove(negative_data_rejection)
    case.validate_response(answer, checks=checks)
