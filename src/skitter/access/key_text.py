"""The text of a key, `sk_<id>_<secret>`, and what is kept of it.

The secret is 256 random bits, so one SHA-256 is enough: a slow hash protects words that people
choose, which can be guessed; nobody can guess this, however fast the hash is. The id is hashed with
it, so that a row copied onto another id opens nothing.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest

_FORM = re.compile(r"sk_([a-z0-9]{1,16})_([A-Za-z0-9_-]{43})", re.ASCII)
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another


@dataclass(frozen=True, slots=True)
class KeyText:
    """A key as its owner has it."""

    id: str
    secret: str

    @classmethod
    def new(cls, *, key_id: str = "") -> KeyText:
        """A key that nobody has."""
        made = key_id or "".join(secrets.choice(_LETTERS) for _ in range(10))
        return cls(made, secrets.token_urlsafe(32))

    @classmethod
    def read(cls, text: str) -> KeyText | None:
        """The key that a text is, if it has the form of one."""
        found = _FORM.fullmatch(text)
        return cls(found[1], found[2]) if found else None

    def __str__(self) -> str:
        return f"sk_{self.id}_{self.secret}"

    def __repr__(self) -> str:
        return f"KeyText({self.id!r}, '***')"

    def digest(self) -> str:
        """What is kept of it."""
        return sha256(f"{self.id}:{self.secret}".encode()).hexdigest()

    def fits(self, digest: str) -> bool:
        """Whether it is the key that was kept, told in the same time for any."""
        return compare_digest(self.digest(), digest)
