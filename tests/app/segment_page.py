"""Opens the Segment page without a browser, and returns the data of its figures."""

import json
import shutil
from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests.support.pages import open_page, page_html
from tests.support.ruler_message import unpacked


def page(
    directory: Path, partition: str | None = None, segment: int | str | None = None, **query: str
) -> AppTest:
    """The page at this address, run once."""
    place = {"tp": partition, "segment": segment}
    given = {name: value for name, value in place.items() if value is not None}
    return open_page("segment", dir=directory, **given, **query)


def spaced_html(at: AppTest) -> str:
    """Returns all HTML of the page except its stylesheet, with thin spaces as spaces."""
    return page_html(at).replace("\u202f", " ")


def sent(at: AppTest) -> tuple[dict, dict]:
    for component in at.get("bidi_component"):
        if component.proto.component_name.endswith("ruler"):
            return unpacked(component.proto.bytes)[:2]
    return {}, {}


def copy_of(clean: Path, folder: Path, partition: str) -> Path:
    shutil.copytree(clean / partition, folder / partition)
    return folder


def bytes_sent(at: AppTest) -> dict | None:
    """Returns the data of the bytes view, or None where it is not drawn."""
    for component in at.get("bidi_component"):
        if component.proto.component_name.endswith("bytes"):
            data = component.proto.bytes
            return json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return None
