from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from skitter.errors import BadProxies, SettingsError
from skitter.policies.proxies.source import ProxySource, make_proxy
from skitter.settings import ProxySettings, load_settings, load_with_origins
from skitter.settings.listing import list_settings

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unit


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def problems_of(*files: Path) -> str:
    with pytest.raises(BadProxies) as caught:
        ProxySource((), files).read()
    return str(caught.value)


def test_a_name_is_short_stable_and_free_of_the_password() -> None:
    one = make_proxy("http://bob:one@Proxy.example:3128")
    assert one.name == make_proxy("http://bob:two@proxy.example:3128").name == "p-95c769f6"
    others = ["https://bob@proxy.example:3128", "http://eve:one@proxy.example:3128", "h:1", "h:2"]
    names = {make_proxy(text).name for text in others} | {one.name}
    assert len(names) == 5
    assert "one" not in repr(one)
    assert one.shown == "http://bob:***@Proxy.example:3128"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("10.0.0.1:3128", "http://10.0.0.1:3128"),
        ("bob:pw@10.0.0.1:3128", "http://bob:pw@10.0.0.1:3128"),
        ("https://p.example:443/", "https://p.example:443"),
        ("socks5://bob:p%40w@p.example:1080", "socks5://bob:p%40w@p.example:1080"),
        ("socks5h://[::1]:1080", "socks5h://[::1]:1080"),
    ],
)
def test_all_forms_are_understood(text: str, url: str) -> None:
    assert make_proxy(text).url == url


@pytest.mark.parametrize(
    "text",
    [
        "ftp://bob:hidden@p.example:21",
        "socks4://bob:hidden@p.example:1080",
        "http://bob:hidden@p.example",
        "http://bob:hidden@p.example:port",
        "http://bob:hidden@p.example:99999",
        "http://bob:hid/hidden@p.example:80",
        "http://bob:hid#hidden@p.example:80",
        "http://bob:hidden@:80",
        "http://bob:hidden",
        "10.0.0.1:80:bob:hidden",
        "bob:hidden@p.example",
        "p.example:80 bob:hidden",
    ],
)
def test_bad_lines_name_file_and_line_and_no_password(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "proxies.txt", "# ours", "10.0.0.1:80", "", text)
    told = problems_of(path)
    assert f"{path}, line 4, is " in told
    assert "hidden" not in told
    assert "line 2" not in told


def test_files_have_comments_and_blank_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "# first", "", "10.0.0.1:80  # the fast one", "socks5://h:1")
    other = write(tmp_path / "b", "http://10.0.0.1:80")
    found = ProxySource(("https://p:443",), (path, other)).read()
    urls = [proxy.url for proxy in found.values()]
    assert urls == ["https://p:443", "http://10.0.0.1:80", "socks5://h:1"]


def test_all_problems_come_at_once_and_very_many_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a", *["ftp://h:1"] * 30)
    told = problems_of(tmp_path / "missing", path)
    assert "missing cannot be read" in told
    assert "line 19" in told
    assert "and 11 more" in told


def test_files_without_a_proxy_are_a_problem(tmp_path: Path) -> None:
    assert "there are none" in problems_of(write(tmp_path / "a", "# nothing yet"))
    assert ProxySource((), ()).read() == {}


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "h:1")
    source = ProxySource((), (path,))
    assert len(source.read()) == 1
    assert not source.changed()
    write(path, "h:1", "h:2")
    os.utime(path, ns=(1, 1))
    assert source.changed()
    assert len(source.read()) == 2
    assert not source.changed()
    path.unlink()
    assert source.changed()


def test_settings_take_lists_from_the_environment_and_show_no_password(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKITTER_PROXIES__URLS", "h:1, bob:hidden@h:2")
    monkeypatch.setenv("SKITTER_PROXIES__BAN_STATUSES", "403,451")
    monkeypatch.setenv("SKITTER_PROXIES__BAN_PATTERNS", "are you a robot, or not")
    loaded = load_with_origins()
    proxies = loaded.settings.proxies
    assert proxies.urls == ("http://h:1", "http://bob:hidden@h:2")
    assert proxies.ban_statuses == (403, 451)
    assert proxies.ban_patterns == ("are you a robot, or not",)
    [row] = [row for row in list_settings(loaded) if row.name == "proxies.urls"]
    assert row.value == ["http://h:1", "http://bob:***@h:2"]
    assert "hidden" not in repr(proxies)


@pytest.mark.parametrize(
    "text", ["bob:hidden@h", "bob:hidden@h:1,ftp://h:2", "http://e:hid/hidden@h:1"]
)
def test_a_bad_proxy_in_the_settings_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKITTER_PROXIES__URLS", text)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert "SKITTER_PROXIES__URLS" in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_settings_are_checked() -> None:
    with pytest.raises(ValidationError, match="max_cooldown_s"):
        ProxySettings(cooldown_s=10, max_cooldown_s=5)
    with pytest.raises(ValidationError, match="not a regular expression"):
        ProxySettings(ban_patterns=("(",))
