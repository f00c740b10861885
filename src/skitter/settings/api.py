"""Settings of the REST API."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from skitter.settings.kinds import Bytes, Seconds
from skitter.settings.section import Section


class ApiSettings(Section):
    """The REST API. Each server keeps to its limits by itself."""

    host: str = Field("127.0.0.1", min_length=1)
    """The address that it listens on. Beyond this machine it listens only once there is a key."""
    port: int = Field(6800, ge=0, le=65_535)
    """The port; with 0, any that is free."""
    tls_cert: Path | None = None
    """A certificate with its chain, in PEM; with `tls_key`, the API speaks TLS alone."""
    tls_key: Path | None = None
    """The certificate's key, in PEM."""
    rate_per_s: float = Field(200, gt=0, allow_inf_nan=False)
    """How many requests a second a key may make in the long run."""
    burst: int = Field(400, ge=1)
    """How many of them at once."""
    anonymous_per_s: float = Field(20, gt=0, allow_inf_nan=False)
    """How many requests a second an address may make without a key, or with a wrong one."""
    max_body: Bytes = Field(1024**2, validate_default=True)
    """The largest body of a request that is read whole."""
    max_stream: Bytes = Field(1024**3, validate_default=True)
    """The largest body that is read line by line: seeds, and jobs in bulk."""
    timeout_s: Seconds = 30
    """How long a request may take; exports, events and streamed bodies may take longer, but may
    not pause for as long."""
    max_listeners: int = Field(200, ge=1)
    """How many may follow events at once."""
    max_exports: int = Field(4, ge=1)
    """How many exports may run at once."""
    max_connections: int = Field(1_000, ge=1)
    """How many connections may be open at once."""
    keep_answers_s: Seconds = 86_400
    """How long an answer is kept for repeats of its request with the same `Idempotency-Key`."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key go together")
        return self
