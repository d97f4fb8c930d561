"""The entry point of the Tuning page."""

from kafkaviz import workshop
from kafkaviz.app.pages.tuning import page

workshop.register()
page.render_page()
