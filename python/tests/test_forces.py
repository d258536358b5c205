"""Forces of given sources at any points."""

import re

import numpy as np
import pytest

import tisane

RNG = np.random.default_rng(7)
M, X, V = RNG.uniform(size=50) / 50, RNG.normal(size=(50, 3)), RNG.normal(size=(50, 3))


def direct(m, x, v, points, velocities, eps):
    dx, dv = x[None] - points[:, None], v[None] - velocities[:, None]
    s2 = (dx * dx).sum(-1) + eps**2
    with np.errstate(divide="ignore", invalid="ignore"):
        inv = np.where(s2 > 0, m / s2**1.5, 0.0)[..., None]
        jerk = inv * (dv - 3 * ((dx * dv).sum(-1) / s2)[..., None] * dx)
    return (inv * dx).sum(1), jerk.sum(1), -(m / np.sqrt(s2)).sum(1)


def test_forces_are_those_of_the_direct_sum():
    points, velocities = RNG.normal(size=(9, 3)), RNG.normal(size=(9, 3))
    found = tisane.forces(M, X, V, points=points, point_velocities=velocities, softening=0.1)
    for one, other in zip(found, direct(M, X, V, points, velocities, 0.1), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    acc, jerk, pot = tisane.forces(M, X, V, softening=0.1)
    expected = direct(M, X, V, X, V, 0.1)
    np.testing.assert_allclose(acc, expected[0], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(jerk, expected[1], rtol=1e-11, atol=1e-12)
    # Without its own potential.
    np.testing.assert_allclose(pot, expected[2] + M / 0.1, rtol=1e-11)
    assert not acc.flags.writeable and acc.shape == jerk.shape == (50, 3) and pot.shape == (50,)


def modes():
    """All precision modes, as the message about an unknown one lists them."""
    with pytest.raises(tisane.InputError) as error:
        tisane.Forces(mode="?")
    return re.search(r"there are (.*)", str(error.value))[1].strip(".").split(", ")


@pytest.mark.parametrize("mode", modes())
@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_every_mode(mode, device):
    exact = tisane.forces(M, X, V, softening=0.1)
    found = tisane.forces(M, X, V, softening=0.1, mode=mode, device=device)
    np.testing.assert_allclose(found.acc, exact.acc, rtol=1e-3, atol=1e-5)


def test_sources_are_held_and_changed():
    engine = tisane.Forces(softening=0.05)
    assert len(engine) == 0
    engine.set(M, X, V)
    changed = X.copy()
    changed[[3, 7]] += 1
    engine.set_some([3, 7], M[[3, 7]], changed[[3, 7]], V[[3, 7]])
    found = engine.evaluate(changed, V, exclude=np.arange(50))
    expected = tisane.forces(M, changed, V, softening=0.05)
    assert all((one == other).all() for one, other in zip(found, expected, strict=True)) and len(engine) == 50


def test_mistakes_are_named():
    with pytest.raises(tisane.InputError, match="there is no \"f16\"; there are .*mixed"):
        tisane.Forces(mode="f16")
    with pytest.raises(tisane.InputError, match="there is no \"gpu\"; there are cpu"):
        tisane.Forces(device="gpu")
    with pytest.raises(tisane.InputError, match="device: expected"):
        tisane.Forces(device="cpu:1")
    with pytest.raises(tisane.InputError, match="softening"):
        tisane.Forces(softening=-1)
    for m, x, words in [
        ([1, -1], X[:2], "source 1 has the mass -1"),
        ([1, 1], X[:3], "expected one length"),
        ([1, np.nan], X[:2], "NaN"),
        ([1, 1], [[0, 0, 0], [0, np.inf, 0]], "particle 1 is at"),
        ([1j, 1], X[:2], "real numbers"),
    ]:
        with pytest.raises(tisane.InputError, match=words):
            tisane.forces(m, x)
    with pytest.raises(tisane.InputError, match="not a finite number"):
        tisane.forces([1, 1], [[0, 0, 0], [0, 0, 0]])
    engine = tisane.Forces()
    engine.set(M, X)
    with pytest.raises(tisane.InputError, match="no source 50"):
        engine.set_some(50, 1.0, [0, 0, 0])
    with pytest.raises(tisane.InputError, match="whole numbers"):
        engine.evaluate(X, exclude=[0.5] * 50)


def test_a_gpu_has_the_bits_of_the_cpu():
    try:
        found = tisane.forces(M, X, V, softening=0.1, device="cuda")
    except tisane.InputError as error:
        pytest.skip(f"no GPU: {error}")
    expected = tisane.forces(M, X, V, softening=0.1)
    assert all((one == other).all() for one, other in zip(found, expected, strict=True))


def test_a_law_of_ones_own():
    charge = RNG.normal(size=50)
    coulomb = {"potential": "q_i*q_j/s", "columns": {"q": 1}}
    found = tisane.forces(M, X, V, softening=0.1, law=coulomb, columns={"q": charge})
    # The force of charges is that of masses -q on a charge q of mass m.
    expected = direct(charge, X, V, X, V, 0.1)
    np.testing.assert_allclose(found.acc, -expected[0] * (charge / M)[:, None], rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(found.jerk, -expected[1] * (charge / M)[:, None], rtol=1e-9, atol=1e-8)
    yukawa = {"name": "yukawa", "parameters": {"lambda": 1e9}}
    np.testing.assert_allclose(
        tisane.forces(M, X, V, softening=0.1, law=yukawa).acc, tisane.forces(M, X, V, softening=0.1).acc, rtol=1e-7
    )
    with pytest.raises(tisane.Error, match="did you mean `lambda`"):
        tisane.Forces(law={"potential": "-m_i*m_j*exp(-s/lamda)/s", "parameters": {"lambda": 0.3}})
    with pytest.raises(tisane.Error, match="column `q`"):
        tisane.forces(M, X, V, law=coulomb)


def test_a_simulation_with_a_law():
    sim = tisane.Simulation(settings={"force.law": {"name": "yukawa", "parameters": {"lambda": 0.5}}, "softening.epsilon": 0.05})
    sim.add(M, X, V)
    before = sim.energy
    sim.integrate(0.25)
    assert abs(sim.energy / before - 1) < 1e-6
