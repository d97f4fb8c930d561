"""Segment: the three files of a segment, how they point at each other, and what is in them."""

from kafkaviz.app.pages.segment import page

page.render_page()
