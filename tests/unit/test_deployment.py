"""The image and the composition, read as text: no container engine runs here."""

from __future__ import annotations

import json
import re
import shlex
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest
import yaml
from django.urls import reverse

from matches.api.records import EXPORT_BYTES
from matches.services.parsing import BODY_BYTES
from xqmj_site import roles
from xqmj_site.devstack.postgres import DISCREET, DURABLE

ROOT = Path(__file__).resolve().parent.parent.parent

INSTRUCTIONS = {
    *("ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL"),
    *("RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"),
}


class Instruction(NamedTuple):
    """One instruction of a Dockerfile, its continued lines joined."""

    name: str
    text: str


def dockerfile() -> list[Instruction]:
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = [line for line in re.sub(r"\\\n\s*", "", text).splitlines() if line.strip()]
    found = [Instruction(*line.split(None, 1)) for line in lines]
    unknown = {one.name for one in found} - INSTRUCTIONS
    assert unknown == set()
    return found


def texts(name: str) -> list[str]:
    return [one.text for one in dockerfile() if one.name == name]


def compose() -> dict[str, Any]:
    loaded = yaml.safe_load((ROOT / "compose.yaml").read_text())
    assert isinstance(loaded, dict)
    return loaded


def services() -> dict[str, Any]:
    found = compose()["services"]
    assert isinstance(found, dict)
    return found


class TestDockerfile:
    def test_copies_only_files_that_exist(self) -> None:
        sources = [
            source
            for text in texts("COPY")
            if "--from=" not in text
            for source in shlex.split(text)[:-1]
        ]

        assert sources
        assert [source for source in sources if not (ROOT / source).exists()] == []

    def test_copies_only_files_that_reach_the_builder(self) -> None:
        rules = [
            line.strip()
            for line in (ROOT / ".dockerignore").read_text().splitlines()
            if line.strip() and not line.startswith("#")
        ]
        kept = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
        sources = {
            source.removeprefix("./")
            for text in texts("COPY")
            if "--from=" not in text
            for source in shlex.split(text)[:-1]
        }

        assert rules[0] == "*"
        assert sources <= kept
        assert not any(
            fnmatch(secret, rule) for secret in (".data", ".env", ".git") for rule in kept
        )

    def test_copies_from_stages_that_exist(self) -> None:
        stages = {
            match.group(1) for text in texts("FROM") if (match := re.search(r" AS (\S+)$", text))
        }
        named = {
            match.group(1) for text in texts("COPY") if (match := re.search(r"--from=(\S+)", text))
        }

        assert named == stages

    def test_pins_its_base_and_installs_by_hash_without_building(self) -> None:
        assert all(
            re.match(r"python:3\.1[123]-slim-\w+( AS \w+)?$", text) for text in texts("FROM")
        )
        installs = [text for text in texts("RUN") if "pip install" in text]
        assert len(installs) == 1
        assert "--require-hashes" in installs[0]
        assert "--only-binary :all:" in installs[0]

    def test_runs_as_nobody_special(self) -> None:
        *_, last = texts("USER")

        assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", last)

    def test_keeps_no_secret(self) -> None:
        kept = " ".join(texts("ENV") + texts("ARG"))

        assert not re.search(r"SECRET|PASSWORD|SEAL|TOKEN", kept)

    def test_starts_a_role_and_asks_how_it_is(self) -> None:
        assert json.loads(texts("ENTRYPOINT")[0]) == ["python", "-m", "xqmj_site.roles"]
        assert json.loads(texts("CMD")[0]) == ["web"]
        probe = json.loads(texts("HEALTHCHECK")[0].partition("CMD ")[2])
        assert probe == ["python", "-m", "xqmj_site.probe"]
        assert (ROOT / "xqmj_site" / "roles.py").exists()
        assert (ROOT / "xqmj_site" / "probe.py").exists()


