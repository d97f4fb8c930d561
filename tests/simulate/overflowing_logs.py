"""Small logs, made from a seed, in which some offsets exceed the 31 bits of an index entry."""

import random
from collections.abc import Mapping
from typing import Any

from kafkaviz.units import file_stem

BATCH_BYTES = 1572  # of a batch of one record at the start of the first segment
SMALL_BYTES = (78, 255)  # the range of a batch of three records in the second
JUMPS = (1000, 2**31 - 4, 2**31 - 2, 2**31 - 1, 2**31, 2**31 + 5, 2**32, 2**40)


def make_log(seed: int, batches: Mapping[str, bytes]) -> dict[str, Any]:
    """Returns the files of a partition directory, and how it is loaded.

    Args:
        batches: the files of orders-0 of the field cases.
    """
    chance = random.Random(seed)
    big = batches[f"{file_stem(0)}.log"][:BATCH_BYTES]
    small = batches[f"{file_stem(23)}.log"][slice(*SMALL_BYTES)]
    base = chance.choice((0, 0, 5))
    offset, log = base, b""
    for _ in range(chance.choice((1, 2, 4, 8, 20))):
        batch = chance.choice((big, big, small))
        log += offset.to_bytes(8, "big") + batch[8:]
        offset += 1 if batch is big else 3
        kind = chance.random()
        if kind < 0.3:
            offset += chance.choice(JUMPS)
        elif kind < 0.35:
            offset = max(0, offset - chance.choice((1, 2, 3, 2**31)))
    if chance.random() < 0.15:
        log = log[: -chance.choice((1, 30, 100))]
    files = {f"{file_stem(base)}.log": log}
    kind = chance.random()
    if kind < 0.5:
        files[f"{file_stem(base)}.index"] = b""
    if kind < 0.3:
        files[f"{file_stem(base)}.timeindex"] = b""
    if chance.random() < 0.3:
        later = offset + 10
        files[f"{file_stem(later)}.log"] = later.to_bytes(8, "big") + big[8:]
        files[f"{file_stem(later)}.index"] = b""
    recovery_point = chance.choice((0, 0, 2**31, offset))
    return {"files": files, "clean": chance.random() < 0.4, "recovery_point": recovery_point}
