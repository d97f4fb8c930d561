"""The entry point of the Health page."""

from kafkaviz import workshop
from kafkaviz.app.pages import health

workshop.register()
health.render_page()
