"""The entry point of the Segment page."""

from kafkaviz import workshop
from kafkaviz.app.pages.segment import page

workshop.register()
page.render_page()
