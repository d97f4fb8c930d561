"""The Health page, and the rebuilt indexes that it offers."""
