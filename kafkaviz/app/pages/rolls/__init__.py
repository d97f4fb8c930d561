"""What the Rolls page is made of: the workload and its settings, the log that they give, what is
drawn of one, on disk too.
"""
