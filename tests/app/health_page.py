"""Opens the Health page without a browser, and returns the data of its figures."""

import json
from pathlib import Path

from streamlit.testing.v1 import AppTest

from kafkaviz.app.state.check_jobs import check_jobs
from tests.support.pages import PATIENCE_S, assert_no_exception, open_page


def page(directory: Path, **query: str) -> AppTest:
    """Returns the page at this address once its check is over."""
    at = open_page("health", dir=directory, **query)
    for known in check_jobs().jobs():
        assert known.wait_until_over(PATIENCE_S)
    return assert_no_exception(at.run())


def sent(at: AppTest) -> dict | None:
    """Returns what was sent about the findings and about the next start, None if nothing was."""
    message = {}
    for component in at.get("bidi_component"):
        if component.proto.component_name.endswith("findings"):
            message |= json.loads(component.proto.json)
    return message or None