class TestCompose:
    def test_mounts_only_files_that_exist(self) -> None:
        named = compose()["volumes"]
        mounts = [mount for one in services().values() for mount in one.get("volumes", [])]
        files = [mount.split(":")[0] for mount in mounts if mount.startswith(".")]
        volumes = [mount.split(":")[0] for mount in mounts if not mount.startswith(".")]

        assert files
        assert [file for file in files if not (ROOT / file).is_file()] == []
        assert set(volumes) == set(named)

    def test_mounts_files_read_only(self) -> None:
        mounts = [mount for one in services().values() for mount in one.get("volumes", [])]

        assert all(mount.endswith(":ro") for mount in mounts if mount.startswith("."))

    def test_runs_every_role_once(self) -> None:
        ours = [one["command"][0] for one in services().values() if one["image"] == "xqmj"]

        assert sorted(ours) == sorted(roles.ROLES)

    def test_opens_ports_on_this_machine_alone(self) -> None:
        ports = [port for one in services().values() for port in one.get("ports", [])]

        assert ports
        assert all(port.startswith("127.0.0.1:") for port in ports)

    def test_opens_the_door_alone_and_no_port_of_metrics(self) -> None:
        caddyfile = (ROOT / "xqmj_site" / "proxy" / "Caddyfile").read_text()
        metrics_port = services()["web"]["environment"]["XQMJ_METRICS_PORT"]

        assert [name for name, one in services().items() if one.get("ports")] == ["proxy"]
        assert metrics_port not in caddyfile

    @pytest.mark.parametrize("name", ["postgres", "valkey", "rabbitmq", "live", "proxy"])
    def test_asks_how_a_service_is(self, name: str) -> None:
        assert services()[name]["healthcheck"]["test"]

    def test_leaves_the_web_role_to_the_image_s_own_question(self) -> None:
        assert "healthcheck" not in services()["web"]

    def test_waits_only_for_services_that_exist(self) -> None:
        for one in services().values():
            assert set(one.get("depends_on", {})) <= set(services())

    def test_gives_our_roles_no_right_they_do_not_need(self) -> None:
        for one in services().values():
            if one["image"] == "xqmj":
                assert one["read_only"] is True
                assert one["cap_drop"] == ["ALL"]
                assert one["security_opt"] == ["no-new-privileges:true"]

    def test_gives_the_owner_s_address_to_the_migration_alone(self) -> None:
        holders = [
            name
            for name, one in services().items()
            if "DATABASE_OWNER_URL" in one.get("environment", {})
        ]

        assert holders == ["migrate"]

    def test_runs_postgresql_as_the_development_servers_do(self) -> None:
        command = services()["postgres"]["command"]

        assert command[0] == "postgres"
        stated = dict(text.removeprefix("-c").split("=") for text in command[1:])
        assert stated == {**DURABLE, **DISCREET}

    def test_has_no_default_for_a_secret(self) -> None:
        text = (ROOT / "compose.yaml").read_text()
        secrets = re.findall(r"\$\{(\w*(?:SECRET|PASSWORD|SEAL)\w*)(:-[^}]*)?", text)

        assert secrets
        assert {name for name, default in secrets if default not in {"", ":-"}} == set()

    def test_sets_only_variables_that_settings_read(self) -> None:
        read = " ".join(
            path.read_text()
            for folder in ("xqmj_site", "matches", "ratings")
            for path in (ROOT / folder).rglob("*.py")
        )

        for one in services().values():
            if one["image"] == "xqmj":
                assert [name for name in one["environment"] if f'"{name}"' not in read] == []


class TestProxy:
    def test_leads_to_the_ports_of_the_image(self) -> None:
        text = (ROOT / "xqmj_site" / "proxy" / "Caddyfile").read_text()
        environment = " ".join(texts("ENV"))

        for host, port in re.findall(r"reverse_proxy (\w+):(\d+)", text):
            assert host in services()
            assert port in environment

    HANDLE = re.compile(r"^\thandle (\S* ?)\{\n((?:\t\t.*\n)+)\t\}$", re.MULTILINE)
    SIZE = re.compile(r"^\t+max_size (\d+)(\w+)$", re.MULTILINE)
    UNITS: ClassVar[dict[str, int]] = {"KB": 1000, "KiB": 1024, "MB": 1000**2, "MiB": 1024**2}
    """As Caddy reads them."""

    def test_takes_every_body_that_the_api_takes_and_no_larger_one(self) -> None:
        text = (ROOT / "xqmj_site" / "proxy" / "Caddyfile").read_text()
        limits = [
            (path.strip(), int(number) * self.UNITS[unit])
            for path, block in self.HANDLE.findall(text)
            for number, unit in self.SIZE.findall(block)
        ]

        assert limits == [
            ("/live/*", BODY_BYTES),
            (reverse("verifications"), EXPORT_BYTES),
            ("", BODY_BYTES),
        ]
        assert text.count("max_size") == len(limits)


class TestOperations:
    """docs/operations.md has a row for every variable that somebody may set."""

    READ = re.compile(
        r'(?:\b(?:text|number|flag|words|pairs)|environ(?:ment)?\.get)\(\s*"([A-Z][A-Z0-9_]+)"'
        r'|environ(?:ment)?\["([A-Z][A-Z0-9_]+)"\]'
    )
    NOT_SETTINGS = frozenset(
        (
            *("NO_COLOR", "TERM", "GAME", "PATH", "PATH_INFO"),
            *("PROMETHEUS_MULTIPROC_DIR", "XQMJ_ROLE", "XQMJ_URL"),
        )
    )
    """The terminal's own, what our processes tell each other, and a request's path in WSGI."""

    def read(self) -> set[str]:
        found = {
            name
            for folder in ("xqmj_site", "matches", "ratings")
            for path in (ROOT / folder).rglob("*.py")
            for pair in self.READ.findall(path.read_text())
            for name in pair
            if name
        }
        compose_text = (ROOT / "compose.yaml").read_text()
        found |= set(re.findall(r"\$\{(\w+)", compose_text))
        return found - self.NOT_SETTINGS

    def listed(self) -> set[str]:
        text = (ROOT / "docs" / "operations.md").read_text()
        section = text.partition("## Settings")[2].partition("\n## ")[0]
        first = [line.split("|")[1] for line in section.splitlines() if line.startswith("|")]
        return set(re.findall(r"`([A-Z][A-Z0-9_]+)`", " ".join(first)))

    def test_lists_every_setting_and_no_other(self) -> None:
        assert len(self.read()) > 30
        assert self.listed() == self.read()
