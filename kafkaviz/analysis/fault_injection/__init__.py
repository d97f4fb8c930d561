"""A copy of a log that is damaged on purpose, its next start, and what a consumer gets then."""
