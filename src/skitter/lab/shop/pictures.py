"""Pictures of one pixel: a PNG in a colour of its own, a JPEG with a remark of its own."""

from __future__ import annotations

import base64
import struct
import zlib

# A grey pixel, baseline, with the standard's Huffman tables cut to the codes that it needs.
_JPEG = base64.b64decode(
    "/9j/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"
    "AQEBAQEBAQEBAQH/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAA"
    "AAAAAAAAAAD/2gAIAQEAAD8AP//Z"
)


def png(number: int) -> bytes:
    """A pixel whose colour is the number's last 24 bits."""
    row = b"\x00" + (number & 0xFFFFFF).to_bytes(3, "big")
    size_and_depth = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pieces = ((b"IHDR", size_and_depth), (b"IDAT", zlib.compress(row)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_piece(*piece) for piece in pieces)


def jpeg(number: int) -> bytes:
    """A grey pixel with the number in its comment."""
    remark = str(number).encode()
    comment = b"\xff\xfe" + struct.pack(">H", len(remark) + 2) + remark
    return _JPEG[:2] + comment + _JPEG[2:]


def _png_piece(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
