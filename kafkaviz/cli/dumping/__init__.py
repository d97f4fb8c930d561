"""What `kafkaviz dump` prints: the words of Kafka's DumpLogSegments 4.3.1, and the same content as
JSON lines.
"""
