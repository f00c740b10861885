"""A process's start, made short: what nobody uses is not loaded.

Scrapy and what it stands on load Twisted's reactor with OpenSSL, and an HTTP client that asks for
a list of domains, which is a third of the time that loading Scrapy takes; this engine has no use
for them. They are loaded when somebody does use them. And aiohttp makes TLS contexts for those who
bring none.
"""

from __future__ import annotations

import ssl
import sys
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Modules, and what is imported from them.
_SELDOM = {
    "twisted.internet.asyncioreactor": (),
    "twisted.internet.ssl": ("CertificateOptions", "TLSVersion"),
    "OpenSSL.SSL": (),
    "OpenSSL.crypto": (),
    "OpenSSL._util": (),
    "requests": ("Session",),
    "requests_file": ("FileAdapter",),
    "filelock": ("FileLock",),
    "charset_normalizer": ("from_bytes",),
}


def load_parts() -> None:
    """Load what every crawl needs of Scrapy, and the HTTP client."""
    with postponed(_SELDOM):
        import scrapy.downloadermiddlewares.cookies  # noqa: PLC0415
        import scrapy.utils.log  # noqa: F401, PLC0415
    with certificates_later():
        import aiohttp  # noqa: F401, PLC0415


@contextmanager
def without(module: str) -> Iterator[None]:
    """Load something that would load a module for ways of its own that nobody here goes.

    For as long, the module cannot be had; nothing changes if it is loaded already.
    """
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]  # this is how Python is told
    try:
        yield
    finally:
        del sys.modules[module]


@contextmanager
def postponed(modules: Mapping[str, tuple[str, ...]]) -> Iterator[None]:
    """Load something that imports modules now and uses them later, if at all.

    It gets stand-ins for those that are not loaded yet, and for what it imports from them by name.
    Whoever imports them afterwards gets the modules themselves.
    """
    added = [_Module(name, names) for name, names in modules.items() if name not in sys.modules]
    sys.modules.update({module.__name__: module for module in added})
    try:
        yield
    finally:
        for module in added:
            module.names = ()
            if sys.modules.get(module.__name__) is module:
                del sys.modules[module.__name__]


@contextmanager
def certificates_later() -> Iterator[None]:
    """Load something that makes TLS contexts; they read the system's certificates when first used.

    Reading them takes longer than loading all the rest of an HTTP client.
    """
    context: Any = ssl.SSLContext
    context.set_default_verify_paths = _read_later
    try:
        yield
    finally:
        del context.set_default_verify_paths  # what it is derived from has the real one


def _read_later(context: Any) -> None:
    def use(name: str, *args: Any, **kwargs: Any) -> Any:
        context.set_default_verify_paths()  # twice, by two threads, is the same as once
        vars(context).pop("wrap_bio", None)
        vars(context).pop("wrap_socket", None)
        return getattr(context, name)(*args, **kwargs)

    context.wrap_bio = partial(use, "wrap_bio")
    context.wrap_socket = partial(use, "wrap_socket")


class _Module(ModuleType):
    """Is the module, as soon as anything is asked of it but the names that are given away."""

    def __init__(self, name: str, names: tuple[str, ...]) -> None:
        super().__init__(name)
        self.names = names

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":  # an import asks whether it is a package
            raise AttributeError(name)
        if name in self.names:
            return _Name(self.__name__, name)
        return _of(self.__name__, name)


class _Name:
    """A class or function of a module, which is loaded when it is used."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(_of(self._module, self._name), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _of(self._module, self._name)(*args, **kwargs)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, _of(self._module, self._name))

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        """A class is derived from it, and needs it at once."""
        return (_of(self._module, self._name),)

    def __or__(self, other: object) -> Any:
        """In an annotation."""
        return self


def _of(module: str, name: str) -> Any:
    if isinstance(sys.modules.get(module), _Module):
        del sys.modules[module]
    return getattr(import_module(module), name)
