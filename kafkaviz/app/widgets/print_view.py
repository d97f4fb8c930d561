"""The style of a printed page: no bars around it, and wide enough for every figure."""

from functools import cache
from pathlib import Path

import streamlit as st


def apply_print_style() -> None:
    st.html(f"<style>{_style()}</style>")


@cache
def _style() -> str:
    return Path(__file__).parents[1].joinpath("print.css").read_text(encoding="utf-8")
