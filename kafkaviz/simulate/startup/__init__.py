"""What the next start of a broker does: to one log, in Kafka's order, and to its directory."""
