"""The output of `kafkaviz dump`: that of Kafka's DumpLogSegments 4.3.1, or JSON lines."""
