"""What keeps a segment, and until when."""
