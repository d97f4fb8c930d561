"""What the first page of a server needs is imported beside it."""

import subprocess
import sys

CODE = """
import sys
from kafkaviz.app import first_page
assert not {"pandas", "plotly.graph_objs"} & set(sys.modules)
first_page.prepare_in_background().join()
print({"pandas", "plotly.graph_objs", "plotly.graph_objs._heatmap"} - set(sys.modules))
"""


def test_libraries_of_the_first_page_are_imported():
    """In a process of its own, where nobody has imported them."""
    printed = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=False
    )
    assert (printed.stdout, printed.stderr) == ("set()\n", "")
