"""Names of units as tisane writes them, for astropy."""

import re

NAMES = {"Msun": "solMass", "Mjup": "jupiterMass", "Mearth": "earthMass", "au": "AU", "day": "d"}


def astropy_unit(name):
    """The astropy unit of a name such as "Msun (km/s)^2", or None for a pure number and for units without a size."""
    from astropy import units

    if name in ("", "1"):
        return None
    if set(re.findall("[A-Za-z]+", name)) & {"M", "L", "V", "T"}:
        return None
    product = units.dimensionless_unscaled
    for factor in name.split():
        base, power = re.fullmatch(r"(.*?)(?:\^(-?\d+))?", factor).groups()
        if base.startswith("("):
            base = base[1:-1]
        product = product * units.Unit(re.sub("[A-Za-z]+", lambda word: NAMES.get(word[0], word[0]), base)) ** int(power or 1)
    return product
