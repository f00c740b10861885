from __future__ import annotations

import pytest

from skitter.masking import is_secret, mask_text, mask_value


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("at redis://u:pw@h:1/0 now", "at redis://u:***@h:1/0 now"),
        ("rediss://:pw@h", "rediss://:***@h"),
        ("http://u:p@ss:w@h/x", "http://u:***@h/x"),
        ("http://a:1@h http://b:2@i", "http://a:***@h http://b:***@i"),
        ("no proxy bob:p:w@10.0.0.1:80, x", "no proxy bob:***@10.0.0.1:80, x"),
        ("['bob:pw@p.example:80']", "['bob:***@p.example:80']"),
        ("mailto:bob@h.example 12:30", "mailto:bob@h.example 12:30"),
        ("GET /?q=1&api_key=abc&x=2", "GET /?q=1&api_key=***&x=2"),
        ("access_token=abc;", "access_token=***;"),
        ("password: 'a b'", "password: '***'"),
        ('{"secret": "a b", "n": 1}', '{"secret": "***", "n": 1}'),
        ("Authorization: Bearer abc def", "Authorization: ***"),
        ("Cookie: a=1; b=2\nHost: x", "Cookie: ***\nHost: x"),
        ("{'Set-Cookie': 'a=1', 'n': 1}", "{'Set-Cookie': '***', 'n': 1}"),
        ("http://h:80/a@b and 12:30", "http://h:80/a@b and 12:30"),
        ("the secret of a good cookie", "the secret of a good cookie"),
    ],
)
def test_text(text: str, masked: str) -> None:
    assert mask_text(text) == masked
    assert mask_text(masked) == masked


@pytest.mark.parametrize(
    "key", ["password", "db_password", "x-api-key", "API_KEY", "apikey", "Set-Cookie", "token"]
)
def test_secret_keys(key: str) -> None:
    assert is_secret(key)


@pytest.mark.parametrize("key", ["tokens_used", "cookie_jar", "keyboard", "host", "secretary"])
def test_plain_keys(key: str) -> None:
    assert not is_secret(key)


def test_values_inside_values() -> None:
    value = {
        "headers": {"Authorization": b"Basic abc", "Accept": "*/*"},
        "proxies": ["http://u:pw@p"],
        "token": 5,
        "password": None,
        "size": 5,
        "error": ValueError("redis://:pw@h"),
        "body": b"password=abc",
    }
    assert mask_value(value) == {
        "headers": {"Authorization": "***", "Accept": "*/*"},
        "proxies": ["http://u:***@p"],
        "token": "***",
        "password": None,
        "size": 5,
        "error": "ValueError('redis://:***@h')",
        "body": "password=***",
    }


def test_api_keys_keep_their_id_alone() -> None:
    secret = "aB-_" + "x" * 39
    assert mask_text(f"used sk_ab3k_{secret}, twice") == "used sk_ab3k_***, twice"
