"""The entry point of the Segment page."""

from kafkaviz.app.pages.segment import page

page.render_page()
