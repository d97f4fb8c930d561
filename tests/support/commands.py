"""Commands run in this process."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from kafkaviz.__main__ import main


def text_of(*command: object, status: int = 0) -> str:
    """Runs a command that ends with this status, and returns its output."""
    with redirect_stdout(_stream()) as out:
        assert main([*map(str, command)]) == status
    return _written(out)


def json_of(*command: object, status: int = 0) -> Any:
    return json.loads(text_of(*command, "--json", status=status))


def refusal_of(*command: object) -> str:
    """Runs a command that is refused with status 2, and returns the one line that it prints."""
    with redirect_stdout(_stream()) as out, redirect_stderr(_stream()) as err:
        try:
            status = main([*map(str, command)])
        except SystemExit as stop:
            status = stop.code
    lines = _written(err).splitlines(keepends=True)
    # a simulation first says how it writes
    lines = [line for line in lines if not line.startswith("writing as Kafka ")]
    assert (status, _written(out), len(lines)) == (2, "", 1), lines
    return lines[0]


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    return stream.buffer.getvalue().decode()
