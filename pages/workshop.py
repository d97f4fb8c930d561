"""The entry point of the page Workshop."""

from kafkaviz.app.pages.workshop import page

page.render_page()
