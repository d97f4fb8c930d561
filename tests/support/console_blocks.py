"""The commands in the console blocks of a document, with the output below them."""

import re

BLOCK = re.compile(r"^```(console|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LEFT_OUT = "..."


def commands(block: str) -> list[tuple[str, list[str]]]:
    """Returns (command, expected lines) for each command of a console block."""
    blocks: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            blocks.append((line[2:], []))
        elif blocks:
            blocks[-1][1].append(line)
    return blocks


def missing(expected: list[str], lines: list[str]) -> list[str]:
    """Returns the expected lines that the output lacks in this order."""
    left = iter(lines)
    return [
        line
        for line in expected
        if line.strip() not in ("", LEFT_OUT)
        and line.rstrip() not in (line_left.rstrip() for line_left in left)
    ]
