"""`skitter recipe check` on pages that it fetches, in their hosts' turns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from skitter.cli.main import app
from skitter.errors import PageError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.cli.pushes import Pushes
    from tests.integration.cli.sitemap_server import SitemapServer

RECIPE = "{name: x, pages: {any: {fields: {title: {css: h1, required: true}}}}}"


@pytest.fixture
def check(pushes: Pushes, sitemap_server: SitemapServer, tmp_path: Path) -> Any:
    (tmp_path / "x.yaml").write_text(RECIPE)
    flags = pushes.flags | {"fetch.resolve": sitemap_server.rule}

    def run(url: str, **more: str) -> dict[str, Any]:
        settings = flags | {name.replace("__", "."): value for name, value in more.items()}
        sets = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
        arguments = ["recipe", "check", url, "--recipe", "x.yaml", "--json", *sets]
        result = CliRunner().invoke(app, arguments)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        found: dict[str, Any] = json.loads(result.stdout)
        return found

    return run


def test_a_page_is_fetched_after_its_robots_txt(check: Any, sitemap_server: SitemapServer) -> None:
    body = "<h1>Pièce</h1>".encode("cp1252")
    headers = {"Content-Type": "text/html; charset=windows-1252"}
    outcome = check(sitemap_server.add("/p", body, headers=headers))
    assert outcome["items"][0]["fields"]["title"]["value"] == "Pièce"
    assert sitemap_server.paths() == ["/robots.txt", "/p"]


def test_redirects_are_followed(check: Any, sitemap_server: SitemapServer) -> None:
    target = sitemap_server.add("/to", "<h1>There</h1>")
    url = sitemap_server.add("/from", status=302, headers={"Location": "/to"})
    outcome = check(url)
    assert (outcome["url"], outcome["ok"]) == (target, True)


def test_robots_txt_is_obeyed_on_every_hop(check: Any, sitemap_server: SitemapServer) -> None:
    sitemap_server.add("/robots.txt", "User-agent: *\nDisallow: /private\n")
    sitemap_server.add("/private", "<h1>x</h1>")
    url = sitemap_server.add("/from", status=302, headers={"Location": "/private"})
    with pytest.raises(PageError, match="forbids it"):
        check(url)
    assert "/private" not in sitemap_server.paths()
    assert check(url, politeness__robots="false")["ok"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [("/missing", "status 404"), ("/loop", "redirects more than 5 times")],
)
def test_a_page_that_cannot_be_had(
    check: Any, sitemap_server: SitemapServer, path: str, reason: str
) -> None:
    sitemap_server.add("/loop", status=302, headers={"Location": "/loop"})
    with pytest.raises(PageError, match=reason):
        check(f"http://x.example{path}")


def test_a_passing_failure_is_tried_again(check: Any, sitemap_server: SitemapServer) -> None:
    url = sitemap_server.add("/p", "<h1>x</h1>", failures=1)
    assert check(url, politeness__max_delay_s="60")["ok"]
    assert sitemap_server.paths().count("/p") == 2


def test_what_is_no_address(check: Any) -> None:
    with pytest.raises(PageError, match="cannot be read"):
        check("nonsense")
