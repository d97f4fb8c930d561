"""The message to the ruler, read as ruler.js reads it."""

import json

import numpy as np


def unpacked(message: bytes) -> tuple[dict, dict[str, dict[str, list[int]]], np.ndarray]:
    """Returns the words, the tables and the overview of a message, as ruler/message.js reads them."""
    length = int.from_bytes(message[:8], "little")
    words, body = json.loads(message[8 : 8 + length]), message[8 + length :]
    tables = {}
    for name, columns in words["columns"].items():
        numbers = np.frombuffer(body[slice(*words["sections"][name])], "<i8")
        numbers = numbers.reshape(len(columns), -1)
        tables[name] = {column: row.tolist() for column, row in zip(columns, numbers, strict=True)}
    return words, tables, np.frombuffer(body[slice(*words["sections"]["overview"])], np.uint8)
