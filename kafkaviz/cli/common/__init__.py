"""What every command prints with."""
