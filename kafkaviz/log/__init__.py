"""Floor 3: files on disk, opened read-only and closed at once."""
