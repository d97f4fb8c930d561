"""How Kafka finds things, with every step kept."""
