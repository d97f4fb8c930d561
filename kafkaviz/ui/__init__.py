"""What the pages share, and nothing else does: the frame, the pickers, the cached doors, the small parts, the look."""
