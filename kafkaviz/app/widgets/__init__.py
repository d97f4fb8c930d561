"""Widgets that several pages share: pieces of HTML, figures, tables, notices, progress strips."""
