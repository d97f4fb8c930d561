"""A button that prints the page."""

from kafkaviz.app.frontend import register_component

_print_page = register_component("print_page")


def print_page(label: str) -> None:
    _print_page(key="kv_print_page", data={"label": label}, width="content", height="content")
