"""The command line.

One file a command, each with add_parser(subparsers) and run(args) -> exit status.
"""

INTERRUPTED = 130  # the status of a command that Ctrl-C ended, as a shell has it
