"""The entry point of the Compare page."""

from kafkaviz.app.pages.compare import page

page.render_page()
