"""Parts of sentences for figures, pages and commands."""
