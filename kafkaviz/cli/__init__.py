"""The command line. Each command is a module with `add_parser(subparsers)` and `run(args)`.

`run` returns the exit status.
"""

INTERRUPTED = 130  # the status that a shell reports after Ctrl-C
