"""Accounts that cannot be made, and log-ins that are none."""

from __future__ import annotations

from tests.functional.bad_requests import Bad, post

GOOD = "correct horse battery"


def name(what: str, username: object, *, status: int = 400, code: str = "bad_username") -> Bad:
    """A registration under a name that is refused."""
    body = {"username": username, "password": GOOD}
    return post(what, status, code, "auth/register", body, who="anon")


def password(what: str, text: object, *, code: str = "bad_password") -> Bad:
    """A registration with a password that is refused."""
    body = {"username": "newcomer4711", "password": text}
    return post(what, 400, code, "auth/register", body, who="anon")


def profile(what: str, code: str, body: object) -> Bad:
    """A change of a profile that is refused."""
    return Bad(what, 400, code, "PATCH", "me/profile", body)


def login(what: str, status: int, code: str, body: object) -> Bad:
    """A log-in that is refused."""
    return post(what, status, code, "auth/login", body, who="anon")


# One case a line, however long: the list is read down its columns.
# fmt: off
CASES: tuple[Bad, ...] = (
    # Names
    name("an empty name", ""),
    name("a name of spaces", "   "),
    name("two characters", "ab"),
    name("25 characters", "a" * 25),
    name("500 characters", "a" * 500),
    name("600 characters", "a" * 600, code="invalid_body"),
    name("a space inside", "ada lovelace"),
    name("a line end", "ada\n"),
    name("a carriage return", "ada\r\nSet-Cookie: x"),
    name("a tab", "ad\ta"),
    name("terminal codes", "\x1b[31mada"),
    name("a dash in front", "-ada"),
    name("an underscore in front", "_ada"),
    name("a slash", "ada/bob"),
    name("dots that climb", "../ada"),
    name("a percent escape", "%61da"),
    name("an at sign", "ada@example.org"),
    name("HTML", "<b>ada</b>"),
    name("a quote", "ada'--"),
    name("a semicolon", "ada;drop"),
    name("a backslash", "ada\\bob"),
    name("an emoji", "ada🀄"),
    name("ten thousand combining marks", "a" + "\u0301" * 400),
    name("a zero-width space", "a\u200bda"),
    name("a zero-width joiner", "a\u200dda"),
    name("a right-to-left override", "a\u202eda"),
    name("a byte order mark", "\ufeffada"),
    name("a soft hyphen", "a\u00adda"),
    name("a number as a name", 12345, code="invalid_body"),
    name("null as a name", None, code="invalid_body"),
    name("a list as a name", ["ada"], code="invalid_body"),
    name("a query as a name", {"$ne": ""}, code="invalid_body"),
    name("true as a name", True, code="invalid_body"),
    name("a name that is taken", "{ada}", status=409, code="username_taken"),
    name("a taken name in capitals", "{ADA}", status=409, code="username_taken"),
    name("a Cyrillic name", "раура"),
    name("a Cyrillic letter in a Latin name", "mіsty"),
    name("the server's own name in other letters", "adm1n", status=409, code="username_reserved"),
    name("the server's own name", "admin", status=409, code="username_reserved"),
    # Passwords
    password("an empty password", ""),
    password("a short password", "short"),
    password("eleven characters", "abcdefghij1"),
    password("a common password", "password1234"),
    password("the name as the password", "newcomer4711"),
    password("a password of 512 characters", "aB3$" * 128),
    password("a password of 600 characters", "aB3$" * 150, code="invalid_body"),
    password("a number as a password", 123456789012, code="invalid_body"),
    password("null as a password", None, code="invalid_body"),
    password("a list as a password", [GOOD], code="invalid_body"),
    # E-mail
    post("no e-mail address", 400, "bad_email", "auth/register", {"username": "newcomer4712", "password": GOOD, "email": "nobody"}, who="anon"),
    post("an e-mail address with a line end", 400, "bad_email", "auth/register", {"username": "newcomer4713", "password": GOOD, "email": "a@b.org\nBcc: x@y.org"}, who="anon"),
    post("an e-mail address in a list", 400, "invalid_body", "auth/register", {"username": "newcomer4714", "password": GOOD, "email": ["a@b.org"]}, who="anon"),
    # Fields that nobody may set
    post("a staff member", 400, "unknown_field", "auth/register", {"username": "newcomer4715", "password": GOOD, "is_staff": True}, who="anon"),
    post("a superuser", 400, "unknown_field", "auth/register", {"username": "newcomer4716", "password": GOOD, "is_superuser": True}, who="anon"),
    post("an id", 400, "unknown_field", "auth/register", {"username": "newcomer4717", "password": GOOD, "id": 1}, who="anon"),
    post("a public id", 400, "unknown_field", "auth/register", {"username": "newcomer4718", "password": GOOD, "public_id": "{missing}"}, who="anon"),
    post("a kind", 400, "unknown_field", "auth/register", {"username": "newcomer4719", "password": GOOD, "kind": "computer"}, who="anon"),
    post("a rating", 400, "unknown_field", "auth/register", {"username": "newcomer4720", "password": GOOD, "rating": 3000}, who="anon"),
    post("a password in capitals", 400, "unknown_field", "auth/register", {"username": "newcomer4721", "PASSWORD": GOOD}, who="anon"),
    post("no password", 400, "invalid_body", "auth/register", {"username": "newcomer4722"}, who="anon"),
    post("no name", 400, "invalid_body", "auth/register", {"password": GOOD}, who="anon"),
    post("nothing", 400, "invalid_body", "auth/register", {}, who="anon"),
    # Tokens and another password
    post("a token without a name", 400, "invalid_body", "tokens", {}),
    post("a token with an empty name", 400, "bad_token_name", "tokens", {"name": " "}),
    post("a token with a long name", 400, "bad_token_name", "tokens", {"name": "x" * 41}),
    post("a token with a name of two lines", 400, "bad_token_name", "tokens", {"name": "a\nb"}),
    post("a token that turns text around", 400, "bad_token_name", "tokens", {"name": "a\u202eb"}),
    post("a token of an unknown scope", 400, "invalid_body", "tokens", {"name": "a", "scope": "admin"}),
    post("a token for no days", 400, "invalid_body", "tokens", {"name": "a", "days": 0}),
    post("a token for ever", 400, "invalid_body", "tokens", {"name": "a", "days": 366}),
    post("a token of a bot for a person", 409, "bot_needed", "tokens", {"name": "a", "scope": "bot"}),
    post("a token of somebody else's account", 400, "unknown_field", "tokens", {"name": "a", "player": "{eve}"}),
    Bad("a token that is not mine", 404, "unknown_token", "DELETE", "tokens/{missing}"),
    Bad("a token without an id", 404, "not_found", "DELETE", "tokens/x"),
    post("a wrong password before a new one", 403, "wrong_password", "auth/password", {"old": "wrong horse battery", "new": "staple battery horse"}),
    post("a new password that is weak", 400, "bad_password", "auth/password", {"old": GOOD, "new": "short"}),
    post("a new password without the old one", 400, "invalid_body", "auth/password", {"new": "staple battery horse"}),
    post("a new password of a guest", 409, "account_needed", "auth/password", {"old": "", "new": "staple battery horse"}, who="guest"),
    post("a bot of a player who has played", 409, "not_fresh", "me/bot", {}),
    post("a bot of a guest", 409, "not_fresh", "me/bot", {}, who="guest"),
    post("a bot with a level", 400, "unknown_field", "me/bot", {"level": 8}),
    # Addresses and codes
    post("a wrong password before another address", 403, "wrong_password", "me/email", {"email": "a@example.org", "password": "wrong horse battery"}),
    post("an address that is none", 400, "bad_email", "me/email", {"email": "nobody", "password": GOOD}),
    post("an address with a second header", 400, "bad_email", "me/email", {"email": "a@b.org\nBcc: x@y.org", "password": GOOD}),
    post("an address of a guest", 409, "account_needed", "me/email", {"email": "a@example.org", "password": ""}, who="guest"),
    post("a code that is none", 400, "bad_code", "auth/email/verify", {"code": "x"}, who="anon"),
    post("an empty code", 400, "bad_code", "auth/email/verify", {"code": ""}, who="anon"),
    post("a code of another kind", 400, "bad_code", "auth/password/reset", {"code": "a:b:c", "password": GOOD}, who="anon"),
    post("a code without its token", 400, "bad_code", "auth/password/reset", {"code": "{missing}.", "password": GOOD}, who="anon"),
    post("a code of nobody", 400, "bad_code", "auth/password/reset", {"code": "{missing}.abc-def", "password": GOOD}, who="anon"),
    post("a code in capitals", 400, "bad_code", "auth/password/reset", {"code": "A" * 32 + ".abc-def", "password": GOOD}, who="anon"),
    post("no address to send to", 400, "invalid_body", "auth/password/forgot", {}, who="anon"),
    post("an address in a list to send to", 400, "invalid_body", "auth/password/forgot", {"email": ["a@b.org"]}, who="anon"),
    # Profiles
    profile("a bio of 501 characters", "bad_bio", {"bio": "x" * 501}),
    profile("a bio of a novel", "invalid_body", {"bio": "x" * 2001}),
    profile("a bio with terminal codes", "bad_bio", {"bio": "\x1b[31mred"}),
    profile("a bio that turns text around", "bad_bio", {"bio": "a\u202eb"}),
    profile("a bio with isolates", "bad_bio", {"bio": "a\u2067b"}),
    profile("a bio with a zero-width space", "bad_bio", {"bio": "a\u200bb"}),
    profile("a bio with a line separator", "bad_bio", {"bio": "a\u2028b"}),
    profile("a bio in a list", "invalid_body", {"bio": ["a"]}),
    profile("a country in small letters", "bad_country", {"country": "tw"}),
    profile("a country that there is none of", "bad_country", {"country": "XX"}),
    profile("a language that there is none of", "invalid_body", {"language": "tlh"}),
    profile("pieces that there are none of", "invalid_body", {"pieces": "lego"}),
    profile("a notation that there is none of", "invalid_body", {"notation": "smoke"}),
    profile("a kind in the profile", "unknown_field", {"kind": "bot"}),
    post("a wrong password before the end", 403, "wrong_password", "me/close", {"password": "wrong horse battery"}),
    post("an end without a password", 400, "invalid_body", "me/close", {}),
    post("an end of a guest", 409, "account_needed", "me/close", {"password": ""}, who="guest"),
    # Log-in
    login("a wrong password", 401, "bad_credentials", {"username": "{ada}", "password": "wrong horse battery"}),
    login("an unknown name", 401, "bad_credentials", {"username": "nobody-at-all", "password": GOOD}),
    login("an empty password", 401, "bad_credentials", {"username": "{ada}", "password": ""}),
    login("an empty name", 401, "bad_credentials", {"username": "", "password": GOOD}),
    login("a name with a NUL in UTF-8", 400, "bad_text", b'{"username": "a\\u0000b", "password": "x"}'),
    login("SQL as a name", 401, "bad_credentials", {"username": "' OR '1'='1", "password": GOOD}),
    login("SQL as a password", 401, "bad_credentials", {"username": "{ada}", "password": "' OR '1'='1"}),
    login("a name of 512 characters", 401, "bad_credentials", {"username": "a" * 512, "password": GOOD}),
    login("a name of 513 characters", 400, "invalid_body", {"username": "a" * 513, "password": GOOD}),
    login("a password of 513 characters", 400, "invalid_body", {"username": "{ada}", "password": "a" * 513}),
    login("a name in a list", 400, "invalid_body", {"username": ["{ada}"], "password": GOOD}),
    login("a true password", 400, "invalid_body", {"username": "{ada}", "password": True}),
    login("no password at all", 400, "invalid_body", {"username": "{ada}"}),
    login("a second factor", 400, "unknown_field", {"username": "{ada}", "password": GOOD, "otp": "1"}),
    login("a life time", 400, "unknown_field", {"username": "{ada}", "password": GOOD, "ttl": 10**9}),
    # Guests and log-out take nothing
    post("an upgrade of nobody", 401, "not_authenticated", "auth/upgrade", {"username": "x", "password": "y"}, who="anon"),
    post("an upgrade without a name", 400, "invalid_body", "auth/upgrade", {"password": "a long sentence"}, who="guest"),
    post("an upgrade with more", 400, "unknown_field", "auth/upgrade", {"username": "ava", "password": "a long sentence", "kind": "bot"}, who="guest"),
    post("an upgrade of an account", 409, "not_a_guest", "auth/upgrade", {"username": "somebody-new", "password": "a long sentence, new"}),
    post("a guest with a name", 400, "unknown_field", "auth/guest", {"username": "ada"}, who="anon"),
    post("a guest with a list", 400, "invalid_body", "auth/guest", [], who="anon"),
    post("somebody else's token to revoke", 400, "unknown_field", "auth/logout", {"token": "abc"}),
    post("all tokens to revoke", 400, "unknown_field", "auth/logout", {"all": True}),
)
