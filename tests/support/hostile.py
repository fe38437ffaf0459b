"""Bodies of the full size that are made to be slow to refuse, with the codes they get."""

from __future__ import annotations

HOSTILE: tuple[tuple[bytes, str], ...] = (
    (b"[" * 65_000, "json_too_deep"),
    (b'{"":' * 16_000, "json_too_deep"),
    (b'["' + b'\\"' * 32_000, "malformed_json"),
    (b'[[[[[[[[[[[[[[[["' + b'\\"[' * 20_000, "malformed_json"),
    (b'"' * 65_000, "malformed_json"),
    (b"\\" * 65_000, "malformed_json"),
    (b"[" + b"9" * 65_000 + b"]", "bad_number"),
    (b"[" + b"0," * 32_000 + b"0", "malformed_json"),
    (b'{"a":' + b"[0]," * 15_000, "malformed_json"),
    (b'["' + b"\\u0000" * 10_000 + b'"]', "bad_text"),
    (b"-" * 65_000, "malformed_json"),
    (b"[1e" + b"9" * 65_000 + b"]", "bad_number"),
)
