"""A run: the directory that `tisane run` wrote."""

import json
from pathlib import Path

from .snapshot import Snapshot
from .table import Table


def load(directory):
    """Opens the directory of a run, finished or under way.

    Raises FileNotFoundError if it is not one.
    """
    return Run(directory)


class Run:
    """A run.

    snapshots    list of Snapshot in order of time; values are read when they are asked for
    diagnostics  Table of the rows of diagnostics
    summary      dict of summary.json, or None as long as the run has not ended
    """

    def __init__(self, directory):
        self.directory = Path(directory)
        if not (self.directory / "diagnostics.csv").is_file():
            raise FileNotFoundError(f"{directory}: expected the directory of a run, found no diagnostics.csv in it")

    @property
    def snapshots(self):
        paths = sorted((self.directory / "snapshots").glob("snapshot_*.hdf5"), key=lambda path: (len(path.name), path.name))
        return [Snapshot(path) for path in paths]

    @property
    def diagnostics(self):
        return Table(self.directory / "diagnostics.csv", self.directory / "diagnostics.hdf5")

    @property
    def summary(self):
        path = self.directory / "summary.json"
        return json.loads(path.read_text()) if path.is_file() else None

    def __repr__(self):
        return f"<tisane run {str(self.directory)!r}, {len(self.snapshots)} snapshots>"
