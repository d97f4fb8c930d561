"""The entry point of the Health page."""

from kafkaviz import workshop
from kafkaviz.app.pages.health import page

workshop.register()
page.render_page()
