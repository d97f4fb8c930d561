"""The entry point of the page Explore."""

from kafkaviz.app.pages.explore import page

page.render_page()
