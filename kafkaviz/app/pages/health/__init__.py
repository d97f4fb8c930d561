"""The Health page: findings of a checkup, the release they assume, and rebuilt indexes."""
