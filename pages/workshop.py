"""The entry point of the Workshop page."""

from kafkaviz import workshop
from kafkaviz.workshop.page import page

workshop.register()
page.render_page()
