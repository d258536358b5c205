"""The directories of runs and ensembles."""

import json
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from . import figures
from ._toml import loads
from .columns import Table
from .files import JOURNALS, FormatError, Snapshot, open_hdf5, read_journal, text

#: The file that makes a directory that of an ensemble.
ENSEMBLE = "ensemble.json"
#: The file that makes a directory that of a study.
STUDY = "study.toml"


class Snapshots(Sequence):
    """The snapshots of a run in order of time; each is opened when it is asked for."""

    def __init__(self, paths: list[Path]):
        self.paths = paths

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Snapshots(self.paths[index])
        return Snapshot(self.paths[index])

    def __repr__(self) -> str:
        return f"<{len(self)} snapshots>"


def parsed(path: Path, parse: Callable[[str], dict], language: str) -> dict:
    """The content of a text file; what is wrong with it becomes a `FormatError` with the path."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FormatError(f"{path}: not {language}, cut off or damaged: {error}") from error


def read_summary(path: Path) -> dict:
    """The content of summary.json, which is written at the end."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file: the run is under way, or was killed")
    return parsed(path, json.loads, "JSON")


def _runs_beside(directory: Path) -> str:
    """The names of the runs beside a directory that does not exist, for its message."""
    above = directory.parent
    known = ("config.toml", "run.log", "summary.json", ENSEMBLE)
    found = above.iterdir() if above.is_dir() else ()
    runs = sorted(path.name for path in found if any((path / name).is_file() for name in known))
    if not runs:
        return ""
    return f". In {above}/: {', '.join(runs[:8])}{', …' if len(runs) > 8 else ''}"


class Run:
    """A run of tisane: what is in its output directory. Everything is read when it is first asked for.

    `snapshots`   a sequence of `Snapshot`; a warning says which numbers are missing
    `diagnostics` a `Table` with a row an output, from diagnostics.hdf5; while the run goes on, diagnostics.csv may have more
    `cluster`     a `Table` with a row an output: the structure of the cluster, from cluster.hdf5
    `binaries`    a `Table` with a row for each binary and hierarchy at each output, from binaries.hdf5
    `events`      a `Table` with a row an event, from events.hdf5
    `stars`       a `Table` with a row for each collision and escape, from stars.hdf5, of a run with [collisions] or [escapers]
    `stellar`     a `Table` with a row for each change of type of a star, from stellar.hdf5, of a run with [stellar_evolution]
    `encounters`  a `Table` with a row for each change of a subsystem, from encounters.hdf5, of a run with [encounters]
    `summary`     summary.json as a dictionary; there when the run has ended or stopped on request, not while it goes on
    `config`      config.toml as a dictionary: every parameter, defaults written out
    """

    def __init__(self, directory: str | os.PathLike):
        self.directory = Path(directory)
        if not self.directory.is_dir():
            raise FileNotFoundError(f"{self.directory}: there is no such run{_runs_beside(self.directory)}")
        if not (self.directory / "config.toml").is_file():
            raise FormatError(f"{self.directory}: not the output directory of a run: it has no config.toml")

    @cached_property
    def snapshots(self) -> Snapshots:
        folder = self.directory / "snapshots"
        # By number: 10000 comes after 9999.
        names = ((re.fullmatch(r"snapshot_([0-9]+)\.hdf5", path.name), path) for path in folder.glob("snapshot_*.hdf5"))
        found = dict(sorted((int(name[1]), path) for name, path in names if name))
        gap = [number for number in range(max(found, default=0)) if number not in found]
        if gap:
            numbers = ", ".join(map(str, gap[:9])) + (", …" if len(gap) > 9 else "")
            warnings.warn(f"{folder}: number {numbers} missing, so that places in the sequence are not numbers", stacklevel=3)
        return Snapshots(list(found.values()))

    @cached_property
    def diagnostics(self) -> Table:
        return read_journal(self.directory / "diagnostics.hdf5", "tisane diagnostics")

    @cached_property
    def cluster(self) -> Table:
        return read_journal(self.directory / "cluster.hdf5", "tisane cluster")

    @cached_property
    def binaries(self) -> Table:
        return read_journal(self.directory / "binaries.hdf5", "tisane binaries")

    @cached_property
    def events(self) -> Table:
        return read_journal(self.directory / "events.hdf5", "tisane events")

    @cached_property
    def encounters(self) -> Table:
        return read_journal(self.directory / "encounters.hdf5", "tisane encounters")

    @cached_property
    def stars(self) -> Table:
        return read_journal(self.directory / "stars.hdf5", "tisane stars")

    @cached_property
    def stellar(self) -> Table:
        return read_journal(self.directory / "stellar.hdf5", "tisane stellar")

    @cached_property
    def summary(self) -> dict:
        return read_summary(self.directory / "summary.json")

    @cached_property
    def config(self) -> dict:
        return parsed(self.directory / "config.toml", loads, "TOML")

    def plot(self, name: str | None = None, theme: str = "light") -> figures.Figure | dict[str, figures.Figure]:
        """A figure of `tisane plot` by its name, as `structure` or `diagnostics`, which Jupyter shows; all of them by name
        without one. `theme` is light or dark.

        InputError with the reason where the run has no such figure.
        """
        return figures.plot(self.directory, name, theme)

    def __repr__(self) -> str:
        return f"<Run {self.config['run']['name']} in {self.directory}: {len(self.snapshots)} snapshots>"


