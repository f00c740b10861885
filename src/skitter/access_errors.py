"""Exceptions of the API: who may ask, how much, and what cannot be done.

They belong to the tree of `skitter.errors` and are made like its own.
"""

from __future__ import annotations

from skitter.errors import SkitterError


class AccessError(SkitterError):
    """This is not allowed."""


class NoKey(AccessError):
    """This needs a key, and none was given.

    Send it in the header Authorization, after the word Bearer; `skitter keys create` makes one.
    """


class BadKey(AccessError):
    """The key is not known, has expired, or was revoked.

    `skitter keys list` shows which there are; `skitter keys create` makes another.
    """


class NotAllowed(AccessError):
    """The key {key} may not do this: its role is {role}, and this needs {needed}.

    An admin makes keys with other roles: `skitter keys create --role {needed}`.
    """


class OtherProject(AccessError):
    """The key {key} is for the project {project} alone, and this is not: {reason}"""


class UnknownKey(AccessError):
    """There is no key {key}."""


class TooManyRequests(AccessError):
    """There were more than {rate:g} requests a second by {who}.

    Wait {retry_s:g} s before the next one; api.rate_per_s and api.burst set the limit.
    """


class OpenToAll(AccessError):
    """The API does not listen on {host} before there is a key.

    Start it once on 127.0.0.1, which prints the first key, or make one: `skitter keys create`.
    """


class ApiError(SkitterError):
    """The request cannot be done."""


class BodyTooLong(ApiError):
    """The request's body is longer than {most:,} bytes.

    Send less at a time, or raise {setting}.
    """


class TooSlow(ApiError):
    """It took longer than {limit_s:g} s and was given up; parts of it may have been done.

    Ask for less at a time, or raise api.timeout_s.
    """


class TooManyAtOnce(ApiError):
    """There are already {most} {what} under way.

    Try again in a moment, or raise {setting}.
    """


class SameKeyOtherBody(ApiError):
    """The idempotency key {name} was used for another request.

    Use a new one for each request; the same one only to repeat the same request.
    """


class StillUnderWay(ApiError):
    """The first request with the idempotency key {name} is still under way.

    Try again in a moment.
    """


class AnswerNotKept(ApiError):
    """The request with the idempotency key {name} was done, but its answer was too long to keep.

    Ask for what it made.
    """


class UnknownLetter(ApiError):
    """There is no dead letter {letter}."""


class NotThere(ApiError):
    """{what} is not there: {reason}"""


class ClientError(SkitterError):
    """The API answered {status}: {detail}

    {hint}
    """


class BadMessage(SkitterError):
    """The message is refused: {reason}"""


class BadLines(ApiError):
    """Line {line} of the body {problem}.

    What stood before it was taken. Each line is a URL or a JSON object.
    """


class CannotListen(ApiError):
    """The API cannot listen on {host}, port {port}: {reason}

    Another program may have the port: choose one with --port or api.port.
    """
