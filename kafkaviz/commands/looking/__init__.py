"""What only `kafkaviz lookup` uses."""
