"""The entry point of the Compare page."""

from kafkaviz import workshop
from kafkaviz.app.pages.compare import page

workshop.register()
page.render_page()
