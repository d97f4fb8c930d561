"""The Spark session and the Java it runs on."""
