"""The libraries of scripts/requirements.txt, imported only once they are used: --help works without them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any


class Library:
    """Stands for a module: `np = Library("numpy")`. Submodules that have to be imported by themselves are named
    behind it: `chess = Library("chess", "chess.pgn")`."""

    _known: list[Library] = []

    def __init__(self, name: str, *submodules: str) -> None:
        self._names = (name, *submodules)
        Library._known.append(self)

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(self._load(), attribute)
        setattr(self, attribute, value)
        return value

    def _load(self) -> Any:
        """The module. A missing one ends the program with a message instead of a traceback."""
        try:
            return [importlib.import_module(name) for name in self._names][0]
        except ModuleNotFoundError as error:
            library = (error.name or "").split(".")[0]
            script = Path(sys.argv[0]).name
            requirements = Path(__file__).with_name("requirements.txt")
            print(
                f"{script} needs the Python library {library}: {sys.executable} -m pip install -r {requirements}",
                file=sys.stderr,
            )
            sys.exit(2)


def load() -> None:
    """Imports all that were named: to be called before anything that takes time, not after it."""
    for library in Library._known:
        library._load()
