"""The Segment page without a browser: opened at an address, and what it sends to its figures."""

import json
import shutil
from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests.support.ruler_message import unpacked

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60


def page(
    directory: Path, partition: str | None = None, segment: int | str | None = None, **query: str
) -> AppTest:
    """The page at this address, run once."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE_S)
    at.query_params["dir"] = str(directory)
    # the session keeps the one that it began with
    at.query_params["lang"] = query.pop("lang", "en")
    at.run()
    query_fields = {"tp": partition, "segment": segment, **query}
    for name, value in query_fields.items():
        if value is not None:
            at.query_params[name] = str(value)
    at.switch_page(str(ROOT / "pages" / "segment.py")).run()
    assert [error.message for error in at.exception] == []
    return at


def html(at: AppTest) -> str:
    """All HTML of the page but its stylesheet, thin spaces as spaces."""
    bodies = (element.proto.body for element in at.get("html"))
    return "\n".join(body for body in bodies if not body.startswith("<style>")).replace(
        "\u202f", " "
    )


def sent(at: AppTest) -> tuple[dict, dict]:
    """The words and tables that the ruler is sent; empty where there is none."""
    for component in at.get("bidi_component"):
        if component.proto.component_name.endswith("ruler"):
            return unpacked(component.proto.bytes)[:2]
    return {}, {}


def copy_of(clean: Path, folder: Path, partition: str) -> Path:
    """A broker directory with one topic-partition that a test may change."""
    shutil.copytree(clean / partition, folder / partition)
    return folder


def bytes_sent(at: AppTest) -> dict | None:
    """The words that the bytes view is sent; None where it is not drawn."""
    for component in at.get("bidi_component"):
        if component.proto.component_name.endswith("bytes"):
            data = component.proto.bytes
            return json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return None
