"""The entry point of the Disk page."""

from kafkaviz import workshop
from kafkaviz.app.pages.disk import page

workshop.register()
page.render_page()
