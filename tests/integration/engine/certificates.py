"""Certificates that no client should trust."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

if TYPE_CHECKING:
    from pathlib import Path

DAY = timedelta(days=1)


def self_signed(folder: Path, name: str) -> Path:
    """In order, but that nobody vouches for it."""
    now = datetime.now(UTC)
    return _write(folder, name, since=now - DAY, until=now + DAY)


def expired(folder: Path, name: str) -> Path:
    """The same, of yesterday."""
    now = datetime.now(UTC)
    return _write(folder, name, since=now - 3 * DAY, until=now - DAY)


def tls_of(path: Path) -> ssl.SSLContext:
    """A server's side of TLS, with key and certificate from one file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def _write(folder: Path, name: str, *, since: datetime, until: datetime) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(since)
        .not_valid_after(until)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    form = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    secret = key.private_bytes(serialization.Encoding.PEM, *form)
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return path
