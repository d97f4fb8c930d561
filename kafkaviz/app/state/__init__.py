"""State that outlives one run of a page: the address, the session, and the jobs of this server."""
