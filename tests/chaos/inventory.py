"""What a server still has of a job, read from the raw keys: queued, leased and delayed URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.frontier.request import unpack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from skitter.frontier import Frontier

_ENTRIES = """
local found = {}
local function note(host, entry) found[#found + 1] = host; found[#found + 1] = entry end
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. 'q:*')) do
  local host = string.match(string.sub(key, #ARGV[1] + 1), '^q:(.*):[^:]+:[^:]+$')
  for _, entry in ipairs(redis.call('LRANGE', key, 0, -1)) do note(host, entry) end
end
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. 'l:*')) do
  for _, kept in ipairs(redis.call('HVALS', key)) do
    local r = cmsgpack.unpack(kept)
    if r[2] ~= '' then note(r[1], r[7]) end
  end
end
for _, member in ipairs(redis.call('ZRANGE', ARGV[1] .. 'z', 0, -1)) do
  local r = cmsgpack.unpack(member)
  note(r[2], r[5])
end
return found
"""


async def pending_urls(frontier: Frontier) -> set[str]:
    """All URLs that have not ended, wherever they are."""
    return {url async for url in _pending(frontier)}


async def _pending(frontier: Frontier) -> AsyncIterator[str]:
    for prefix in frontier.shards.prefixes:
        # Braces mean nothing in a pattern of KEYS.
        flat = await frontier.shards.server.client.execute_command("EVAL", _ENTRIES, 0, prefix)
        for host, entry in zip(flat[::2], flat[1::2], strict=True):
            yield unpack(entry, job="", host=host.decode(), priority=0).url
