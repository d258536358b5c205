"""The diagnostics of a run as columns."""

import numpy as np
import h5py

from .snapshot import text
from .units import astropy_unit


class Table:
    """Columns by name: numpy arrays of equal length. `table.unit(name)` names a column's unit, "" where it is not known."""

    def __init__(self, csv, hdf5=None):
        # A row in the course of being written has no end of line yet.
        content = csv.read_text()
        lines = [line for line in content[: content.rfind("\n") + 1].splitlines() if not line.startswith("#")]
        self.names = lines[0].split(",")
        rows = [line.split(",") for line in lines[1:]]
        self._columns = {}
        for k, name in enumerate(self.names):
            words = [row[k] for row in rows]
            counts = all(word.isdigit() for word in words)
            self._columns[name] = np.array([int(word) if counts else float(word) for word in words])
        self._units = {}
        if hdf5 is not None and hdf5.is_file():
            with h5py.File(hdf5, "r") as file:
                for name, dataset in file["Diagnostics"].items():
                    self._units[name] = text(dataset.attrs.get("unit", ""))

    def __getitem__(self, name):
        return self._columns[name]

    def __len__(self):
        return len(self._columns[self.names[0]])

    def keys(self):
        return list(self.names)

    def unit(self, name):
        return self._units.get(name, "") if name in self._columns else self._columns[name]

    def to_pandas(self):
        """A pandas DataFrame with the same columns."""
        import pandas

        return pandas.DataFrame(self._columns)

    def to_astropy(self):
        """An astropy QTable; columns in units that astropy does not know, such as Henon's, are plain numbers."""
        from astropy.table import QTable

        table = QTable()
        for name, values in self._columns.items():
            unit = astropy_unit(self.unit(name))
            table[name] = values if unit is None else values * unit
        return table

    def __repr__(self):
        return f"<tisane diagnostics, {len(self)} rows of {len(self.names)} columns>"
