//! The particles of a run as they moved.

use std::sync::atomic::{AtomicBool, Ordering};
use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::reference::Reference;
use tisane::error::Result;
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, TICKS_PER_DT_MAX, Time};
use tisane::units::{Dimension, Scale};
use tisane_run::assemble::{self, Session, Setup};

/// A run in memory, in the units of its configuration: what a run writes into snapshots and diagnostics.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The gravitational constant in these units.
    pub g: f64,
    /// Length / velocity in units of time.
    pub dynamical_time: f64,
    /// Masses, in the order of ids.
    pub mass: Vec<f64>,
    /// The system at the start and at every snapshot interval.
    pub moments: Vec<Moment>,
    /// Total energy at the start; it and its errors are NaN where the forces have no potential.
    pub energy: f64,
    /// Largest |relative energy error| of any row of diagnostics, by [`Reference`].
    pub energy_error: f64,
    /// |relative energy error| at the end.
    pub final_energy_error: f64,
    /// Largest relative error of the angular momentum.
    pub angular_momentum_error: f64,
    /// Pairs evaluated after the start for each step of a particle.
    pub pairs_per_step: f64,
}

/// The system at a moment; particles in the order of ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Time.
    pub time: f64,
    /// Positions.
    pub pos: Vec<Vec3>,
    /// Velocities.
    pub vel: Vec<Vec3>,
}

/// Runs what a configuration describes; snapshots and diagnostics are taken at the moments that its `[output]` says,
/// but kept. `progress` hears the share that is done. [`None`] if `stop` was set on the way.
///
/// # Errors
/// As the engine and the integrator.
pub fn track(set: &Setup, session: Session, stop: &AtomicBool, progress: &mut dyn FnMut(f64)) -> Result<Option<Track>> {
    let mut propagator = assemble::propagator(set, session)?;
    let mut p = set.particles.clone();
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by_key(|&i| p.id[i]);
    let take = Taker { order: &order, scale: &set.scale, clock: &set.clock };
    let mut now = propagator.start(&mut p)?.now;
    let (begin, field) = (now, propagator.field(&p, now)?);
    let (start, reference) = (Conserved::in_field(&p, &field), Reference::new(&p, &field));
    let has_energy = set.law.as_ref().is_none_or(|law| law.has_potential());
    let (energy, none) = if has_energy { (start.energy(), 0.0) } else { (f64::NAN, f64::NAN) };
    let mut track = Track {
        g: set.config.units().g(),
        dynamical_time: set.config.units().dynamical_time(),
        mass: order.iter().map(|&i| p.mass[i] * set.scale.mass).collect(),
        moments: vec![take.moment(&p, now)],
        energy: energy * set.scale.factor(Dimension::ENERGY),
        energy_error: none,
        final_energy_error: none,
        angular_momentum_error: 0.0,
        pairs_per_step: f64::NAN,
    };
    let (mut pairs, mut steps) = (0, 0);
    let (end, rows, snapshots) =
        (Time::from_dt_max(set.steps_to_end), set.config.diagnostics_every(), set.config.snapshot_every());
    while now < end {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let done = propagator.advance(&mut p, end, 1).map_err(|e| e.in_run(&set.run_context()))?;
        now = done.now;
        (pairs, steps) = (pairs + done.pairs, steps + done.particle_steps);
        if !now.is_synchronised() {
            continue;
        }
        let due = |every: u64| (now.0 / TICKS_PER_DT_MAX).is_multiple_of(every) || now >= end;
        if due(rows) {
            let field = propagator.field(&p, now)?;
            if has_energy {
                track.final_energy_error = reference.energy_error(reference.energy_of(&p, &field)).abs();
                track.energy_error = track.energy_error.max(track.final_energy_error);
            }
            let elapsed = set.clock.time(now) - set.clock.time(begin);
            let off = reference.angular_momentum_error(reference.angular_momentum_of(&p, elapsed));
            track.angular_momentum_error = track.angular_momentum_error.max(off);
        }
        if due(snapshots) {
            track.moments.push(take.moment(&p, now));
        }
        progress(now.0 as f64 / end.0 as f64);
    }
    track.pairs_per_step = pairs as f64 / steps as f64;
    Ok(Some(track))
}

/// Brings particles into the order of ids and the user's units.
struct Taker<'a> {
    order: &'a [usize],
    scale: &'a Scale,
    clock: &'a Clock,
}

impl Taker<'_> {
    fn moment(&self, p: &Particles, now: Time) -> Moment {
        let column = |column: &[Vec3], unit: f64| self.order.iter().map(|&i| column[i] * unit).collect();
        Moment {
            time: self.clock.time(now) * self.scale.time,
            pos: column(&p.pos, self.scale.length),
            vel: column(&p.vel, self.scale.velocity),
        }
    }
}
