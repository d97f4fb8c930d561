"""The entry point of the page Page cache."""

from kafkaviz.app.pages.page_cache import page

page.render_page()
