"""Streamlit's own scripts, by name: its static files carry a hash in theirs."""

from collections.abc import Iterable
from pathlib import Path

import streamlit as st

FOLDER = Path(st.__file__).parent / "static"
CHART, TABLE = "PlotlyChart", "DataFrame"  # the largest that pages use


def script_paths(names: Iterable[str]) -> list[str]:
    """Where the browser finds them, from the address of the app; those that Streamlit has."""
    return [
        script.relative_to(FOLDER).as_posix()
        for name in names
        for script in sorted((FOLDER / "static" / "js").glob(f"{name}.*.js"))
    ]
