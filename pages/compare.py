"""The entry point of the page Compare."""

from kafkaviz.app.pages.compare import page

page.render_page()
