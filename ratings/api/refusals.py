"""Why these addresses refuse: DRF's exceptions, each with the code that the answer carries."""

from __future__ import annotations

from rest_framework.exceptions import APIException, NotFound


class UnknownPlayer(NotFound):
    """There is no such player."""

    default_code = "unknown_player"
    default_detail = "There is no such player."


class UnknownPool(NotFound):
    """There is no such pool."""

    default_code = "unknown_pool"
    default_detail = "There is no such pool."


class UnknownParameter(APIException):
    """The query has a parameter that the address does not know."""

    status_code = 400
    default_code = "unknown_parameter"


class InvalidParameter(APIException):
    """A parameter of the query does not allow its value."""

    status_code = 400
    default_code = "invalid_parameter"
