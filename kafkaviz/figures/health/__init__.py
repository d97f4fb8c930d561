"""The view of findings, and of the steps of the next broker start-up."""
