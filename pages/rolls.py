"""The entry point of the Rolls page."""

from kafkaviz.app.pages.rolls import page

page.render_page()
