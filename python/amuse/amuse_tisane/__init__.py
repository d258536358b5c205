"""The N-body integrator tisane as a code of AMUSE."""

from .interface import Tisane, TisaneInterface

__all__ = ["Tisane", "TisaneInterface"]
