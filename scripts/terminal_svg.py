"""A terminal's picture as SVG: what `tmux capture-pane -e -p` gives on stdin, to a file.

tmux new-session -d -x 80 -y 24 …
tmux capture-pane -e -p | python scripts/terminal_svg.py TITLE OUT
"""

import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

DARK = TerminalTheme(
    (24, 24, 27),
    (228, 228, 231),
    [(24, 24, 27), (248, 113, 113), (74, 222, 128), (250, 204, 21),
     (96, 165, 250), (216, 180, 254), (103, 232, 249), (228, 228, 231)],
)  # fmt: skip


def main() -> None:
    title, out = sys.argv[1:3]
    lines = sys.stdin.read().rstrip().splitlines()
    console = Console(
        record=True, width=80, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    for line in lines:
        console.print(Text.from_ansi(line), soft_wrap=True)
    svg = console.export_svg(title=title, theme=DARK)
    svg = re.sub(
        r"@font-face \{.*?\}\s*|<!--.*?-->\s*", "", svg, flags=re.DOTALL
    )  # no fonts to fetch
    Path(out).write_text(svg.replace("Fira Code", "ui-monospace"), encoding="utf-8")


if __name__ == "__main__":
    main()
