"""What was broken in a copy of a log, and what came of it, in words and to scale."""
