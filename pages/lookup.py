"""The entry point of the Lookup page."""

from kafkaviz import workshop
from kafkaviz.app.pages.lookup import page

workshop.register()
page.render_page()
