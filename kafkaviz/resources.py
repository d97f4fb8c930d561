"""Where the files are that stand beside the package: app.py, pages/, .streamlit/, sample_data/.

A checkout has them at its top, a wheel in a folder of the package.
"""

from pathlib import Path

PACKAGE = Path(__file__).parent
WHEEL_FOLDER = PACKAGE / "checkout"  # the build puts them there
IS_WHEEL = WHEEL_FOLDER.is_dir()
ROOT = WHEEL_FOLDER if IS_WHEEL else PACKAGE.parent
APP = ROOT / "app.py"
SAMPLES = ROOT / "sample_data"
