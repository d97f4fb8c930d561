"""The tour has every picture that its script takes, and no other; they stay small."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = {file.stem: file.stat().st_size for file in (DOCS / "tour").glob("*.webp")}
MAX_BYTES = 3_000_000


def test_every_picture_is_shown_and_every_page_has_one():
    """In the tour's text, and in the list of make screenshots."""
    names = re.findall(r"\]\(tour/([\w-]+)\.webp\)", (DOCS / "tour.md").read_text(encoding="utf-8"))
    assert sorted(names) == sorted(PICTURES)
    pytest.importorskip(
        "playwright", reason="needs playwright: pip install -r requirements-dev.txt"
    )
    from docs.screenshots import SHOTS
    from kafkaviz import workshop
    from kafkaviz.app.registry import PAGES

    workshop.register()
    assert sorted(SHOTS) == sorted(PICTURES)
    assert {page.path for page in PAGES.values()} == {
        shot.path.strip("/") for shot in SHOTS.values()
    }


def test_a_clone_stays_quick():
    """Three megabytes for all of them."""
    assert 0 < sum(PICTURES.values()) <= MAX_BYTES
