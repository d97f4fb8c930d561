"""The entry point of the Page cache page."""

from kafkaviz.app.pages.page_cache import page

page.render_page()
