"""Reads logs in object stores and on HDFS: s3, gs, abfs and hdfs."""
