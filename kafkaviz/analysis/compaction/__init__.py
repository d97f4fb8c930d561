"""Which compacted logs the cleaner takes next, what holds it back, and what one cleaning leaves."""
