"""The entry point of the app, which opens on the Broker page."""

from kafkaviz.app.pages.broker import page

page.render_page()
