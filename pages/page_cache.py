"""The entry point of the Page cache page."""

from kafkaviz import workshop
from kafkaviz.app.pages.page_cache import page

workshop.register()
page.render_page()
