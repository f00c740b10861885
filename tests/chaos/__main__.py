"""`python -m tests.chaos --rounds 200`: rounds on the frontier, planted faults, and crawls of the
lab under its referee, by a plain crawler and by Scrapy's spiders on both engines; crawls of the
lab's shop into PostgreSQL, a MongoDB-compatible server and files, held against its truth. The last
line is one JSON object with the findings of all, those on the fast engine once more as `engine_…`,
and those of the shop as `postgres_…`, `mongo_…` and `jsonl_…`; the exit code is 1 if anything is
wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import secrets
import sys
import time

from tests.chaos.addon_crowd import ENGINES, AddonCrowd
from tests.chaos.campaign import Campaign
from tests.chaos.nursery import Nursery
from tests.chaos.plants import PLANTS, check_edits
from tests.chaos.refereed import Crowd
from tests.chaos.shop_crowd import ShopCrowd
from tests.chaos.stores import STORES

SHOP_FIGURES = ("items", "lost_items", "doubled_items", "wrong_items", "torn_lines", "lost",
                "workers_killed", "database_kills")  # fmt: skip


def main() -> int:
    arguments = _parser().parse_args()
    print(f"seed {arguments.seed}", flush=True)
    # Streams cut in the middle are what this is about; asyncio reports each as an error.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    with contextlib.suppress(KeyboardInterrupt):
        return asyncio.run(_run(arguments))
    print("stopped; nothing is left behind", file=sys.stderr)
    return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="rounds on the frontier")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6) * 1000)
    parser.add_argument("--at-once", type=int, default=3, help="rounds side by side")
    parser.add_argument("--hosts", type=int, default=300, help="hosts of the refereed crawl")
    parser.add_argument("--processes", type=int, default=8, help="its crawlers")
    parser.add_argument("--addon-hosts", type=int, default=200, help="hosts of Scrapy's crawls")
    parser.add_argument("--workers", type=int, default=4, help="their workers")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="only on this one")
    parser.add_argument("--products", type=int, default=600, help="products of the shop's crawls")
    parser.add_argument("--store", choices=STORES, action="append", help="only into this one")
    return parser


async def _run(arguments: argparse.Namespace) -> int:
    started = time.monotonic()
    check_edits()
    with Nursery() as nursery:
        campaign = Campaign(nursery, at_once=arguments.at_once)
        seeds = range(arguments.seed, arguments.seed + arguments.rounds)
        await campaign.run_rounds(seeds)
        await campaign.find_plants(PLANTS, seed=arguments.seed)
        crowd = Crowd(hosts=arguments.hosts, processes=arguments.processes, seed=arguments.seed)
        coverage = await campaign.run_crowd(crowd) if arguments.hosts else 1.0
        for engine in arguments.engine or ENGINES if arguments.addon_hosts else ():
            scrapy = AddonCrowd(
                hosts=arguments.addon_hosts,
                workers=arguments.workers,
                seed=arguments.seed,
                engine=engine,
            )
            coverage = min(coverage, await campaign.run_addon(scrapy))
        for store in arguments.store or STORES if arguments.products else ():
            shop = ShopCrowd(store=store, seed=arguments.seed, products=arguments.products)
            await campaign.run_shop(shop)
    result = {
        "rounds": arguments.rounds,
        **campaign.findings.to_json(),
        "refetched": campaign.findings.figures["refetched"],
        "coverage": coverage,
        **{f"engine_{name}": value for name, value in campaign.fast.items()},
        **{
            f"{store}_{name}": found.get(name, 0)
            for store, found in campaign.stores.items()
            for name in SHOP_FIGURES
        },
        "planted_faults": len(PLANTS),
        "planted_found": campaign.planted_found,
        "seed": arguments.seed,
        "seconds": round(time.monotonic() - started, 1),
    }
    print(json.dumps(result))
    clean = not campaign.findings.faults and coverage == 1.0
    return 0 if clean and campaign.planted_found == len(PLANTS) else 1


if __name__ == "__main__":
    sys.exit(main())
