"""Lookup: follow one offset or one timestamp through the indexes to its record, step by step."""

from kafkaviz.app.pages.lookup import page

page.render_page()
