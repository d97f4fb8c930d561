"""The effects of a broker's next start on a directory."""
