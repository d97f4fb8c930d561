"""Logs in object stores: s3, gs, abfs and hdfs."""
