"""What was read of directories and segments, kept until their files change."""
