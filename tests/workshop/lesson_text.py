"""A lesson without a fault, which a test may spoil, and the parts of the included lessons."""

from kafkaviz.workshop import lessons
from kafkaviz.workshop.lessons.grammar import KINDS, Lesson, LessonBlock, LessonStep

GOOD = """---
title: A tenth lesson
about: Written without Python.
minutes: 2
---

## First

Some text with `code`.

```kafkaviz stepper
set: five
target: 21
```

## Second

```kafkaviz predict
ask: Which one
  of these?
choice: this
right: that
reveal: **That.**
```

## Third

```python
## no heading, and no block
```

```kafkaviz notes
minutes: 2
say: one
say: two
```
"""

# the right rule of the exercise on the ceiling
RIGHT = (
    "if slot >= 0 and key(slot) = target then slot else if slot + 1 < entries then slot + 1 else "
    "none"
)


def lesson(name: str, language: str = "en") -> Lesson:
    return next(lesson for lesson in lessons.lessons(language)[0] if lesson.name == name)


def step(name: str, number: int, language: str = "en") -> LessonStep:
    """Returns a step of a lesson, from 1."""
    return lesson(name, language).steps[number - 1]


def figure(name: str, number: int, kind: str) -> LessonBlock:
    """Returns the first block of this kind in a step."""
    return step(name, number).blocks(kind)[0]


def prose(name: str, number: int, language: str = "en") -> str:
    """Returns all that a step says outside of its blocks."""
    parts = step(name, number, language).parts
    return " ".join(part for part in parts if isinstance(part, str))


def right(name: str, number: int, language: str = "en") -> str:
    """Returns the right choice of a step's question."""
    (question,) = step(name, number, language).blocks("predict")
    return next(text for text, is_right in question.choices if is_right)


def block(kind: str, **values: object) -> LessonBlock:
    """Returns a block with these keys; an underscore stands for a hyphen."""
    keys = KINDS[kind].keys.items()
    defaults = {name: () if key.is_repeatable else key.default for name, key in keys}
    given = {name.replace("_", "-"): value for name, value in values.items()}
    return LessonBlock(kind, 1, defaults | given, tuple(map(str, given.items())))
