"""`python -m bench.autoscaler`: the day, a table, a plot, and the figures as one JSON line."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bench.autoscaler.course import run
from bench.autoscaler.load import day
from bench.autoscaler.plot import draw
from bench.autoscaler.scalers import Fixed, Policy, QueueLength
from skitter.orchestrator.scaling_policy import Bounds

PLOT = Path("docs/autoscaling.svg")


def main() -> None:
    options = _options()
    bounds = Bounds(minimum=options.minimum, maximum=options.maximum)
    arrivals = day(options.seed)
    scalers = (Policy(bounds), QueueLength(bounds), Fixed(bounds))
    courses = [run(scaler, arrivals) for scaler in scalers]
    options.plot.write_text(draw(courses), encoding="utf-8")
    figures = {course.name: course.figures() for course in courses}
    for name, rows in figures.items():
        print(name)
        for row, value in rows.items():
            print(f"  {row:45} {value:>12,}")
    print(json.dumps({"bench": "autoscaler", "seed": options.seed, **figures}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minimum", type=int, default=0)
    parser.add_argument("--maximum", type=int, default=32)
    parser.add_argument("--plot", type=Path, default=PLOT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
