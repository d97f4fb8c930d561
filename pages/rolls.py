"""The entry point of the page Rolls."""

from kafkaviz.app.pages.rolls import page

page.render_page()
