"""Pages for tests that no link leads to: a login, charsets, cookies, an echo, faults to order.

/login, /account, /account/<k>, /logout     a form, a session cookie, pages behind it
/charset/<name>, /charset/<name>/meta       declared in header and meta, or in meta alone
/gzip  /cookies  /echo                      always compressed; cookies and request as JSON
/slow/<ms>  /drip/<pieces>/<interval_ms>    an answer that takes its time
/fault/<kind>[/<attempts>]                  a fault, always or for the first attempts
"""

from __future__ import annotations

import gzip
import json
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from skitter.lab import render
from skitter.lab.answer import Answer, redirect
from skitter.lab.refusal import LabSpecError
from skitter.lab.spec import CHARSETS, Drip, Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.lab.web import Web
    from skitter.lab.wire import Request

USER, PASSWORD = "lab", "secret"
_LOGIN_FORM = """<form method="post" action="/login">
<input type="hidden" name="token" value="{token}">
<input name="user"><input name="password" type="password"><button>Enter</button></form>
"""


class Extras:
    """Answers for the pages that only those who know them ask for."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._routes: dict[str, Callable[[Request, list[str]], Answer | None]] = {
            "login": self._login,
            "logout": self._logout,
            "account": self._account,
            "charset": self._charset,
            "gzip": self._gzip,
            "cookies": self._cookies,
            "echo": self._echo,
            "slow": self._slow,
            "drip": self._drip,
            "fault": self._fault,
        }

    def answer(self, request: Request) -> Answer | None:
        """The answer of an extra page, or None if the path is none."""
        name, *rest = request.path[1:].split("/")
        make = self._routes.get(name)
        return make(request, rest) if make else None

    def _login(self, request: Request, rest: list[str]) -> Answer | None:
        if rest:
            return None
        token = self._secret("form", request.host)
        if request.method != "POST":
            return _page("Log in", _LOGIN_FORM.format(token=token))
        form = parse_qs(request.body.decode("utf-8", "replace"))
        if _form_values(form) != (USER, PASSWORD, token):
            return _page("Log in", "<p>Wrong user, password or token.</p>", status=403)
        cookie = f"session={self._secret('session', request.host)}; Path=/; HttpOnly"
        return redirect(303, "/account").with_headers(("Set-Cookie", cookie))

    def _logout(self, _request: Request, rest: list[str]) -> Answer | None:
        gone = ("Set-Cookie", "session=; Path=/; Max-Age=0")
        return None if rest else redirect(303, "/login").with_headers(gone)

    def _account(self, request: Request, rest: list[str]) -> Answer | None:
        if len(rest) > 1 or (rest and not rest[0].isdigit()):
            return None
        if cookies_of(request).get("session") != self._secret("session", request.host):
            return redirect(302, "/login")
        if rest:
            return _page(f"Order {rest[0]}", f"<p>Order {rest[0]} of {USER}.</p>")
        orders = [(f"/account/{number}", f"order {number}") for number in range(1, 6)]
        return _page("Account", f"<p>Welcome, {USER}.</p>{render.link_list(orders)}")

    def _charset(self, _request: Request, rest: list[str]) -> Answer | None:
        name = {"latin-1": "iso-8859-1"}.get(rest[0], rest[0]) if rest else ""
        if name not in CHARSETS or rest[1:] not in ([], ["meta"]):
            return None
        body = render.html(
            f"In {name}", anchors=[("/", "home")], text=render.SENTENCES[name], charset=name
        )
        in_header = "" if rest[1:] else f"; charset={name}"
        return Answer(body=body, content_type=f"text/html{in_header}")

    def _gzip(self, _request: Request, _rest: list[str]) -> Answer:
        body = render.html("Compressed", anchors=[("/", "home")], text=render.SENTENCES["utf-8"])
        return Answer(body=gzip.compress(body, mtime=0), headers=(("Content-Encoding", "gzip"),))

    def _cookies(self, request: Request, _rest: list[str]) -> Answer:
        cookies = cookies_of(request)
        visits = int(cookies["visits"]) + 1 if cookies.get("visits", "").isdigit() else 1
        return _json({"cookies": cookies}).with_headers(("Set-Cookie", f"visits={visits}; Path=/"))

    def _echo(self, request: Request, _rest: list[str]) -> Answer:
        return _json(
            {
                "method": request.method,
                "host": request.host,
                "target": request.target,
                "headers": request.headers,
                "body": request.body.decode("utf-8", "replace"),
            }
        )

    def _slow(self, _request: Request, rest: list[str]) -> Answer | None:
        if len(rest) != 1 or not rest[0].isdigit():
            return None
        answer = _page("Slow", f"<p>{rest[0]} ms.</p>")
        answer.latency_ms = float(rest[0])
        return answer

    def _drip(self, _request: Request, rest: list[str]) -> Answer | None:
        if len(rest) != 2 or not all(part.isdigit() for part in rest) or rest[0] == "0":
            return None
        answer = _page("Drip", "<p>Drop by drop.</p>" * 20)
        answer.drip = Drip(rate=1, pieces=int(rest[0]), interval_ms=float(rest[1]))
        return answer

    def _fault(self, request: Request, _rest: list[str]) -> Answer | None:
        """What is there when the fault is over."""
        over = ordered_fault(request.path) is not None
        return _page("Fine again", render.SENTENCES["utf-8"] * 5) if over else None

    def _secret(self, name: str, host: str) -> str:
        return f"{self._web.dice.number(name, host):016x}"


def ordered_fault(path: str) -> Fault | None:
    """The fault that `/fault/<kind>[/<attempts>]` orders; without attempts it never ends."""
    parts = path[1:].split("/")
    if parts[0] != "fault" or len(parts) not in (2, 3):
        return None
    attempts = parts[2] if len(parts) == 3 else "0"
    if not attempts.isdigit():
        return None
    try:
        return Fault(kind=parts[1], rate=1, attempts=int(attempts))
    except LabSpecError:
        return None


def cookies_of(request: Request) -> dict[str, str]:
    """The cookies that a request brought; an unreadable header is none."""
    try:
        jar = SimpleCookie(request.headers.get("cookie", ""))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in jar.items()}


def _form_values(form: dict[str, list[str]]) -> tuple[str, str, str]:
    user, password, token = (form.get(name, [""])[0] for name in ("user", "password", "token"))
    return user, password, token


def _page(title: str, body: str, *, status: int = 200) -> Answer:
    return Answer(status=status, body=render.html_body(title, body=body))


def _json(value: object) -> Answer:
    body = json.dumps(value).encode()
    return Answer(body=body, content_type="application/json")
