"""The next start of a broker: its steps on each log, in Kafka's order, and on its directory."""
