"""Files on disk, opened read-only and closed at once."""
