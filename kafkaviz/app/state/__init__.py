"""What a page knows beyond one run: its address, its session, and the jobs of this server."""
