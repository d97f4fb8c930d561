"""What only `kafkaviz simulate` uses."""
