"""Keys are shown once, kept as hashes, and open nothing once they are revoked or have expired."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event, select

from skitter.access import Audit, Keys, Role
from skitter.access.key_text import KeyText
from skitter.access_errors import BadKey, UnknownKey
from skitter.store.tables_access import keys as table
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from skitter.store import Store


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_793_866_500.0

    def __call__(self) -> float:
        return self.now_s


async def is_good(keys: Keys, text: str) -> bool:
    try:
        await keys.verify(text)
    except BadKey:
        return False
    return True


async def test_a_key_says_who_has_it(store: Store) -> None:
    keys = Keys(store)
    made, text = await keys.create(name="nightly", role=Role.OPERATOR, project="shop")
    who = await keys.verify(text)
    assert (who.key, who.name, who.role, who.project) == (made.id, "nightly", Role.OPERATOR, "shop")


async def test_what_is_kept_does_not_hold_the_secret(store: Store) -> None:
    _, text = await Keys(store).create(name="n", role=Role.VIEWER)
    secret = text.split("_", 2)[2]

    def rows(db: Connection) -> str:
        return repr([tuple(row) for row in db.execute(select(table))])

    assert secret not in await store.read(rows)
    assert secret not in repr(KeyText.read(text))


@pytest.mark.parametrize("text", ["", "sk_", "sk_abc", "Bearer x", "sk_first_" + "a" * 43, "ü"])
async def test_what_is_no_key_opens_nothing(store: Store, text: str) -> None:
    keys = Keys(store)
    await keys.create(name="n", role=Role.ADMIN)
    with pytest.raises(BadKey):
        await keys.verify(text)


async def test_another_keys_secret_opens_nothing(store: Store) -> None:
    keys = Keys(store)
    one, _ = await keys.create(name="one", role=Role.ADMIN)
    _, other = await keys.create(name="other", role=Role.VIEWER)
    mixed = f"sk_{one.id}_{other.split('_', 2)[2]}"
    with pytest.raises(BadKey):
        await keys.verify(mixed)


async def test_a_revoked_key_opens_nothing_here_at_once_and_elsewhere_in_a_second(
    store: Store, store_url: str
) -> None:
    here = Keys(store)
    key, text = await here.create(name="n", role=Role.ADMIN)
    async with await type(store).open(store_url) as other_store:
        elsewhere = Keys(other_store)
        await elsewhere.verify(text)  # so that it is remembered there
        revoked = await here.revoke(key.id)
        assert revoked.revoked_ms
        assert not await is_good(here, text)

        async def gone() -> bool:
            return not await is_good(elsewhere, text)

        await wait_until_async(gone, timeout_s=3, what="revoked everywhere")


async def test_an_expired_key_opens_nothing(store: Store) -> None:
    clock = Clock()
    keys = Keys(store, now=clock)
    _, text = await keys.create(name="n", role=Role.VIEWER, expires_s=60)
    assert await is_good(keys, text)
    clock.now_s += 60
    assert not await is_good(keys, text)


async def test_the_last_use_is_written_once_a_minute_at_the_most(store: Store) -> None:
    clock = Clock()
    keys = Keys(store, now=clock)
    key, text = await keys.create(name="n", role=Role.VIEWER)
    await keys.verify(text)
    first = (await keys.show(key.id)).used_ms
    assert first == int(clock.now_s * 1000)
    clock.now_s += 59
    await keys.verify(text)
    assert (await keys.show(key.id)).used_ms == first
    clock.now_s += 1
    await keys.verify(text)
    assert (await keys.show(key.id)).used_ms == int(clock.now_s * 1000)


async def test_many_who_ask_at_once_read_the_key_once(store: Store) -> None:
    keys = Keys(store)
    _, text = await keys.create(name="n", role=Role.VIEWER)
    await keys.verify(text)
    keys._believed.clear()
    queries: list[str] = []
    event.listen(store._engine, "before_cursor_execute", lambda *a: queries.append(a[2]))
    await asyncio.gather(*(keys.verify(text) for _ in range(50)))
    assert len([query for query in queries if "api_keys" in query]) == 1


async def test_the_first_key_is_made_once_ever(store: Store, store_url: str) -> None:
    keys = Keys(store)
    async with await type(store).open(store_url) as other_store:
        made = await asyncio.gather(keys.create_first(), Keys(other_store).create_first())
    texts = [text for text in made if text]
    assert len(texts) == 1
    who = await keys.verify(texts[0])
    assert (who.role, who.project) == (Role.ADMIN, None)
    [line] = await Audit(store).list()
    assert (line.key_id, line.action, line.status) == (who.key, "the first key is made", 201)
    await keys.revoke(who.key)
    assert await keys.create_first() is None


async def test_there_is_no_first_key_where_there_is_another(store: Store) -> None:
    keys = Keys(store)
    assert not await keys.any()
    await keys.create(name="n", role=Role.VIEWER)
    assert await keys.create_first() is None


async def test_keys_are_listed_newest_first_with_the_revoked(store: Store) -> None:
    clock = Clock()
    keys = Keys(store, now=clock)
    one, _ = await keys.create(name="one", role=Role.VIEWER)
    clock.now_s += 1
    await keys.create(name="two", role=Role.ADMIN)
    await keys.revoke(one.id)
    listed = await keys.list()
    assert [(key.name, key.revoked_ms is not None) for key in listed] == [
        ("two", False),
        ("one", True),
    ]
    with pytest.raises(UnknownKey):
        await keys.revoke("nokey")


async def test_a_role_covers_those_below_it() -> None:
    assert Role.ADMIN.covers(Role.VIEWER)
    assert Role.OPERATOR.covers(Role.OPERATOR)
    assert not Role.VIEWER.covers(Role.OPERATOR)
