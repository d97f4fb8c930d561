"""The Health page without a browser: opened at an address, and what it sends to its figures."""

import json
from pathlib import Path

from streamlit.testing.v1 import AppTest

from kafkaviz.app.state.checkups import checkups

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120


def opened(directory: Path, **query: str) -> AppTest:
    """The page at this address, as it is at first."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE_S)
    at.query_params["dir"] = str(directory)
    at.run()
    for name, value in query.items():
        at.query_params[name] = value
    return at.switch_page(str(ROOT / "pages" / "health.py")).run()


def page(directory: Path, **query: str) -> AppTest:
    """The same, once its checkup is over."""
    at = opened(directory, **query)
    for known in checkups().jobs():
        assert known.ends_within(PATIENCE_S)
    at.run()
    assert [error.message for error in at.exception] == []
    return at


def sent(at: AppTest) -> dict | None:
    """What the component of findings is sent."""
    for component in at.get("bidi_component"):
        if component.proto.component_name.endswith("findings"):
            return json.loads(component.proto.json)
    return None
