"""A page without a browser: opened at an address, its controls moved, its words read."""

import json
from functools import cache
from pathlib import Path

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

# each AppTest reads what every installed package tells of itself, half of a page's time
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
ROOT = Path(__file__).parents[2]
BROKER = "broker"  # app.py
PAGES = (BROKER, *sorted(path.stem for path in (ROOT / "pages").glob("*.py")))
PATIENCE_S = 120


def open_page(name: str = BROKER, **query: object) -> AppTest:
    """Opens the page of this file in pages/ as a link to this address would.

    A list is a parameter that is given several times.
    """
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE_S)
    for key, value in query.items():
        at.query_params[key] = value if isinstance(value, list) else str(value)
    if name != BROKER:
        at.switch_page(str(ROOT / "pages" / f"{name}.py"))
    return assert_no_exception(at.run())


def assert_no_exception(at: AppTest) -> AppTest:
    messages = [error.message for error in at.exception]
    assert messages == [], messages
    return at


def page_html(at: AppTest) -> str:
    """Returns all HTML of the page except its stylesheet, with no-break spaces as spaces."""
    return "\n".join(
        element.proto.body.replace("\u00a0", " ")
        for element in at.get("html")
        if not element.proto.body.startswith("<style>")
    )


def component_data(at: AppTest, name: str) -> dict:
    """Returns the JSON that is sent to the component of this name."""
    return next(
        json.loads(component.proto.json)
        for component in at.get("bidi_component")
        if component.proto.component_name.endswith(name)
    )


def query_value(at: AppTest, name: str) -> str | None:
    """Returns a parameter of the address, which AppTest keeps as a list or as text."""
    value = at.query_params.get(name)
    return value[0] if isinstance(value, list) else value


def slider(at: AppTest, label: str):
    return next(slider for slider in at.select_slider if slider.label == label)


def box(at: AppTest, label: str):
    return next(selectbox for selectbox in at.selectbox if selectbox.label == label)


def move_slider(at: AppTest, label: str, value: str) -> AppTest:
    return assert_no_exception(slider(at, label).set_value(value).run())


def select_option(at: AppTest, label: str, value: str) -> AppTest:
    return assert_no_exception(box(at, label).select(value).run())


def press_button(at: AppTest, key: str) -> AppTest:
    return assert_no_exception(
        next(button for button in at.button if button.key == key).click().run()
    )


def press_label(at: AppTest, label: str) -> AppTest:
    return assert_no_exception(
        next(button for button in at.button if button.label == label).click().run()
    )
