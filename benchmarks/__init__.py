"""What kafkaviz is fast or slow at: one bench_*.py a question, each measured against something else in the same run."""

HEAD = ("What", "Measured", "Against, in the same run", "Ratio")


def row(*cells: str) -> str:
    """One row of a Markdown table, with the cells of HEAD."""
    return f"| {' | '.join(cells)} |"
