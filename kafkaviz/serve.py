"""python -m kafkaviz.serve [PORT]: serves the app and the Workshop, as `kafkaviz app` does."""

import sys

from kafkaviz import workshop
from kafkaviz.app import server

if __name__ == "__main__":
    workshop.register()
    server.main(sys.argv[1:])
