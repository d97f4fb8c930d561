"""Tiered storage: uploads, the segments that stay locally, and remote retention."""