class EnsembleResult:
    """An ensemble of runs: its tables. Everything is read when it is first asked for.

    `directory` the directory of its files; None if they were temporary
    `members`   a `Table` with a row for each member that has ended, in their order: `member`, its settings by their keys, `outcome`, `n`,
                `time` (unit: time), `energy` at the start (unit: mass velocity²), `energy_error`, `max_energy_error` and others, numbers
                of steps, `wall_seconds`, `state_sha256`, and the `problem` of those that failed
    `series`    a `Table` with a row for each member and output: `member`, `time`, energies, the structure of the cluster; None unless
                `ensemble.series` is true
    `stars`     a `Table` with a row for each contact, merger and escape: `member`, and the columns of `stars` of a run; None unless the
                configuration has `[collisions]` or `[escapers]`
    `stellar`   a `Table` with a row for each change of type of a star: `member`, and the columns of `stellar` of a run; None unless the
                configuration has `[stellar_evolution]`
    `encounters` a `Table` with a row for each change of a subsystem: `member`, and the columns of `encounters` of a run; None unless
                members have subsystems
    `outcomes`  the number of members by outcome, as {"finished": 99, "failed": 1}
    `summary`   summary.json as a dictionary; there when the ensemble has ended or stopped, not while it goes on
    `config`    config.toml as a dictionary: every parameter that the members have in common, defaults written out
    """

    def __init__(self, directory: str | os.PathLike):
        self.directory: Path | None = Path(directory)
        if not (self.directory / ENSEMBLE).is_file():
            raise FormatError(f"{self.directory}: not the output directory of an ensemble: it has no {ENSEMBLE}")

    def _file(self, name: str) -> Path:
        if self.directory is None:
            raise FileNotFoundError(f"{name}: the files of this ensemble were temporary; output= keeps them")
        return self.directory / name

    def _detach(self) -> None:
        """Reads everything, as the directory is about to be removed."""
        for name in ("members", "series", "stars", "stellar", "encounters", "summary", "config"):
            getattr(self, name)
        self.directory = None

    @cached_property
    def members(self) -> Table:
        return read_journal(self._file("members.hdf5"), "tisane table")

    @cached_property
    def series(self) -> Table | None:
        if not self.config["ensemble"].get("series", False):
            return None
        return read_journal(self._file("series.hdf5"), "tisane table")

    def _journal(self, name: str) -> Table | None:
        if not self._file(f"{name}.csv").is_file():
            return None
        return read_journal(self._file(f"{name}.hdf5"), "tisane table")

    @cached_property
    def stars(self) -> Table | None:
        return self._journal("stars")

    @cached_property
    def stellar(self) -> Table | None:
        return self._journal("stellar")

    @cached_property
    def encounters(self) -> Table | None:
        return self._journal("encounters")

    @property
    def outcomes(self) -> dict[str, int]:
        return dict(Counter(self.members["outcome"].tolist()).most_common())

    @cached_property
    def summary(self) -> dict:
        return read_summary(self._file("summary.json"))

    @cached_property
    def config(self) -> dict:
        return parsed(self._file("config.toml"), loads, "TOML")

    def plot(self, name: str | None = None, theme: str = "light") -> figures.Figure | dict[str, figures.Figure]:
        """A figure of `tisane plot` by its name, as `Run.plot`."""
        return figures.plot(self._file("plots").parent, name, theme)

    def snapshots(self, member: int) -> Snapshots:
        """The snapshots of a member in order of time, of an ensemble that keeps them (`snapshots="end"` or `"all"`)."""
        return Snapshots(sorted(self._file("snapshots").glob(f"member_{member:06d}_*.hdf5")))

    def __repr__(self) -> str:
        name = f"<EnsembleResult {self.config['run']['name']}" + (f" in {self.directory}" if self.directory else "")
        try:
            counts = ", ".join(f"{count} {outcome}" for outcome, count in self.outcomes.items())
            return f"{name}: {self.members.rows} of {self.summary['members']} members have ended: {counts or 'none'}>"
        except FileNotFoundError:
            return f"{name}: under way, or killed>"


class StudyResult(Mapping):
    """A study: its tables by the names of their files, `table`, and `laws` and `choice` or `fits` where it has them. Each is read
    when it is first asked for.

    `directory` the directory of its files
    `config`    study.toml as a dictionary: the sweep with every default written out
    """

    def __init__(self, directory: str | os.PathLike):
        self.directory = Path(directory)
        self._tables: dict[str, Table | None] = {path.stem: None for path in sorted(self.directory.glob("*.hdf5"))}

    def __getitem__(self, name: str) -> Table:
        if name not in self._tables:
            raise KeyError(f"there is no table {name!r}; there are {', '.join(self._tables) or 'none'}")
        table = self._tables[name]
        if table is None:
            table = self._tables[name] = read_journal(self.directory / f"{name}.hdf5", "tisane table")
        return table

    def __iter__(self):
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    @cached_property
    def config(self) -> dict:
        return parsed(self.directory / STUDY, loads, "TOML")

    def __repr__(self) -> str:
        return f"<StudyResult {self.directory}: {', '.join(self._tables) or 'no tables yet'}>"


def load(path: str | os.PathLike) -> Run | EnsembleResult | StudyResult | Snapshot | Table:
    """Opens the directory of a run (`Run`), an ensemble (`EnsembleResult`) or a study (`StudyResult`), a snapshot (`Snapshot`), or the HDF5 file of a journal or a
    table, such as diagnostics.hdf5 or members.hdf5 (`Table`).

    FileNotFoundError if it is not there, FormatError if tisane did not write it or a later version did.
    """
    path = Path(path)
    if (path / ENSEMBLE).is_file():
        return EnsembleResult(path)
    if (path / STUDY).is_file():
        return StudyResult(path)
    if path.is_dir() or not path.exists():
        return Run(path)
    with open_hdf5(path, "tisane snapshot", *JOURNALS) as file:
        kind = text(file.attrs["format"])
    return Snapshot(path) if kind == "tisane snapshot" else read_journal(path)
