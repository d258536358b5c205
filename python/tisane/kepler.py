"""Kepler orbits: from elements to positions and back, for whole arrays."""

from typing import NamedTuple

import numpy as np

from .errors import InputError


class Orbits(NamedTuple):
    """Osculating orbits, each an array of one shape. Angles in radians.

    `a` semi-major axis (length; below 0 for a hyperbola), `e` eccentricity, `inc` inclination, `Omega` longitude of the ascending
    node, `omega` argument of the pericentre, `f` true anomaly, `M` mean anomaly, `P` period (time; nan where unbound).
    """

    a: np.ndarray
    e: np.ndarray
    inc: np.ndarray
    Omega: np.ndarray
    omega: np.ndarray
    f: np.ndarray
    M: np.ndarray
    P: np.ndarray


def orbits(mu, pos, vel) -> Orbits:
    """The orbits of bodies about one another.

    `mu` is G times the sum of both masses, a number or (N,); `pos` and `vel` are relative, (N, 3). Periods are in units of length /
    velocity. Where an angle is undefined (no
    inclination, no eccentricity) it is counted from the x axis.
    """
    pos, vel = np.asarray(pos, float), np.asarray(vel, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        r, v2, rv = np.linalg.norm(pos, axis=-1), (vel * vel).sum(-1), (pos * vel).sum(-1)
        h = np.cross(pos, vel)
        h_norm = np.linalg.norm(h, axis=-1)
        a = 1.0 / (2.0 / r - v2 / mu)
        towards = ((v2 - mu / r)[..., None] * pos - rv[..., None] * vel) / np.broadcast_to(mu, r.shape)[..., None]
        e = np.linalg.norm(towards, axis=-1)
        inc = np.arctan2(np.hypot(h[..., 0], h[..., 1]), h[..., 2])
        flat = np.hypot(h[..., 0], h[..., 1]) <= 1e-15 * h_norm
        node = np.where(flat[..., None], [1.0, 0.0, 0.0], np.stack([-h[..., 1], h[..., 0], 0.0 * r], axis=-1))
        node = node / np.linalg.norm(node, axis=-1)[..., None]
        circular = e < 1e-15
        peri = np.where(circular[..., None], node, towards / np.where(circular, 1.0, e)[..., None])
        pole = h / h_norm[..., None]

        def angle(start, end):
            return np.mod(np.arctan2((np.cross(start, end) * pole).sum(-1), (start * end).sum(-1)), 2 * np.pi)

        big_omega = np.mod(np.arctan2(node[..., 1], node[..., 0]), 2 * np.pi)
        omega, f = angle(node, peri), angle(peri, pos / r[..., None])
        bound = e < 1.0
        half = np.tan(f / 2)
        eccentric = 2 * np.arctan(np.sqrt((1 - e) / (1 + e)) * half)
        hyperbolic = 2 * np.arctanh(np.sqrt((e - 1) / (e + 1)) * half)
        mean = np.where(bound, np.mod(eccentric - e * np.sin(eccentric), 2 * np.pi), e * np.sinh(hyperbolic) - hyperbolic)
        period = np.where(bound, 2 * np.pi * np.sqrt(np.abs(a) ** 3 / mu), np.nan)
    return Orbits(a, e, inc, big_omega, omega, f, mean, period)


def relative_state(mu: float, *, a, e=0.0, inc=0.0, Omega=0.0, omega=0.0, f=None, M=None):
    """Position and velocity, (3,) each, of a body relative to the one that it orbits.

    `mu` is G times the sum of both masses; the elements are those of `Orbits`. The place on the orbit is the true anomaly `f` or the
    mean anomaly `M`, by default the pericentre.
    """
    given = {"mu": mu, "a": a, "e": e, "inc": inc, "Omega": Omega, "omega": omega, "f": f or 0.0, "M": M or 0.0}
    for name, value in given.items():
        if not np.isscalar(value) or not np.isfinite(value):
            raise InputError(f"{name}: expected a finite number, found {value!r}")
    if e < 0 or e == 1 or (e < 1) != (a > 0):
        raise InputError(f"a = {a}, e = {e}: expected a > 0 and 0 <= e < 1, or a < 0 and e > 1")
    if f is not None and M is not None:
        raise InputError("give the true anomaly f or the mean anomaly M, not both")
    if M is not None:
        f = _true_anomaly(M, e)
    f = f or 0.0
    if e * np.cos(f) <= -1:
        raise InputError(f"f = {f}: no such point is on the hyperbola with e = {e}")
    p = a * (1 - e * e)
    r, speed = p / (1 + e * np.cos(f)), np.sqrt(mu / p)
    x, v = np.array([r * np.cos(f), r * np.sin(f)]), speed * np.array([-np.sin(f), e + np.cos(f)])
    (co, so), (ci, si), (cw, sw) = ((np.cos(angle), np.sin(angle)) for angle in (Omega, inc, omega))
    plane = np.array(
        [
            [co * cw - so * sw * ci, -co * sw - so * cw * ci],
            [so * cw + co * sw * ci, -so * sw + co * cw * ci],
            [sw * si, cw * si],
        ]
    )
    return plane @ x, plane @ v


def _true_anomaly(mean: float, e: float) -> float:
    if e < 1:
        mean = np.mod(mean + np.pi, 2 * np.pi) - np.pi
        low, high = mean - e, mean + e
    else:
        low, high = sorted((0.0, np.arcsinh(mean / (e - 1))))

    def excess(x):
        return x - e * np.sin(x) - mean if e < 1 else e * np.sinh(x) - x - mean

    # Bisection cannot fail; it ends when the interval no longer halves.
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    if e < 1:
        return 2 * np.arctan(np.sqrt((1 + e) / (1 - e)) * np.tan(middle / 2))
    return 2 * np.arctan(np.sqrt((e + 1) / (e - 1)) * np.tanh(middle / 2))
