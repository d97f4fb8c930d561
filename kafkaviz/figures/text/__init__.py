"""Texts that figures, pages and commands share."""
