"""Broker start-up: the steps on each log and on the broker directory, in Kafka's order."""
