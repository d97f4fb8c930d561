"""What redraws itself alone, a fragment, lies in no other: Streamlit 1.67 cannot take that back
from under it.

ForwardMsgQueue.clear forgets what a fragment has not sent yet when that runs again, but keeps what
those inside it have not: a browser is told of things in containers it never heard of, and the page
goes blank ("Bad delta path index").
"""

import pytest
from streamlit.runtime.fragment import MemoryFragmentStorage

from tests.app.fakes import FakeStarts
from tests.support.pages import open_page

PAGES = ("segment", "lookup", "page_cache", "rolls", "tuning", "health", "explore", "workshop")


@pytest.fixture
def parents(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Of each fragment that a page registers, the one around it."""
    parents_seen: list[str | None] = []
    register = MemoryFragmentStorage.register

    def noted(self, key, fragment, *, parent_fragment_id=None, **how) -> None:
        parents_seen.append(parent_fragment_id)
        register(self, key, fragment, parent_fragment_id=parent_fragment_id, **how)

    monkeypatch.setattr(MemoryFragmentStorage, "register", noted)
    return parents_seen


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_no_fragment_lies_in_another(starts: FakeStarts, parents: list[str | None], page: str):
    """On each page as it opens, of a topic-partition of the sample."""
    open_page(page, tp="payments-0")
    assert [parent for parent in parents if parent] == []
