"""Tiered storage: what is uploaded, what stays locally, and what remote retention deletes."""
