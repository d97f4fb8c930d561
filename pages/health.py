"""The entry point of the page Health."""

from kafkaviz.app.pages.health import page

page.render_page()
