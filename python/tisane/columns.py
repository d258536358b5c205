"""Columns with units, tables of them, and what other programs make of both."""

from collections.abc import Iterator, Mapping

import numpy as np

from . import convert


class Column(np.ndarray):
    """A numpy array that knows its unit.

    Attributes: `unit`, the name of the unit, as `Msun (km/s)^2`, `1` for a pure number; `to_cgs`, its factor to cgs, 1 in
    N-body units, which have no size, and NaN in tables of results, which have the names of units alone; `description`, what
    it is. A slice keeps them. The result of arithmetic is a plain array: it has another unit, which this class does not
    work out. `quantity()` gives an astropy Quantity, which does.
    """

    unit: str
    to_cgs: float
    description: str

    def __new__(cls, values, unit="1", to_cgs=1.0, description=""):
        column = np.asarray(values).view(cls)
        column.unit, column.to_cgs, column.description = unit, float(to_cgs), description
        return column

    def __array_finalize__(self, other):
        self.unit = getattr(other, "unit", "1")
        self.to_cgs = getattr(other, "to_cgs", 1.0)
        self.description = getattr(other, "description", "")

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        def plain(values):
            return tuple(v.view(np.ndarray) if isinstance(v, Column) else v for v in values)

        if out is not None:
            kwargs["out"] = plain(out)
        return getattr(ufunc, method)(*plain(inputs), **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        result = super().__array_function__(function, types, args, kwargs)
        return result.view(np.ndarray) if isinstance(result, Column) else result

    def __reduce__(self):
        return Column, (self.view(np.ndarray), self.unit, self.to_cgs, self.description)

    def quantity(self):
        """An astropy Quantity. N-body units become units of their own, in which G = 1. Needs astropy."""
        return convert.quantity(self)


class Table(Mapping):
    """Named columns of one length: `table["energy"]`, a `Column`."""

    def __init__(self, columns: Mapping[str, Column]):
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Column:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"there is no column {name!r}; there are {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self._columns.values()), ()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.rows} rows of {', '.join(self._columns)}>"

    def to_astropy(self):
        """An astropy QTable; vectors stay N x 3. Needs astropy."""
        return convert.astropy_table(self)

    def to_pandas(self):
        """A pandas DataFrame; a vector becomes three columns, `Coordinates_x` and so on. Needs pandas."""
        return convert.pandas_frame(self)
