"""The built wheel in an empty environment: a project is made, crawled and exported.

Its packages are those of this environment, by a path: there is no network to fetch them from. Only
Skitter itself comes from the wheel.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skitter.lab import ShopSpec, WebSpec

if TYPE_CHECKING:
    from skitter.lab.pytest_plugin import StartLabProcess

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
PRODUCTS = 25


def run(*command: str | Path, cwd: Path) -> str:
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SKITTER_", "PYTHON"))
    }
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=clean,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """An environment with nothing of Skitter but its wheel; its bin folder."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    built: list[str | Path] = [
        *pip,
        "wheel",
        "--no-build-isolation",
        "--no-deps",
        "-w",
        tmp_path / "dist",
        ROOT,
    ]
    run(*built, cwd=ROOT)
    (wheel,) = (tmp_path / "dist").glob("skitter-*.whl")
    place = tmp_path / "env"
    venv.create(place, with_pip=False, symlinks=True)
    python = place / "bin" / "python"
    run(*pip, "--python", python, "install", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    (site,) = (place / "lib").glob("python*/site-packages")
    (site / "packages_of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "bin"


def test_a_new_project_gives_items(
    environment: Path, lab_process: StartLabProcess, tmp_path: Path
) -> None:
    where = run(
        environment / "python", "-c", "import skitter; print(skitter.__file__)", cwd=tmp_path
    )
    assert where.startswith(str(tmp_path / "env"))
    shop = ShopSpec(products=PRODUCTS, locales=("en-US",))
    lab = lab_process(WebSpec(hosts=1, pages=1, shop=shop))
    run(environment / "skitter", "init", "shop", cwd=tmp_path)
    project = tmp_path / "shop"
    crawl: list[str | Path] = [
        environment / "skitter",
        "crawl",
        "products",
        "-o",
        "products.csv",
        "--processes",
        "1",
    ]
    sets = {"fetch.resolve": lab.rule, "politeness.delay_s": "0", "politeness.latency_factor": "0"}
    run(*crawl, *(part for pair in sets.items() for part in ("--set", "=".join(pair))), cwd=project)
    with (project / "products.csv").open(encoding="utf-8") as file:
        found = {row["sku"]: row["name"] for row in csv.DictReader(file)}
    truth = {row["sku"]: row["name"] for row in lab.shop_truth(host="shop-us.lab")}
    assert found
    assert found.items() <= truth.items()
    assert len(found) > PRODUCTS / 2  # what no listing leads to is not found
    assert lab.verdict(coverage=False).polite
    assert "OK" in run_tests(environment, project)


def run_tests(environment: Path, project: Path) -> str:
    """The project's own test; unittest talks on stderr."""
    done = subprocess.run(
        [environment / "python", "-m", "unittest"], cwd=project, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return done.stderr
