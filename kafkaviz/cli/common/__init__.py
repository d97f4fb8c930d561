"""What several commands share: options, what they print with, and `simulate --live`."""
