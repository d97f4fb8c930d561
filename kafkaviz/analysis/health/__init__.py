"""What is wrong with a directory: findings, their codec, and the health that they make."""
