"""The Rolls page. page.py arranges the parts of the page; the other modules draw them."""
