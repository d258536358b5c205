"""Simulations by laws in place of Newton's: their forces, the columns that they read, and mistakes that are named."""

import numpy as np
import pytest

import tisane

COULOMB = {"name": "coulomb", "parameters": {"k": 0.5}}


def charged(n=12, **options):
    t = np.arange(n, dtype=float)
    pos = np.stack([(0.3 + 0.1 * t) * np.cos(t), (0.3 + 0.1 * t) * np.sin(t), 0.2 * np.sin(1.7 * t)], axis=1)
    q = np.where(np.arange(n) % 2 == 0, 0.3 + 0.01 * t, -0.25)
    sim = tisane.Simulation.from_arrays(
        np.full(n, 1 / n), pos, law=COULOMB, columns={"charge": q}, softening=0.05, integrator={"hermite4": {"dt_max": 1 / 16}}, **options
    )
    return sim, q


def by_coulomb(sim):
    p, q = sim.particles, np.array(sim.particles.columns["charge"])
    r = p.pos[:, None, :] - p.pos[None, :, :]
    s3 = ((r**2).sum(axis=2) + 0.05**2) ** 1.5
    factor = 0.5 * q[:, None] * q[None, :] / s3
    np.fill_diagonal(factor, 0.0)
    return (factor[:, :, None] * r).sum(axis=1) / p.m[:, None]


def test_charges_act_by_the_law_and_may_change():
    sim, q = charged()
    assert list(sim.particles.columns) == ["charge"]
    np.testing.assert_array_equal(sim.particles.columns["charge"], q)
    np.testing.assert_allclose(sim.particles.acc, by_coulomb(sim), rtol=1e-10, atol=1e-12)
    sim.integrate(0.3)
    assert abs(sim.energy_error) < 1e-5
    sim.particles[3].columns["charge"] = 0.75
    added = sim.add(0.1, (5, 0, 0), columns={"charge": 0.5})
    sim.remove(0)
    assert sim.particles.columns["charge"][2] == 0.75 and sim.particles[-1].columns["charge"] == 0.5
    assert sim.particles.id[-1] == added[0]
    np.testing.assert_allclose(sim.particles.acc, by_coulomb(sim), rtol=1e-10, atol=1e-12)
    sim.particles.columns["charge"] = 0.1
    np.testing.assert_allclose(sim.particles.acc, by_coulomb(sim), rtol=1e-10, atol=1e-12)
    sim.integrate(0.5)
    assert abs(sim.energy_error) < 1e-5


def test_copies_and_files_have_the_charges(tmp_path):
    sim, q = charged()
    sim.integrate(0.25)
    copy = sim.copy()
    assert copy == sim
    np.testing.assert_array_equal(copy.particles.columns["charge"], q)
    sim.save(tmp_path / "state.hdf5")
    loaded = tisane.Simulation.load(tmp_path / "state.hdf5")
    loaded.integrate(0.5)
    sim.integrate(0.5)
    assert loaded.state_sha256 == sim.state_sha256
    run = sim.run(tmp_path / "run", 1.0, interval=0.5)
    assert run.summary["exit_reason"] == "finished"
    np.testing.assert_array_equal(sim.particles.columns["charge"], q)


def test_a_law_is_an_option_like_others():
    sim = tisane.Simulation.plummer(32, seed=1, softening=0.1, law={"name": "yukawa", "parameters": {"lambda": 0.5}})
    p = sim.particles
    forces = tisane.forces(p.m, p.pos, p.vel, softening=0.1, law={"potential": "-m_i*m_j*exp(-s/0.5)/s"})
    np.testing.assert_allclose(p.acc, forces.acc, rtol=1e-12)
    sim.set(law={"name": "newton"})
    np.testing.assert_allclose(p.acc, tisane.forces(p.m, p.pos, softening=0.1).acc, rtol=1e-12)


def test_mistakes_are_named():
    sim, q = charged()
    with pytest.raises(KeyError, match="the law reads no column 'charges': it reads charge"):
        sim.particles.columns["charges"]
    with pytest.raises(tisane.InputError, match="did you mean `charge`"):
        sim.particles.columns["charges"] = q
    with pytest.raises(tisane.InputError, match="different lengths"):
        sim.particles.columns["charge"] = q[1:]
    with pytest.raises(TypeError, match="none can be deleted"):
        del sim.particles.columns["charge"]
    sim.add(0.1, (9, 0, 0))
    with pytest.raises(tisane.Error, match="has no value in the column `charge`"):
        sim.integrate(0.1)
    sim.particles[-1].columns["charge"] = 0.2
    sim.integrate(0.1)
    with pytest.raises(tisane.InputError, match="no law reads a column `charge`"):
        tisane.Simulation.plummer(8).add(0.1, (9, 0, 0), columns={"charge": 1.0})
