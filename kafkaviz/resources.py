"""The paths of files next to the package: app.py, pages/, .streamlit/, sample_data/.

They are at the top of a checkout, and in a folder of the package in a wheel.
"""

from pathlib import Path

PACKAGE = Path(__file__).parent
WHEEL_FOLDER = PACKAGE / "checkout"  # the build puts them there
IS_WHEEL = WHEEL_FOLDER.is_dir()
ROOT = WHEEL_FOLDER if IS_WHEEL else PACKAGE.parent
APP = ROOT / "app.py"
SAMPLES = ROOT / "sample_data"
