"""Ensembles: many runs of one configuration, in each of which some keys have other values."""

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _engine
from .arguments import settings as as_settings
from .arguments import source, toml
from .directory import EnsembleResult
from .errors import InputError
from .progress import Line, MembersLine


def ensemble(
    config: str | os.PathLike | Mapping,
    *,
    vary: Mapping[str, Any] | None = None,
    realisations: int | None = None,
    stop: str | None = None,
    series: bool | None = None,
    snapshots: str | None = None,
    settings: Mapping[str, Any] | None = None,
    output: str | os.PathLike | None = None,
    overwrite: bool = False,
    threads: int = 0,
    engine: str | None = None,
    progress: bool | Callable[[float, int], Any] = False,
) -> EnsembleResult:
    """Integrates many runs of one configuration, its members, and returns their tables; with the bits of `tisane run`.

        found = tisane.ensemble("cluster.toml", vary={"softening.epsilon": [0.01, 0.1]}, realisations=50)
        found.members["energy_error"]       # (100,)
        found.outcomes                      # {"finished": 100}

    `config`        the path of a TOML file, a dictionary with its content, or its text
    `vary`          values by key: a list or an array (N,), a `range`, or a rule: {"from": 1e-4, "to": 1, "count": 5, "log": True},
                    {"uniform": [0, 1]}, {"log_uniform": [1e-3, 1]}, {"normal": [0, 2]}, {"files": "models/*.dat"}. Lists, ranges and
                    files are combined each with each. Numbers are in the units of the configuration. Replaces all of `[ensemble.vary]`
    `realisations`  the number of runs of each combination, with the seeds of the model that follow
    `stop`          "end", "dissolution" or "escape": what ends a member before `t_end`
    `series`        True for a row for each member and output too
    `snapshots`     "none", "end" or "all": the snapshots of each member that are kept in `output`
    `settings`      any further settings of the configuration by their keys, as {"run.t_end": 5, "ensemble.seed": 2}
    `output`        the directory of the files; without it they go to a temporary one, which is removed once the tables have been read
    `overwrite`     True to replace the run or the ensemble in `output`
    `threads`       the number of members that the cores integrate at a time; 0 is one for each core, unless the configuration has another
    `engine`        "cpu", "cuda", "cuda:1" for another GPU; by default that of the configuration
    `progress`      True for a line on the screen, or a function that is called every so often with the number of members that have
                    ended, the shares of those in progress added, and the number of all

    What is not given is that of the configuration. Members that fail have the outcome "failed" and their `problem`, and the others go on;
    a mistake in the configuration of a member is a ConfigError with the key before anything is written. Ctrl-C stops with the states of
    the members in `output`; `tisane resume DIRECTORY` continues, and `tisane.load` then reads the tables. run.log stays empty.
    """
    name, _, number = str(engine or "").partition(":")
    options = {
        **(settings or {}),
        "ensemble.realisations": realisations,
        "ensemble.stop": stop,
        "ensemble.series": series,
        "ensemble.snapshots": snapshots,
        "force.engine": name or None,
        "force.device": int(number) if number.isdecimal() else number or None,
    }
    found = as_settings(options)
    if vary is not None:
        found.append(f"ensemble.vary={_rules(vary)}")
    if isinstance(threads, (bool, np.bool_)) or not isinstance(threads, (int, np.integer)) or threads < 0:
        raise InputError(f"threads: expected a whole number of zero or more, found {threads!r}")
    given = source(config)
    report = MembersLine() if progress is True else progress or None
    work = (given, found, overwrite, int(threads), report)
    try:
        if output is not None:
            return _integrate(os.fspath(output), False, *work)
        with tempfile.TemporaryDirectory(prefix="tisane-") as folder:
            result = _integrate(str(Path(folder) / "ensemble"), True, *work)
            result._detach()
        return result
    finally:
        if isinstance(report, Line):
            report.finish()


def _integrate(directory: str, temporary: bool, given, found: list[str], overwrite: bool, threads: int, report) -> EnsembleResult:
    where, _ = _engine.ensemble(given, found, (directory, temporary), overwrite, threads, report)
    result = EnsembleResult(where)
    if report is not None:
        report(float(result.summary["ended"]), result.summary["members"])
    return result


def _rules(vary: Mapping[str, Any]) -> str:
    """The values of `[ensemble.vary]` as TOML."""
    if not isinstance(vary, Mapping):
        raise InputError(f"vary: expected a dictionary with values by key, found {type(vary).__name__}")
    return _table({key: _values(key, values) for key, values in vary.items()})


def _table(items: Mapping[str, str]) -> str:
    """A table of values that are TOML already."""
    return "{" + ", ".join(f"{toml(str(key))} = {value}" for key, value in items.items()) + "}"


def _values(key: str, values: Any) -> str:
    """The values of one key as TOML."""
    try:
        if isinstance(values, range) and values and values.step > 0:
            return toml({"from": values[0], "to": values[-1], "step": values.step})
        if isinstance(values, Mapping):
            return toml(values)
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
            raise InputError(f"expected a list, a range, an array or a dictionary, found {type(values).__name__}")
        return toml(list(values))
    except InputError as error:
        raise InputError(f"vary[{key!r}]: {error}") from None
