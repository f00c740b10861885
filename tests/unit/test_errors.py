from __future__ import annotations

import inspect
import pickle
import string

import pytest

from skitter import errors
from skitter.errors import BadRequest, MissingExtra, ServerUnavailable, ShardMismatch, SkitterError

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, SkitterError)
]


def any_fields(kind: type[SkitterError]) -> dict[str, object]:
    names = [name for _, name, _, _ in string.Formatter().parse(kind.__doc__ or "") if name]
    return dict.fromkeys(names, 7)


def test_message_is_the_docstring_with_its_fields() -> None:
    error = BadRequest(url="ftp://x/", reason="only http and https are fetched")
    assert str(error) == "The request for ftp://x/ is refused: only http and https are fetched"
    assert error.url == "ftp://x/"
    assert error.hint == ""


def test_second_paragraph_is_the_hint_with_its_fields() -> None:
    error = ShardMismatch(namespace="skitter", recorded=16, wanted=1)
    assert error.hint == "Set redis.shards to 16, or choose another redis.namespace."
    assert str(error).splitlines()[1] == error.hint


def test_missing_extra_names_the_install() -> None:
    error = MissingExtra(feature="Reading Kafka", package="confluent-kafka", extra="kafka")
    assert "pip install 'skitter[kafka]'" in str(error)


def test_braces_and_line_breaks_in_fields_are_kept() -> None:
    assert "a {b}\nc" in str(BadRequest(url="u", reason="a {b}\nc"))


def test_unknown_field_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="BadRequest has no field 'job'"):
        _ = BadRequest(url="u", reason="r").job


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_has_a_message_of_its_own_and_survives_pickling(kind: type[SkitterError]) -> None:
    assert "__doc__" in vars(kind)
    assert vars(kind)["__doc__"]
    error = kind(**any_fields(kind))
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is kind
    assert (str(back), back.fields) == (str(error), error.fields)
    assert "{" not in str(error)


def test_catching_the_root_catches_all() -> None:
    with pytest.raises(SkitterError):
        raise ServerUnavailable(server="redis://h", waited_s=30.0, reason="refused")
