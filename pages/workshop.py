"""The entry point of the Workshop page."""

from kafkaviz.workshop.page import page

page.render_page()
