"""What a broker directory holds."""
