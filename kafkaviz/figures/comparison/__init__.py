"""Two directories compared: the map of the partitions, two logs on one axis, batches in pairs."""
