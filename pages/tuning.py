"""Tuning: what another interval would have cost this log."""

from kafkaviz.app.pages.tuning import page

page.render_page()
