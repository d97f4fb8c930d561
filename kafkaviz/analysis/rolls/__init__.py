"""The causes and times of segment rolls."""
