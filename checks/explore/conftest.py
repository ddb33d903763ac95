"""`app.py` imports marimo at once; where that is not installed, nobody looks for doctests in it."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("marimo") else ["app.py"]
