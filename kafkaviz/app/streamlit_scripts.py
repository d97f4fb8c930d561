"""Paths of Streamlit's own scripts, whose file names contain a hash."""

from collections.abc import Iterable
from pathlib import Path

import streamlit as st

FOLDER = Path(st.__file__).parent / "static"
# the largest scripts that pages use
CHART = "PlotlyChart"
TABLE = "DataFrame"


def script_paths(names: Iterable[str]) -> list[str]:
    """Returns the scripts with these names that exist, relative to the address of the app."""
    return [
        script.relative_to(FOLDER).as_posix()
        for name in names
        for script in sorted((FOLDER / "static" / "js").glob(f"{name}.*.js"))
    ]
