from __future__ import annotations

import socket

import pytest

from skitter.resolve import BadRule, Resolver, parse_rule, parse_rules, resolve


@pytest.mark.parametrize(
    ("rules", "host", "port", "expected"),
    [
        (["*.lab=127.0.0.1:8080"], "h1.lab", 80, ("127.0.0.1", 8080)),
        (["*.lab=127.0.0.1:8080"], "a.b.LAB.", 443, ("127.0.0.1", 8080)),
        (["*.lab=127.0.0.1:8080"], "lab", 80, ("lab", 80)),
        (["shop.example=127.0.0.1"], "shop.example", 443, ("127.0.0.1", 443)),
        (["shop.example=127.0.0.1"], "my-shop.example", 443, ("my-shop.example", 443)),
        (["a.lab:80=10.0.0.1", "a.lab=10.0.0.2"], "a.lab", 80, ("10.0.0.1", 80)),
        (["a.lab:80=10.0.0.1", "a.lab=10.0.0.2"], "a.lab", 81, ("10.0.0.2", 81)),
        (["*=[::1]:99"], "any.thing", 80, ("::1", 99)),
        (["*.lab = web-1.internal:8080"], "x.lab", 80, ("web-1.internal", 8080)),
        ([], "example.com", 80, ("example.com", 80)),
    ],
)
def test_the_first_rule_that_fits_decides(
    rules: list[str], host: str, port: int, expected: tuple[str, int]
) -> None:
    assert resolve(parse_rules(rules), host, port) == expected


@pytest.mark.parametrize(
    "text",
    ["", "*.lab", "=127.0.0.1", "*.lab=", "*.lab=1.2.3.4:0", "*.lab=1.2.3.4:65536", "a b=1.2.3.4",
     "*.lab=http://1.2.3.4", "*.lab=*", "x.lab:http=1.2.3.4"],
)  # fmt: skip
def test_a_bad_rule_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadRule, match=r"\*\.lab=127\.0\.0\.1:8080"):
        parse_rule(text)


async def test_the_resolver_answers_by_rule_and_else_asks_the_usual_one() -> None:
    resolver = Resolver(parse_rules(["*.lab=127.0.0.1:8080", "six.test=[::1]"]))
    [by_rule] = await resolver.resolve("h1.lab", 80)
    assert (by_rule["hostname"], by_rule["host"], by_rule["port"]) == ("h1.lab", "127.0.0.1", 8080)
    [six] = await resolver.resolve("six.test", 80)
    assert (six["host"], six["family"]) == ("::1", socket.AF_INET6)
    usual = await resolver.resolve("localhost", 80)
    assert usual[0]["host"] == "127.0.0.1"
    await resolver.close()


async def test_an_address_that_is_a_name_is_looked_up() -> None:
    resolver = Resolver(parse_rules(["*.lab=localhost:81"]))
    [found, *_] = await resolver.resolve("h1.lab", 80)
    assert (found["hostname"], found["host"], found["port"]) == ("h1.lab", "127.0.0.1", 81)
    await resolver.close()
