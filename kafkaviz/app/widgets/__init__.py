"""What several pages show: small pieces of HTML, figures with their tables, notices, progress."""
