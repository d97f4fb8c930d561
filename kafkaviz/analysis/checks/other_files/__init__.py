"""The checks of files other than .log, .index and .timeindex, one module per kind of file."""
