"""Snapshots of tisane in yt: `yt.load` finds this through the entry point `yt.frontends`.

yt's own Gadget reader takes kpc, 1e10 Msun and km/s for granted and wants a box; this one takes the units from the file and a
cube around the particles as the domain. In Henon units, which have no size, code units are 1 g, 1 cm and 1 cm/s."""

import h5py
import numpy as np
from yt.frontends.gadget.api import GadgetFieldInfo, GadgetHDF5Dataset

from .snapshot import PARTICLES, text


class TisaneFieldInfo(GadgetFieldInfo):
    known_particle_fields = GadgetFieldInfo.known_particle_fields + (
        ("Potential", ("code_velocity**2", ["particle_potential"], None)),
        ("Acceleration", ("code_velocity**2/code_length", ["particle_acceleration"], None)),
        ("TimeStep", ("s", ["particle_timestep"], None)),
    )


class TisaneDataset(GadgetHDF5Dataset):
    _field_info_class = TisaneFieldInfo

    def __init__(self, filename, dataset_type="gadget_hdf5", unit_base=None, bounding_box=None, **more):
        with h5py.File(filename, "r") as file:
            units = file["Units"].attrs
            if unit_base is None:
                unit_base = {
                    "length": (float(units["UnitLength_in_cm"]), "cm"),
                    "mass": (float(units["UnitMass_in_g"]), "g"),
                    "velocity": (float(units["UnitVelocity_in_cm_per_s"]), "cm/s"),
                }
            if bounding_box is None:
                positions = file[PARTICLES]["Coordinates"][...]
                low, high = positions.min(axis=0), positions.max(axis=0)
                half = 0.51 * max(np.max(high - low), np.finfo("f4").tiny)
                bounding_box = [[c - half, c + half] for c in (low + high) / 2]
        super().__init__(filename, dataset_type, unit_base=unit_base, bounding_box=bounding_box, **more)

    @classmethod
    def _is_valid(cls, filename, *args, **kwargs):
        try:
            with h5py.File(filename, "r") as file:
                return text(file.attrs.get("format", "")) == "tisane snapshot"
        except OSError:
            return False
