"""The damage done to a copy of a log, and its consequences, in words and to scale."""
