"""The Spark session, and the Java that it runs on."""
