"""Converts the Markdown of lessons to HTML.

Supports paragraphs, lists, headings, quotes, code blocks, **bold**, *italic*, `code` and links.
Everything else, including HTML, is escaped, because anyone may write a lesson.

    to_html("Two **pages** are `hot`")     "<p>Two <strong>pages</strong> are <code>hot</code></p>"
"""

import re
from collections.abc import Iterator
from html import escape

from kafkaviz.app.widgets.elements import broker_names
from kafkaviz.html import Html, join, tag
from kafkaviz.units import escape_controls

# kinds of Markdown blocks and how their lines begin; the first match counts
BLOCKS = (
    ("ul", re.compile(r"[-*+]\s+(.*)")),
    ("ol", re.compile(r"\d{1,9}[.)]\s+(.*)")),
    ("blockquote", re.compile(r">\s?(.*)")),
    ("heading", re.compile(r"#{1,6}\s+(.*)")),
)
FENCE = re.compile(r"(```|~~~)")
INLINE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)"
    r"|\*\*(?P<bold>\S(?:.*?\S)?)\*\*"
    r"|(?<![\w*])_(?P<under>\S(?:.*?\S)?)_(?!\w)"
    r"|\*(?P<italic>[^\s*](?:.*?[^\s*])?)\*"
    r"|\[(?P<words>[^\]]+)\]\((?P<address>https?://[^\s)]+)\)",
    re.DOTALL,
)


def to_html(text: str, heading: str = "h3") -> Html:
    """Converts a text with paragraphs and other blocks to HTML.

    Args:
        heading: the HTML element for headings of all levels.
    """
    return join(_blocks(escape_controls(text).split("\n"), heading))


def inline_html(text: str) -> Html:
    """Converts text without blocks to HTML. The result has no surrounding element."""
    return _inline(escape_controls(text))


def _blocks(lines: list[str], heading: str) -> Iterator[Html]:
    kind = ""
    block_lines = []
    rows = iter(lines)
    for line in rows:
        stripped = line.strip()
        fence = FENCE.match(stripped)
        block, content = _block_of_line(stripped)
        if kind in ("ul", "ol") and stripped and block != kind and line[:1].isspace():
            block_lines[-1] += f" {stripped}"
            continue
        if not stripped or fence or block != kind:
            yield from _close(kind, block_lines, heading)
            kind = ""
            block_lines = []
        if fence:
            code = []
            for row in rows:
                if row.strip() == fence[1]:
                    break
                code.append(row)
            yield tag("pre", tag("code", Html(escape("\n".join(code)))), tabindex=0)
        elif stripped:
            kind = block
            block_lines.append(content)
    yield from _close(kind, block_lines, heading)


def _block_of_line(line: str) -> tuple[str, str]:
    """Returns a line's kind of block ("p" for a paragraph) and the line without its marker."""
    for kind, pattern in BLOCKS:
        if match := pattern.fullmatch(line):
            return kind, match[1]
    return "p", line


def _close(kind: str, block_lines: list[str], heading: str) -> Iterator[Html]:
    if not block_lines:
        return
    if kind in ("ul", "ol"):
        yield tag(kind, *(tag("li", _inline(item)) for item in block_lines))
    elif kind == "heading":
        yield from (tag(heading, _inline(line)) for line in block_lines)
    elif kind == "blockquote":
        yield tag("blockquote", tag("p", _inline("\n".join(block_lines))))
    else:
        yield tag("p", _inline("\n".join(block_lines)))


def _inline(text: str) -> Html:
    parts = []
    end = 0
    for match in INLINE.finditer(text):
        parts += [Html(escape(text[end : match.start()])), _span(match)]
        end = match.end()
    return join((*parts, Html(escape(text[end:]))))


def _span(match: re.Match) -> str:
    if match["escaped"]:
        return match["escaped"]
    if match["code"]:
        code = match["code"].strip()
        return tag("code", Html(escape(code)), title=broker_names(code) or None)
    if match["bold"]:
        return tag("strong", _inline(match["bold"]))
    if match["words"]:
        return tag("a", _inline(match["words"]), href=match["address"])
    return tag("em", _inline(match["italic"] or match["under"]))
