"""The Page cache page. page.py arranges its parts; the other modules draw them."""
