"""What is wrong, and how it is kept: findings, their rows and the badges they give a partition."""
