"""The Segment page: its head with the pin, the ruler, the facts, and the tabs below."""
