"""The entry point of the Explore page."""

from kafkaviz.app.pages.explore import page

page.render_page()
