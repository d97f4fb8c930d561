"""The effects of the next broker start-up on the log directories."""
