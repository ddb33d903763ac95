# SymPy's own annotations contradict what it does (Basic where it returns Expr), so it is taken as untyped.
from typing import Any

def __getattr__(name: str) -> Any: ...
