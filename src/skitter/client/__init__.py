"""The API from Python: `async with Client("http://127.0.0.1:6800", "sk_…") as client: …`."""

from skitter.client.client import Client
from skitter.client.events import Event

__all__ = ["Client", "Event"]
