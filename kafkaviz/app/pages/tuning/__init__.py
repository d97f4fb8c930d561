"""The Tuning page: the choice of a log, the recommended interval, and its consequences."""
