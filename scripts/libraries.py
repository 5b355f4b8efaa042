"""Says which library of scripts/requirements.txt a script lacks, and how to get it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def needed() -> Iterator[None]:
    """Stands around imports: a missing library ends the program with a message instead of a traceback."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").split(".")[0]
        script = Path(sys.argv[0]).name
        requirements = Path(__file__).with_name("requirements.txt")
        print(
            f"{script} needs the Python library {library}: {sys.executable} -m pip install -r {requirements}",
            file=sys.stderr,
        )
        sys.exit(2)
