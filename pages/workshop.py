"""The entry point of the Workshop page."""

from kafkaviz.app.pages.workshop import page

page.render_page()
