"""Logs in object stores and on other machines: s3, gs, abfs, hdfs and sftp."""
