"""A page on paper.

Without the bars around it, and wide enough for every figure as it is on the screen.
"""

from functools import cache
from pathlib import Path

import streamlit as st


def apply_print_style() -> None:
    """The style of this page when it is printed."""
    st.html(f"<style>{_style()}</style>")


@cache
def _style() -> str:
    return Path(__file__).parents[1].joinpath("print.css").read_text(encoding="utf-8")
