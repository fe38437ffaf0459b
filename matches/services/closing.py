"""Closing an account: what named somebody goes, what was played stays."""

from __future__ import annotations

import secrets

from django.db import transaction
from django.db.models import Q

from matches.models import Challenge, Pairing, Player, Profile, RetiredName, Seek
from matches.services import accounts, people
from matches.services.accounts import Identity


def close(*, who: Identity, password: str) -> None:
    """Close the account for ever; for a transaction.

    The log names players by their ids, so it stays as it is, and so do ratings.
    Live matches go on by the ordinary rules, without this player. Raises
    `ServiceError` account_needed, wrong_password.
    """
    player = Player.objects.select_for_update().get(public_id=who.id)
    accounts.check_password_of(player, password)
    if player.lookalike is not None:
        RetiredName.objects.get_or_create(lookalike=player.lookalike)
    player.username = f"closed-{secrets.token_hex(10)}"
    player.email, player.email_verified = "", False
    player.is_active = player.is_staff = player.is_superuser = False
    player.set_unusable_password()
    player.save(
        update_fields=[
            *(
                "username",
                "email",
                "email_verified",
                "is_active",
                "is_staff",
                "is_superuser",
                "password",
            ),
        ]
    )
    Profile.objects.filter(player=player).delete()
    Seek.objects.filter(Seek.OPEN, player=who.id).delete()
    asked = Q(player=who.id) | Q(opponent=who.id)
    Challenge.objects.filter(asked, Challenge.OPEN).delete()
    Pairing.objects.filter(player=who.id, match_id=None).delete()
    accounts.revoke_all(player)
    transaction.on_commit(lambda: people.forget(who.id))
