"""The entry point of the Lookup page."""

from kafkaviz.app.pages.lookup import page

page.render_page()
