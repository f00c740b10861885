"""python -m bench.frontier [--quick] [--only NAME …] [--tcp]: JSON lines, a table, the figures."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from typing import TYPE_CHECKING

import structlog
import uvloop

from bench.frontier import (
    adding,
    beside,
    hosts,
    leasing,
    redelivery,
    report,
    scaling,
    seen,
    stopping,
)
from bench.frontier.meter import Figures, Log, Scale

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MEASUREMENTS: dict[str, Callable[[Scale, Log], Awaitable[Figures]]] = {
    "add": adding.measure,
    "beside": beside.measure,
    "lease": leasing.measure,
    "scaling": scaling.measure,
    "seen": seen.measure,
    "hosts": hosts.measure,
    "redelivery": redelivery.measure,
    "stop": stopping.measure,
}


async def run(names: list[str], scale: Scale, log: Log) -> Figures:
    figures: Figures = {}
    for name in names:
        figures |= await MEASUREMENTS[name](scale, log)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.frontier")
    parser.add_argument("--quick", action="store_true", help="small sizes, a minute in all")
    parser.add_argument("--tcp", action="store_true", help="loopback instead of unix sockets")
    parser.add_argument("--only", action="append", choices=MEASUREMENTS, metavar="NAME",
                        help=f"one of {', '.join(MEASUREMENTS)}; may be repeated")  # fmt: skip
    options = parser.parse_args()
    _quiet()
    log = Log()
    scale = Scale(quick=options.quick, tcp=options.tcp)
    figures = uvloop.run(run(options.only or list(MEASUREMENTS), scale, log))
    report.show(log.lines, figures)
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


def _quiet() -> None:
    """Standard output is for the measurements."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


if __name__ == "__main__":
    main()
