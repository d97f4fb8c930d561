"""The entry point of the app, which opens on the Broker page."""

from kafkaviz import workshop
from kafkaviz.app.pages import broker

workshop.register()
broker.render_page()
