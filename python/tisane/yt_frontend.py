"""A yt frontend: snapshots in their own units, with a domain around the particles.

yt finds it through the entry-point group `yt.frontends`: with this package installed, `yt.load("snapshot_0001.hdf5")` is
enough. Without it yt's reader of AREPO's files opens snapshots, in their units; its reader of Gadget's opens those of
tisane 0.2.0 and older, but takes any file to be in kpc, 10^10 Msun and km/s.
"""

import h5py
import numpy as np
from yt.frontends.arepo.data_structures import ArepoHDF5Dataset
from yt.frontends.sph.fields import SPHFieldInfo

from .files import Units, open_hdf5, text


class TisaneFieldInfo(SPHFieldInfo):
    """The fields of a snapshot, with the names that yt gives such quantities."""

    known_particle_fields = (
        ("Coordinates", ("code_length", ["particle_position"], None)),
        ("Velocities", ("code_velocity", ["particle_velocity"], None)),
        ("Masses", ("code_mass", ["particle_mass"], None)),
        ("ParticleIDs", ("", ["particle_index"], None)),
        ("Potential", ("code_velocity**2", ["gravitational_potential"], None)),
        ("Acceleration", ("code_velocity**2/code_length", ["particle_acceleration"], None)),
        ("TimeStep", ("file_time", ["particle_time_step"], None)),
    )


class TisaneDataset(ArepoHDF5Dataset):
    """A snapshot of tisane. A subclass of the reader that yt has for it, so that yt prefers this one.

    `yt.load(path, **options)` takes the options of yt's Gadget reader. By default the domain is a cube around all particles,
    centred on the median of their positions, not periodic; `bounding_box` gives another. A snapshot in N-body units has no physical scale: its values are in code units
    unless `unit_base={"length": (1, "pc"), "mass": (1e4, "Msun")}` says what one unit of length and mass is; velocity and
    time follow from G = 1.
    """

    _field_info_class = TisaneFieldInfo

    def __init__(self, filename, *args, unit_base=None, unit_system=None, **kwargs):
        with open_hdf5(filename, "tisane snapshot") as file:
            self.file_units = Units.read(file["Units"])
        if unit_base is not None and not self.file_units.henon:
            raise ValueError(f"{filename}: the file says what its units are; unit_base is for N-body units")
        scale_free = self.file_units.henon and unit_base is None
        unit_system = unit_system or ("code" if scale_free else "cgs")
        super().__init__(filename, *args, unit_base=unit_base, unit_system=unit_system, **kwargs)

    @classmethod
    def _is_valid(cls, filename, *args, **kwargs):
        try:
            with h5py.File(filename, "r") as file:
                return text(file.attrs.get("format", "")) == "tisane snapshot"
        except OSError:
            return False

    def _parse_parameter_file(self):
        super()._parse_parameter_file()
        self._periodicity = (False, False, False)
        if self.domain_left_edge is None:
            self.domain_left_edge, self.domain_right_edge = self._cube()

    def _cube(self):
        """A cube around all particles, centred on the median of their positions: most of them, whatever escapes."""
        centre, half = np.empty(3), 0.0
        with open_hdf5(self.parameter_filename, "tisane snapshot") as file:
            for axis in range(3):
                values = file["PartType4/Coordinates"][:, axis]
                centre[axis] = np.median(values)
                half = max(half, np.abs(values - centre[axis]).max())
        # A particle on its edge would be outside for yt; a single one has no extent.
        half = 1.01 * half or 1.0
        return centre - half, centre + half

    def _set_code_unit_attributes(self):
        units = self.file_units
        if units.henon and self._unit_base is not None:
            length, mass = (self.quan(*self._unit_base[name]).in_cgs() for name in ("length", "mass"))
            velocity = self._velocity_of(length, mass)
        else:
            length = self.quan(units.length_in_cm, "cm")
            mass = self.quan(units.mass_in_g, "g")
            velocity = self.quan(units.velocity_in_cm_per_s, "cm/s")
        self.length_unit, self.mass_unit, self.velocity_unit = length, mass, velocity
        # What Header/Time counts in. The steps are in the user's unit of time, which may be another.
        self.time_unit = length / velocity
        step = self.time_unit if units.henon else self.quan(units.time_in_s, "s")
        self.unit_registry.add("file_time", float(step.in_mks().v), step.units.dimensions)
        self.specific_energy_unit = velocity**2
        self.magnetic_unit = self.quan(1.0, "gauss")

    def _velocity_of(self, length, mass):
        """The unit of velocity that goes with a length and a mass where G = 1."""
        from yt.utilities.physical_constants import G

        return np.sqrt(self.quan(float(G.in_cgs().v), str(G.in_cgs().units)) * mass / length).in_cgs()
