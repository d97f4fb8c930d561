"""The entry point of the app, which opens on the Broker page."""

from kafkaviz import workshop
from kafkaviz.app.pages.broker import page

workshop.register()
page.render_page()
