"""Pages as bytes: HTML in any of the lab's charsets, robots.txt and sitemaps.

Filler is a slice of one long text made at import, so that a page costs little more than its links.
"""

from __future__ import annotations

from html import escape

from skitter.lab.dice import Dice

SENTENCES = {
    "utf-8": "A crawler asks politely, waits its turn and forgets nothing. ",
    "windows-1251": "Съешь же ещё этих мягких французских булок, да выпей чаю. ",
    "shift_jis": "色は匂へど散りぬるを、我が世誰ぞ常ならむ。",
    "iso-8859-1": "Dès Noël où un zéphyr haï me vêt, je dîne d'exquis rôtis. ",
}
_FILLER = {name: (sentence * 200).encode(name) for name, sentence in SENTENCES.items()}
_FILLER_MARK = "\x00"

Anchor = tuple[str, str]
"""A link's address and its text."""


def page(dice: Dice, title: str, *, anchors: list[Anchor], page_bytes: int, charset: str) -> bytes:
    """A page filled up to a size; one whose links alone are longer stays longer."""
    frame = html(title, anchors=anchors, text=_FILLER_MARK, charset=charset)
    words = _filler(dice, charset=charset, key=title, length_bytes=page_bytes - len(frame) + 1)
    return frame.replace(_FILLER_MARK.encode(), words, 1)


def html(title: str, *, anchors: list[Anchor], text: str = "", charset: str = "utf-8") -> bytes:
    """A page with a title, a text and links."""
    return html_body(title, body=_paragraph(text) + link_list(anchors), charset=charset)


def html_body(title: str, *, body: str, charset: str = "utf-8") -> bytes:
    """A page with a title around a body of HTML; the charset is told in a meta element."""
    name = escape(title)
    page = (
        f'<!doctype html>\n<html><head><meta charset="{charset}"><title>{name}</title></head>\n'
        f"<body><h1>{name}</h1>\n{body}</body></html>\n"
    )
    return page.encode(charset, "xmlcharrefreplace")


def link_list(anchors: list[Anchor]) -> str:
    """Links as a list."""
    items = "".join(f'<li><a href="{href}">{label}</a></li>\n' for href, label in anchors)
    return f"<ul>\n{items}</ul>\n"


def robots_txt(*, delay_ms: float, disallow: tuple[str, ...], sitemap: str) -> bytes:
    """The same rules for every agent; a delay of 0 and an empty sitemap are not told."""
    lines = ["User-agent: *"]
    if delay_ms:
        lines.append(f"Crawl-delay: {delay_ms / 1000:g}")
    lines += [f"Disallow: {path}" for path in disallow]
    if sitemap:
        lines.append(f"Sitemap: {sitemap}")
    return ("\n".join(lines) + "\n").encode()


def sitemap(element: str, entry: str, *, urls: list[str]) -> bytes:
    """A urlset of url entries, or a sitemapindex of sitemap entries."""
    entries = "".join(f"<{entry}><loc>{escape(url)}</loc></{entry}>\n" for url in urls)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<{element} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</{element}>\n'
    ).encode()


def _filler(dice: Dice, *, charset: str, key: str, length_bytes: int) -> bytes:
    """So many bytes of text, starting at a place of the key's own, never inside a character."""
    if length_bytes <= 0:
        return b""
    width = 2 if charset == "shift_jis" else 1
    start = dice.number("filler", key) % len(SENTENCES[charset]) * width
    text = _FILLER[charset]
    repeats = -(-(start + length_bytes) // len(text))
    if repeats > 1:
        text *= repeats
    return text[start : start + length_bytes // width * width]


def _paragraph(text: str) -> str:
    return f"<p>{escape(text, quote=False)}</p>\n" if text else ""
