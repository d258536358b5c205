"""Arguments as the engine takes them: arrays of one type, settings as TOML, and attributes that exist."""

import difflib
import json
import numbers
import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np

from .errors import InputError


def column(values, name: str) -> np.ndarray:
    """`values` as N numbers of type float64; complex numbers, text and other shapes raise InputError."""
    return _array(values, name, np.float64, (None,))


def vectors(values, name: str) -> np.ndarray:
    """`values` as N x 3 numbers of type float64; three numbers are one vector."""
    found = _plain(values, name)
    if found.shape == (3,):
        found = found.reshape(1, 3)
    return _array(found, name, np.float64, (None, 3))


def whole(values, name: str) -> np.ndarray:
    """`values` as whole numbers of zero or more, of type uint64."""
    found = _plain(values, name)
    if found.size == 0:
        return np.empty(0, np.uint64)
    if found.dtype.kind not in "iu":
        raise InputError(f"{name}: expected whole numbers, found {found.dtype}")
    if found.dtype.kind == "i" and found.min() < 0:
        raise InputError(f"{name}: expected numbers of zero or more, found {found.min()}")
    return _array(found, name, np.uint64, (None,))


def _plain(values, name: str) -> np.ndarray:
    try:
        found = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name}: not an array of numbers: {error}") from None
    if found.dtype.kind not in "fiub":
        raise InputError(f"{name}: expected real numbers, found {found.dtype}")
    return found


def _array(values, name: str, dtype, shape) -> np.ndarray:
    found = _plain(values, name)
    if found.ndim == 0 and shape == (None,):
        found = found.reshape(1)
    if found.ndim != len(shape) or any(want not in (None, have) for want, have in zip(shape, found.shape, strict=True)):
        expected = "(N,)" if shape == (None,) else "(N, 3)"
        raise InputError(f"{name}: expected an array of the shape {expected}, found {found.shape}")
    # Without its subclass: a Column with a unit is a plain array here.
    return np.ascontiguousarray(found, dtype=dtype).view(np.ndarray)


def toml(value) -> str:
    """`value` as TOML in one line."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, Fraction):
        return json.dumps(f"{value.numerator}/{value.denominator}")
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    raise InputError(f"a setting cannot be a {type(value).__name__}: expected a number, text, a list or a dictionary")


def settings(given: Mapping[str, object] | None) -> list[str]:
    """Settings as `section.key=value`, as `--set` of the program takes them; None values are left out."""
    return [f"{key}={toml(value)}" for key, value in (given or {}).items() if value is not None]


def existing(path) -> Path:
    """`path`, if there is a file."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    return path


def source(config: str | os.PathLike | Mapping) -> tuple[Path | None, str, Path]:
    """A configuration as the engine takes it: a file, or text with the folder of its relative paths.

    `config` is the path of a TOML file, a dictionary with its content, or its text, which has line breaks.
    """
    if isinstance(config, Mapping):
        return None, "\n".join(f"{toml(str(key))} = {toml(value)}" for key, value in config.items()), Path()
    if isinstance(config, str) and "\n" in config:
        return None, config, Path()
    return existing(config), "", Path()


class Strict:
    """Base of classes whose attributes are those that they declare: any other raises AttributeError, read or set."""

    __slots__ = ()

    def __getattr__(self, name):
        raise AttributeError(self._unknown(name))

    def __setattr__(self, name, value):
        declared = getattr(type(self), name, None)
        if declared is None:
            raise AttributeError(self._unknown(name))
        if isinstance(declared, property) and declared.fset is None:
            raise AttributeError(f"{type(self).__name__}.{name} can be read only")
        if not hasattr(declared, "__set__"):
            raise AttributeError(f"{type(self).__name__}.{name} is a method: it cannot be set")
        object.__setattr__(self, name, value)

    def _unknown(self, name: str) -> str:
        public = [known for known in dir(type(self)) if not known.startswith("_")]
        near = difflib.get_close_matches(name, public, 1)
        hint = f": did you mean {near[0]!r}?" if near else ""
        return f"{type(self).__name__} has no attribute {name!r}{hint}"
