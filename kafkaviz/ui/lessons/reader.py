"""Reads the file of a lesson, as grammar.py tells it: line by line, with every fault on its
line.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast

from kafkaviz.ui.lessons.grammar import HEAD, NAME, Block, Fault, Key, Kind, Lesson, NoValue, Step

FENCE, OPENS = "```", re.compile(r"```kafkaviz(?:\s+(.*?))?\s*")
LINE = re.compile(r"([A-Za-z][A-Za-z0-9.-]*):(?:\s+(.*\S))?\s*")
MOST_STEPS, FEWEST_STEPS = 6, 3


def parse(text: str, file: str, kinds: Mapping[str, Kind]) -> tuple[Lesson | None, list[Fault]]:
    """The lesson of a file, or None and all that is wrong with it. file: its name, as faults give
    it; kinds: what blocks there are.
    """
    return _Reader(text, file, kinds).lesson()


class _Reader:
    """One pass over the lines of a file."""

    def __init__(self, text: str, file: str, kinds: Mapping[str, Kind]) -> None:
        self._lines = re.split(r"\r?\n", text.removesuffix("\n"))
        self._file, self._kinds = file, kinds
        self.faults: list[Fault] = []

    def lesson(self) -> tuple[Lesson | None, list[Fault]]:
        named = NAME.fullmatch(self._file.rpartition("/")[2])
        if not named:
            self._wrong(
                1,
                (
                    "a lesson's file is called name.en.md or name.zh.md: small letters, digits and "
                    "-, then its language"
                ),
            )
        at, head = self._head()
        steps = tuple(self._steps(at))
        self._judge(head, steps)
        if self.faults:
            return None, sorted(self.faults, key=lambda fault: fault.line)
        name = cast(re.Match[str], named)  # a file of another name has a fault
        short = head["short"] or head["title"]
        return Lesson(
            name[1],
            name[2],
            head["title"],
            short,
            head["about"],
            head["minutes"],
            head["order"],
            steps,
            self._file,
        ), []

    def _wrong(self, line: int, what: str) -> None:
        self.faults.append(Fault(self._file, line, what))

    def _judge(self, head: Mapping[str, Any], steps: tuple[Step, ...]) -> None:
        """What no single line shows: how many steps, whether the minutes add up."""
        if not FEWEST_STEPS <= len(steps) <= MOST_STEPS:
            self._wrong(
                1,
                (
                    f"a lesson has {FEWEST_STEPS} to {MOST_STEPS} steps, each under a heading ##; "
                    f"this one has {len(steps)}"
                ),
            )
        told = sum(step.minutes for step in steps)
        if told and head["minutes"] and told != head["minutes"]:
            self._wrong(
                1,
                (
                    f"the notes of its steps add up to {told:g} minutes, its head says "
                    f"{head['minutes']:g}"
                ),
            )

    def _head(self) -> tuple[int, dict[str, Any]]:
        """The number of the line behind the head, and what it says."""
        if not self._lines or self._lines[0].strip() != "---":
            self._wrong(
                1,
                "a lesson begins with a line ---, then title:, about: and minutes:, then --- again",
            )
            return 0, {name: key.default for name, key in HEAD.items()}
        end = next(
            (number for number, line in enumerate(self._lines[1:], 1) if line.strip() == "---"),
            None,
        )
        if end is None:
            self._wrong(1, "the head of the lesson does not end: a second line --- is missing")
            end = len(self._lines) - 1
        return end + 1, self._values(HEAD, self._said(1, end), 1, "the head of a lesson")[0]

    def _steps(self, at: int) -> Iterator[Step]:
        """From line number `at` (counted from 0) to the end."""
        title, line, parts = None, 0, []
        while at < len(self._lines):
            text = self._lines[at]
            if text.startswith("## "):
                if title is not None:
                    yield self._step(title, line, parts)
                title, line, parts = text[3:].strip(), at + 1, []
                at += 1
            elif text.startswith(FENCE):
                at = self._fence(at, parts, title is not None)
            else:
                self._prose(at, text, parts, title is not None)
                at += 1
        if title is not None:
            yield self._step(title, line, parts)

    def _step(self, title: str, line: int, parts: list) -> Step:
        joined = []
        for one in parts:
            if isinstance(one, str) and joined and isinstance(joined[-1], str):
                joined[-1] += "\n" + one
            else:
                joined.append(one)
        step = Step(
            title,
            line,
            tuple(
                one if isinstance(one, Block) else one.strip()
                for one in joined
                if isinstance(one, Block) or one.strip()
            ),
        )
        for kind in ("predict", "exercise"):
            for second in step.blocks(kind)[1:]:
                self._wrong(
                    second.line,
                    (
                        f"a step has one block {kind} at most: its answer is kept in the address "
                        "by the step's number"
                    ),
                )
        if not step.parts:
            self._wrong(line, "this step is empty")
        return step

    def _prose(self, at: int, text: str, parts: list, is_in_step: bool) -> None:
        if is_in_step:
            parts.append(text)
        elif text.strip():
            self._wrong(at + 1, "text stands in a step: a heading ## comes first")

    def _fence(self, at: int, parts: list, is_in_step: bool) -> int:
        """Takes a fenced block; the number of the line behind it."""
        opened = OPENS.fullmatch(self._lines[at])
        ends = (
            number
            for number in range(at + 1, len(self._lines))
            if self._ends(self._lines[number], bool(opened))
        )
        stop = next(ends, len(self._lines))
        end = stop if stop < len(self._lines) and self._lines[stop].rstrip() == FENCE else None
        if end is None:
            self._wrong(at + 1, "this block does not end: a line ``` is missing")
            return stop
        if not opened:
            parts.extend(self._lines[at : end + 1])
        elif not is_in_step:
            self._wrong(at + 1, "a block stands in a step: a heading ## comes first")
        elif block := self._block(opened[1] or "", at, end):
            parts.append(block)
        return end + 1

    @staticmethod
    def _ends(line: str, is_block: bool) -> bool:
        """Whether a fence ends here: at ```, and of a block, which cannot hold them, at the next
        fence or step too.
        """
        return line.rstrip() == FENCE or (is_block and line.startswith((FENCE, "## ")))

    def _block(self, name: str, at: int, end: int) -> Block | None:
        kind = self._kinds.get(name)
        if kind is None:
            known = ", ".join(sorted(self._kinds))
            self._wrong(
                at + 1,
                f"there is no block {name}; there are {known}"
                if name
                else f"a block says its kind: {known}",
            )
            return None
        said = self._said(at + 1, end)
        values, others = self._values(kind.keys, said, at + 1, f"a block {name}", kind.others)
        return Block(
            name,
            at + 1,
            MappingProxyType(values),
            tuple((key, text) for key, text, _ in said),
            MappingProxyType(others),
        )

    def _said(self, first: int, end: int) -> list[tuple[str, str, int]]:
        """The lines of key: value as (key, text, number of the line from 1)."""
        said: list[tuple[str, str, int]] = []
        for number in range(first, end):
            text = self._lines[number]
            found = LINE.fullmatch(text)
            if text.startswith("  ") and said:
                key, before, line = said[-1]
                said[-1] = key, f"{before} {text.strip()}".strip(), line
            elif found:
                said.append((found[1], found[2] or "", number + 1))
            elif text.strip():
                self._wrong(
                    number + 1,
                    (
                        "a line here is key: value; a value goes on in lines that begin with two "
                        "spaces"
                    ),
                )
        return said

    def _values(
        self,
        keys: Mapping[str, Key],
        said: list[tuple[str, str, int]],
        line: int,
        where: str,
        others: Key | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        found: dict[str, Any] = {
            name: () if key.many else key.default for name, key in keys.items()
        }
        spare: dict[str, Any] = {}
        for name, text, number in said:
            key = keys.get(name) or others
            if key is None:
                self._wrong(number, f"{where} has no key {name}; it takes {', '.join(keys)}")
            elif (
                name in keys
                and not key.many
                and any(name == one for one, _, before in said if before < number)
            ):
                self._wrong(number, f"{name} is said twice")
            elif (value := self._parsed(key, name, text, number)) is not None:
                if name not in keys:
                    spare[name] = value
                else:
                    found[name] = (*found[name], value) if key.many else value
        for name, key in keys.items():
            if key.needed and not any(name == one for one, _, _ in said):
                self._wrong(line, f"{where} needs the key {name}")
        return found, spare

    def _parsed(self, key: Key, name: str, text: str, line: int) -> Any:
        if not text:
            self._wrong(line, f"{name} has no value")
            return None
        try:
            return key.parse(text)
        except NoValue as fault:
            self._wrong(line, f"{name} is {fault}, not {text[:40]}")
            return None
