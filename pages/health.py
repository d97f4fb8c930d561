"""The entry point of the Health page."""

from kafkaviz.app.pages.health import page

page.render_page()
