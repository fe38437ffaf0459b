"""A report in words, as a terminal shows it."""

from __future__ import annotations

from matches.audit.report import CHECKS, Report

_MARKS = {"proven": "ok", "wrong": "WRONG", "open": "open"}


def lines(report: Report) -> list[str]:
    """The protocol of a verification: each check with its count, each fault, the verdict."""
    told = [f"match {report.match_id or 'unknown'}"]
    told += [
        f"  {_MARKS[check.state]:<5} {check.name:<10} {check.count:>5}  {CHECKS[check.name]}"
        for check in report.checks
    ]
    for fault in report.faults:
        where = "record" if fault.seq is None else f"event {fault.seq}"
        rule = "" if fault.rule is None else f" ({fault.rule})"
        told.append(f"  {where}: {fault.code}: {fault.message}{rule}")
    told.append(f"{'proven' if report.ok else 'NOT PROVEN'}: {report.message}")
    return told
