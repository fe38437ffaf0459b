"""The match in six verbs: create, begin, decide, settle, evolve (and fold), due_at."""

from matches.domain.decide import Unsettled, create, decide
from matches.domain.evolve import begin, evolve, fold
from matches.domain.settle import due_at, settle

__all__ = ["Unsettled", "begin", "create", "decide", "due_at", "evolve", "fold", "settle"]
