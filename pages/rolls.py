"""The entry point of the Rolls page."""

from kafkaviz import workshop
from kafkaviz.app.pages.rolls import page

workshop.register()
page.render_page()
