"""The day as a picture: what is queued, and how many workers there are. Plain SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.autoscaler.course import Course

WIDTH, PANEL, LEFT, TOP, GAP = 900, 150, 70, 46, 44
COLOURS = {"policy": "#1b6ca8", "queue length": "#d1495b", "fixed": "#8a8a8a"}


def draw(courses: Sequence[Course]) -> str:
    """Two panels: what is queued under the policy, and the workers of each scaler."""
    policy = courses[0]
    height = TOP + 2 * PANEL + GAP + 46
    parts = [
        _opening(LEFT + WIDTH + 20, height),
        '<rect width="100%" height="100%" fill="white"/>',
        _text(LEFT, 20, "A day of the scaling policy (simulated)", size=15),
        *_panel(TOP, "queued", [(policy.queued, "#444444")]),
        *_panel(
            TOP + PANEL + GAP,
            "workers",
            [(course.workers, COLOURS[course.name]) for course in reversed(courses)],
        ),
        *_hours(TOP + 2 * PANEL + GAP + 16),
        *_legend(courses, height - 8),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _opening(width: int, height: int) -> str:
    size, font = f'viewBox="0 0 {width} {height}"', 'font-family="sans-serif" font-size="12"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>'


def _panel(top: int, title: str, lines: list[tuple[Sequence[float], str]]) -> list[str]:
    most = max(1.0, *(max(values) for values, _ in lines))
    frame = (
        f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{PANEL}" fill="none" stroke="#ccc"/>'
    )
    labels = [
        _text(LEFT, top - 6, title),
        _text(LEFT - 8, top + 10, f"{most:,.0f}", anchor="end"),
        _text(LEFT - 8, top + PANEL, "0", anchor="end"),
    ]
    return [frame, *labels, *(_line(values, colour, top, most) for values, colour in lines)]


def _line(values: Sequence[float], colour: str, top: int, most: float) -> str:
    step = WIDTH / len(values)
    points = " ".join(
        f"{LEFT + i * step:.1f},{top + PANEL - value / most * PANEL:.1f}"
        for i, value in enumerate(values)
    )
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.4"/>'


def _hours(y: int) -> list[str]:
    return [
        _text(LEFT + hour * WIDTH // 24, y, f"{hour}:00", anchor="middle")
        for hour in range(0, 25, 4)
    ]


def _legend(courses: Sequence[Course], y: int) -> list[str]:
    return [
        _text(LEFT + 220 * i, y, _said(course), colour=COLOURS[course.name])
        for i, course in enumerate(courses)
    ]


def _said(course: Course) -> str:
    return f"{course.name}: {course.worker_s / 3600:.0f} worker hours"


def _text(
    x: int, y: int, text: str, *, anchor: str = "start", size: int = 12, colour: str = "#222"
) -> str:
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">'
        f"{text}</text>"
    )
