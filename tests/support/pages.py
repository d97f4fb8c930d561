"""A page without a browser: opened at an address, its controls moved, its words read; every run
without an error.
"""

from functools import cache
from pathlib import Path

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

# each AppTest reads what every installed package tells of itself, half of a page's time
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
ROOT = Path(__file__).parents[2]
BROKER = "broker"  # app.py
PATIENCE_S = 120


def open_page(name: str = BROKER, **query: object) -> AppTest:
    """The page of this file in pages/, as a link to this address opens it.

    A list is a parameter that is there several times.
    """
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE_S)
    for key, value in query.items():
        at.query_params[key] = value if isinstance(value, list) else str(value)
    if name != BROKER:
        at.switch_page(str(ROOT / "pages" / f"{name}.py"))
    return assert_no_exception(at.run())


def assert_no_exception(at: AppTest) -> AppTest:
    """The same page, once it is known to show no exception."""
    messages = [error.message for error in at.exception]
    assert messages == [], messages
    return at


def page_html(at: AppTest) -> str:
    """All HTML of the page but its stylesheet, a space that keeps words together as any other."""
    return "\n".join(
        element.proto.body.replace("\u00a0", " ")
        for element in at.get("html")
        if not element.proto.body.startswith("<style>")
    )


def query_value(at: AppTest, name: str) -> str | None:
    """A parameter of the address; AppTest keeps it as a list or as text, by who set it."""
    value = at.query_params.get(name)
    return value[0] if isinstance(value, list) else value


def slider(at: AppTest, label: str):
    """The slider of this name."""
    return next(slider for slider in at.select_slider if slider.label == label)


def box(at: AppTest, label: str):
    """The selectbox of this name."""
    return next(selectbox for selectbox in at.selectbox if selectbox.label == label)


def move_slider(at: AppTest, label: str, value: str) -> AppTest:
    """A slider put somewhere else."""
    return assert_no_exception(slider(at, label).set_value(value).run())


def select_option(at: AppTest, label: str, value: str) -> AppTest:
    """Another option of a selectbox."""
    return assert_no_exception(box(at, label).select(value).run())


def press_button(at: AppTest, key: str) -> AppTest:
    """A button pressed."""
    return assert_no_exception(
        next(button for button in at.button if button.key == key).click().run()
    )
