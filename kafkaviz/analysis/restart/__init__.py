"""The effects that a broker's next start has on its log directories."""
