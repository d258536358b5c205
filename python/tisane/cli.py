"""The program `tisane`, as the command of this package: the same program as the one built by itself."""

import signal
import sys
import sysconfig
from pathlib import Path

from . import _engine


def main() -> int:
    """Does what the command line says; returns the exit code."""
    # Signals are the program's: Python's handler would raise KeyboardInterrupt once it has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    command = Path(sys.argv[0])
    if command.suffix == ".py" or not command.is_file():
        command = Path(sysconfig.get_path("scripts")) / "tisane"
    # Output that Python holds back comes before the program's.
    sys.stdout.flush()
    sys.stderr.flush()
    return _engine.program(command, ["tisane", *sys.argv[1:]])
