"""A lesson without a fault, which a test may spoil."""

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
