"""What `kafkaviz dump` prints.

The words of Kafka's DumpLogSegments 4.3.1, and the same content as JSON lines.
"""
