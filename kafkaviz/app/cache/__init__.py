"""Results of reading directories and segments, kept until their files change."""
