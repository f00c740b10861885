"""What a server's errors mean: wait and repeat, make room, or ask a person.

redis-py turns some error codes into classes and leaves others as a ResponseError whose text
starts with the code; a script's errors carry the same codes. Both are read here, once.
"""

from __future__ import annotations

from redis import exceptions

from skitter.masking import mask_text

# A refused login stays refused, though redis-py files it under lost connections.
_LASTING = (
    exceptions.AuthenticationError,
    exceptions.AuthorizationError,
    exceptions.NoPermissionError,
)

_CLASSES: dict[type[Exception], str] = {
    exceptions.AuthenticationError: "it refuses the login: check user and password in redis.url",
    exceptions.AuthorizationError: "it refuses the login: check user and password in redis.url",
    exceptions.NoPermissionError: "the user in redis.url may not do this (ACL)",
    exceptions.OutOfMemoryError: "it is out of memory (maxmemory)",
    exceptions.BusyLoadingError: "it is loading its data",
    exceptions.MasterDownError: "a replica has lost its primary",
    exceptions.ClusterDownError: "the cluster is down: some slots have no owner",
    exceptions.SlotNotCoveredError: "the cluster is down: some slots have no owner",
    exceptions.TryAgainError: "the cluster is moving this slot",
    exceptions.ReadOnlyError: "it is read-only: a replica, or a failover is under way",
    exceptions.TimeoutError: "it does not answer in time",
    exceptions.MaxConnectionsError: "all connections of this process are in use",
    exceptions.InvalidResponse: "its answer was cut off",
    TimeoutError: "it does not answer in time",
}

_CODES = {
    "OOM": "it is out of memory (maxmemory)",
    "LOADING": "it is loading its data",
    "BUSY": "a long script keeps it busy",
    "MASTERDOWN": "a replica has lost its primary",
    "CLUSTERDOWN": "the cluster is down: some slots have no owner",
    "TRYAGAIN": "the cluster is moving this slot",
    "MOVED": "the cluster has moved this slot",
    "ASK": "the cluster is moving this slot",
    "READONLY": "it is read-only: a replica, or a failover is under way",
    "NOREPLICAS": "too few of its replicas are in step",
    "MISCONF": "it cannot write to its disk",
    "UNBLOCKED": "its role changed: a failover is under way",
    "UNKILLABLE": "a long script keeps it busy",
}

_TRANSIENT = (
    exceptions.ConnectionError,
    exceptions.TimeoutError,
    exceptions.ClusterError,
    exceptions.SlotNotCoveredError,
    exceptions.TryAgainError,
    exceptions.AskError,
    exceptions.ReadOnlyError,
    exceptions.InvalidResponse,
    OSError,  # and with it the builtin TimeoutError
)

_NO_LAYOUT = ("cannot be connected", "slots are not covered", "No targets were found")


class TooFewReplicas(TimeoutError):
    """Fewer replicas than `redis.wait_replicas` have the last writes, for now."""


def transient(error: BaseException) -> bool:
    """Whether the same call may succeed later, with nothing changed but time."""
    if isinstance(error, _LASTING) or out_of_memory(error):
        return False
    if isinstance(error, _TRANSIENT):
        return True
    if isinstance(error, exceptions.RedisClusterException):
        return any(words in str(error) for words in _NO_LAYOUT)
    return isinstance(error, exceptions.ResponseError) and _code(error) in _CODES


def out_of_memory(error: BaseException) -> bool:
    """Whether the server refuses to take more: not lost, but time alone will not help."""
    if isinstance(error, exceptions.OutOfMemoryError):
        return True
    return isinstance(error, exceptions.ResponseError) and _code(error) == "OOM"


def describe(error: BaseException) -> str:
    """The error in plain words, as the end of a sentence that starts with the server's name."""
    if isinstance(error, TooFewReplicas):
        return str(error)
    for kind in type(error).__mro__:
        if kind in _CLASSES:
            return _CLASSES[kind]
    if isinstance(error, exceptions.ResponseError) and _code(error) in _CODES:
        return _CODES[_code(error)]
    words = mask_text(str(error)).strip() or type(error).__name__
    if isinstance(error, exceptions.ConnectionError | OSError):
        return f"no connection ({words})"
    return words


def _code(error: BaseException) -> str:
    return str(error).partition(" ")[0]
