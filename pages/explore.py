"""The entry point of the Explore page."""

from kafkaviz import workshop
from kafkaviz.app.pages.explore import page

workshop.register()
page.render_page()
