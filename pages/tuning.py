"""The entry point of the Tuning page."""

from kafkaviz import workshop
from kafkaviz.app.pages import tuning

workshop.register()
tuning.render_page()
