"""The Workshop's additions to the app, and the app without it."""

import ast
from pathlib import Path

import pytest

from kafkaviz import workshop
from kafkaviz.app import frame, registry, server
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import go_to
from kafkaviz.workshop.class_seat import ClassFeed
from tests.support.pages import open_page, page_html


@pytest.fixture
def no_workshop(monkeypatch):
    """Returns the app as if no script had registered the Workshop."""
    pages = dict(registry.PAGES)
    monkeypatch.setattr(workshop, "register", lambda: None)
    for entries in (registry.PAGES, registry.MIDDLEWARE, registry.BACKGROUND_WORK):
        monkeypatch.delitem(entries, workshop.WORKSHOP_PAGE)
    yield
    monkeypatch.undo()
    registry.PAGES.clear()
    registry.PAGES.update(pages)  # in their order


def test_registering_again_changes_nothing():
    before = list(registry.PAGES), list(registry.MIDDLEWARE), list(registry.BACKGROUND_WORK)
    workshop.register()
    after = list(registry.PAGES), list(registry.MIDDLEWARE), list(registry.BACKGROUND_WORK)
    assert before == after


def test_the_workshop_is_the_second_page_and_has_keys_and_private_parameters():
    assert list(frame.pages())[:2] == ["Broker", "Workshop"]
    left_out, _ = frame._link(Location(""))
    assert left_out == ["answers", "given", "notes", "dir"]
    assert [load() for load in registry.MIDDLEWARE.values()] == [ClassFeed]


@pytest.mark.usefixtures("no_workshop", "starts")
def test_the_app_works_without_the_workshop():
    page = open_page()
    links = [link.proto.page for link in page.get("page_link")]
    assert "segment" in links and "workshop" not in links
    page.button(key="kv_keys").click().run()
    assert "Explore" in page_html(page) and "Workshop" not in page_html(page)
    assert frame._link(Location("")) == (["dir"], "")


@pytest.mark.usefixtures("no_workshop")
def test_go_to_finds_no_lesson_without_the_workshop():
    addresses = {name: {} for name in frame.pages()}
    assert go_to.find_entries(Location(""), "probe", addresses) == []
    assert go_to.find_entries(Location(""), "segment", addresses)[0].page == "Segment"


@pytest.mark.usefixtures("no_workshop")
def test_the_server_needs_no_workshop(monkeypatch):
    served = []

    class App:
        def __init__(self, script, middleware, lifespan):
            served.append([kind.cls for kind in middleware])

        def run(self, config):
            pass

    monkeypatch.setattr(server.st, "App", App)
    monkeypatch.setattr(server, "send_at_once", lambda: None)
    monkeypatch.setattr("sys.argv", [])
    server.main([])
    assert server.HostCheck in served[0] and ClassFeed not in served[0]


def test_no_page_imports_lessons_to_register_them():
    """The first page does not get slower for a page that is not open."""
    tree = ast.parse(Path(workshop.__file__).read_text())
    names = [
        f"{node.module}.{alias.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert "kafkaviz.app.registry" in names
    assert not any(name.startswith("kafkaviz.workshop") for name in names)


@pytest.mark.usefixtures("starts")
def test_learn_opens_the_workshop():
    """The first page shows the sample; one of its three cards is called Learn."""
    (learn,) = [link.proto for link in open_page().get("page_link") if link.proto.label == "Learn"]
    assert learn.page == "workshop"
