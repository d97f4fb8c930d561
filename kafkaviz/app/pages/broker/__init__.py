"""The Broker page: the path form, the contents of the directory, the segment map and the table."""
