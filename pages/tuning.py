"""The entry point of the Tuning page."""

from kafkaviz.app.pages.tuning import page

page.render_page()
