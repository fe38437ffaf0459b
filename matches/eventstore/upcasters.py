"""How an old payload becomes one of the next version, at read; rows never change.

An upcaster is pure and takes and gives plain data. It stands for ever, since
the rows it reads do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

Payload = dict[str, Any]
Upcaster = Callable[[Payload], Payload]

UPCASTERS: Mapping[tuple[str, int], Upcaster] = MappingProxyType({})
"""By kind and version v, what makes version v + 1 of it. Every kind is still in its first."""
