//! A cluster: what a client opens by a number, an engine with its sources and the last call.

use crate::axis;
use crate::failure::{Code, Failure, Result};
use crate::neighbours::{List, Positions, Target};
use crate::pool;
use crate::settings::{MAX_TARGETS, Settings};
use crate::sources::{NO_IDENTITY, Source, Sources};
use rayon::prelude::*;
use tisane::force::precision::Precision;
use tisane::force::range::Range;
use tisane::force::{EngineKind, FieldEngine, Forces, NO_SOURCE, Points};
use tisane::gravity::{Force, pair};
use tisane::particles::Vec3;

/// Targets of a call, at the time of the call, in columns of one length.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// Identity, the "index": a target does not feel sources of the same identity.
    pub identity: Vec<i32>,
    /// Position.
    pub pos: Vec<Vec3>,
    /// Velocity.
    pub vel: Vec<Vec3>,
    /// Square of the radius of the neighbour list.
    pub h2: Vec<f64>,
    /// Square of the softening.
    pub eps2: f64,
}

/// Nearest source of a target, as the client gets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Its identity; −1 if there is no other source.
    pub identity: i32,
    /// Its distance, softened as the force is; infinite if there is none.
    pub distance: f64,
}

/// Call that was begun.
#[derive(Debug)]
struct Call {
    targets: Vec<Target>,
    eps2: f64,
    time: f64,
    forces: Forces,
    lists: Option<Vec<List>>,
}

/// Engine with sources, and the last call.
pub struct Cluster {
    engine: Box<dyn FieldEngine>,
    settings: Settings,
    /// Process that opened it: a GPU does not follow a fork.
    process: u32,
    sources: Sources,
    positions: Positions,
    time: f64,
    call: Result<Call>,
}

/// Failure of what needs a call when none was begun.
fn no_call() -> Failure {
    Failure::argument("no forces were asked for with g6calc_firsthalf")
}

impl Cluster {
    /// Opens an engine without sources.
    ///
    /// # Errors
    /// [`Code::Setting`] if there is no such device.
    pub fn open(settings: Settings) -> Result<Self> {
        let Settings { kind, precision, device, .. } = settings;
        let engine = kind.open(precision, 0.0, axis::CLOCK, device).map_err(|e| Failure::new(Code::Setting, e))?;
        Ok(Self {
            engine,
            settings,
            process: std::process::id(),
            sources: Sources::default(),
            positions: Positions::default(),
            time: 0.0,
            call: Err(no_call()),
        })
    }

    /// Forgets the last call. The sources stay.
    pub fn reset(&mut self) {
        self.call = Err(no_call());
    }

    /// Sets the time of the calls that follow.
    ///
    /// # Errors
    /// If it is not finite; calls fail until it is.
    pub fn set_time(&mut self, t: f64) -> Result<()> {
        self.time = t;
        check_finite("the time", &[t])
    }

    /// Stores a source at an address.
    ///
    /// # Errors
    /// If the address is out of range, or a number is one that the mode cannot represent: then calls that take this
    /// address fail until it gets another source.
    pub fn set_source(&mut self, address: i32, source: Source) -> Result<()> {
        match check_source(self.settings.precision, &source) {
            Ok(()) => self.sources.set(address, source),
            Err(failure) => {
                self.sources.refuse(address)?;
                Err(Failure::new(failure.code, format!("source for address {address}: {failure}")))
            }
        }
    }

    /// Returns the source at an address with its position and velocity at the time of the calls, and the square of the
    /// softening of the last call.
    ///
    /// # Errors
    /// If there is none.
    pub fn source(&self, address: i32) -> Result<(Source, (Vec3, Vec3), f64)> {
        let source = usize::try_from(address).ok().and_then(|address| self.sources.at(address));
        let source = source.ok_or_else(|| Failure::argument(format!("there is no source at address {address}")))?;
        Ok((*source, source.predict(self.time), self.call.as_ref().map_or(0.0, |call| call.eps2)))
    }

    /// Evaluates the forces of the sources at the first `nj` addresses on `targets`.
    ///
    /// # Errors
    /// If a number is not finite or out of range, or the engine fails. What needs the call fails alike until the next.
    pub fn begin(&mut self, nj: i32, targets: Result<Targets>) -> Result<()> {
        let done = targets.and_then(|targets| self.evaluate(nj, &targets));
        let returned = done.as_ref().map(|_| ()).map_err(Clone::clone);
        self.call = done;
        returned
    }

    fn evaluate(&mut self, nj: i32, targets: &Targets) -> Result<Call> {
        if self.settings.kind == EngineKind::Cuda && self.process != std::process::id() {
            return Err(Failure::new(
                Code::Engine,
                "the GPU was opened before a fork: open it in the process that uses it",
            ));
        }
        let nj =
            usize::try_from(nj).map_err(|_| Failure::argument(format!("nj = {nj}: expected no negative number")))?;
        check_finite("the time", &[self.time])?;
        check_targets(self.settings.precision, targets)?;
        let Self { engine, settings, sources, time, .. } = self;
        let t = *time;
        // A GPU needs no threads, and waking one takes as long as a small block.
        let forces = match settings.kind {
            EngineKind::Cuda => evaluate(&mut **engine, sources, (t, nj), targets)?,
            _ => pool::run(|| evaluate(&mut **engine, sources, (t, nj), targets))??,
        };
        let searched = |k: usize| Target { identity: targets.identity[k], pos: targets.pos[k], h2: targets.h2[k] };
        let targets_searched = (0..targets.pos.len()).map(searched).collect();
        Ok(Call { targets: targets_searched, eps2: targets.eps2, time: t, forces, lists: None })
    }

    /// Returns the forces of the call that was begun.
    ///
    /// # Errors
    /// If it failed, or had another number of targets than `ni`.
    pub fn forces(&self, ni: usize) -> Result<&Forces> {
        let call = self.call.as_ref().map_err(Clone::clone)?;
        let begun = call.targets.len();
        if begun != ni {
            return Err(Failure::argument(format!("forces on {ni} targets, after a g6calc_firsthalf for {begun}")));
        }
        Ok(&call.forces)
    }

    /// Returns the nearest source of each target of the call that was begun.
    ///
    /// # Errors
    /// If it failed.
    pub fn nearest(&mut self) -> Result<Vec<Neighbour>> {
        let call = self.call.as_ref().map_err(Clone::clone)?;
        let (sources, positions) = (&self.sources, &mut self.positions);
        let found = pool::run(|| {
            positions.update(sources, call.time);
            positions.nearest(sources, &call.targets)
        })?;
        let neighbour = |found: Option<crate::neighbours::Nearest>| match found {
            None => Neighbour { identity: NO_IDENTITY, distance: f64::INFINITY },
            Some(found) => {
                Neighbour { identity: sources.slot(found.slot).identity, distance: (found.r2 + call.eps2).sqrt() }
            }
        };
        Ok(found.into_iter().map(neighbour).collect())
    }

    /// Makes the neighbour lists of the call that was begun, unless they are made. Returns true if one of them was too
    /// long.
    ///
    /// # Errors
    /// If the call failed.
    pub fn make_lists(&mut self) -> Result<bool> {
        let call = self.call.as_mut().map_err(|failure| failure.clone())?;
        if call.lists.is_none() {
            let (sources, positions) = (&self.sources, &mut self.positions);
            let (targets, time) = (&call.targets, call.time);
            let with_self = self.settings.lists_contain_self();
            call.lists = Some(pool::run(|| {
                positions.update(sources, time);
                positions.lists(sources, targets, with_self)
            })?);
        }
        Ok(call.lists.iter().flatten().any(|list| list.overflow))
    }

    /// Returns the neighbour list of target `k` of the call that was begun.
    ///
    /// # Errors
    /// If the call failed or had no such target.
    pub fn list(&mut self, k: i32) -> Result<&List> {
        self.make_lists()?;
        let call = self.call.as_ref().map_err(Clone::clone)?;
        let list = usize::try_from(k).ok().and_then(|k| call.lists.as_ref()?.get(k));
        list.ok_or_else(|| Failure::argument(format!("list {k} of a call with {} targets", call.targets.len())))
    }
}

/// Evaluates the forces of the first `nj` addresses at the time `t`.
fn evaluate(
    engine: &mut dyn FieldEngine,
    sources: &mut Sources,
    (t, nj): (f64, usize),
    targets: &Targets,
) -> Result<Forces> {
    let now = sources.bring(engine, t, nj)?;
    let mut shared = Vec::new();
    let exclude = targets.identity.iter().enumerate().map(|(k, &identity)| match sources.with_identity(identity) {
        [] => NO_SOURCE,
        [(_, slot)] => *slot,
        _ => {
            shared.push(k);
            NO_SOURCE
        }
    });
    let exclude: Vec<u32> = exclude.collect();
    let mut forces = Forces::default();
    engine.set_softening(targets.eps2);
    engine.evaluate_at(now, Points { exclude: &exclude, pos: &targets.pos, vel: &targets.vel }, &mut forces)?;
    // An engine leaves out one source. Targets that several sources share an identity with are rare: they are summed here.
    if shared.is_empty() {
        return Ok(forces);
    }
    let summed: Vec<_> = pool::run(|| shared.par_iter().map(|&k| without_namesakes(sources, t, targets, k)).collect())?;
    for (&k, force) in shared.iter().zip(&summed) {
        forces.set(k, force);
    }
    Ok(forces)
}

/// Sums the force on target `k` in f64, without any source of its identity.
fn without_namesakes(sources: &Sources, t: f64, targets: &Targets, k: usize) -> Force {
    let mut sums = [0.0; 7];
    for source in (0..sources.len()).map(|slot| sources.slot(slot)) {
        if source.identity == targets.identity[k] {
            continue;
        }
        let (pos, vel) = source.predict(t);
        let (r, v) = (pos - targets.pos[k], vel - targets.vel[k]);
        let pair = pair(source.mass, r.into(), v.into(), targets.eps2);
        for k in 0..3 {
            sums[k] += pair.m_s3 * r[k];
            sums[3 + k] += pair.m_s3 * pair.d[k];
        }
        sums[6] -= pair.m_s;
    }
    Force::from_sums(sums)
}

fn check_finite(what: &str, numbers: &[f64]) -> Result<()> {
    match numbers.iter().find(|number| !number.is_finite()) {
        Some(number) => Err(Failure::new(Code::Number, format!("{what} is {number}"))),
        None => Ok(()),
    }
}

/// Checks that no component exceeds the limit of a mode; a NaN does.
fn check_within(what: &str, v: &Vec3, limit: f64, range: &Range) -> Result<()> {
    match v.iter().find(|component| component.abs() > limit || component.is_nan()) {
        Some(component) => {
            let problem = format!(
                "a component of the {what} is {component:e}; the mode, in {}, reaches to {limit:e}",
                range.name
            );
            Err(Failure::new(Code::Number, problem))
        }
        None => Ok(()),
    }
}

fn check_source(precision: Precision, source: &Source) -> Result<()> {
    let range = Range::for_precision(precision);
    check_within("position", &source.pos, range.coordinate, &range)?;
    check_within("velocity", &source.vel, range.speed, &range)?;
    let [min, max] = range.mass;
    if source.mass != 0.0 && !(min..=max).contains(&source.mass.abs()) {
        let problem = format!("its mass is {:e}; the mode, in {}, has {min:e} to {max:e}", source.mass, range.name);
        return Err(Failure::new(Code::Number, problem));
    }
    check_finite("its time", &[source.time])?;
    for (what, v) in [
        ("a component of its acceleration", source.acc2),
        ("a component of its jerk", source.jerk6),
        ("a component of its snap", source.snap18),
    ] {
        check_finite(what, v.as_slice())?;
    }
    Ok(())
}

fn check_targets(precision: Precision, targets: &Targets) -> Result<()> {
    let range = Range::for_precision(precision);
    let n = targets.pos.len();
    if n > MAX_TARGETS {
        return Err(Failure::argument(format!("{n} targets in one call: expected {MAX_TARGETS} at most")));
    }
    let softening = targets.eps2.sqrt();
    if softening != 0.0 && !(range.softening..=range.coordinate).contains(&softening) {
        let problem = format!("eps2 = {:e}: the mode, in {}, cannot represent it", targets.eps2, range.name);
        return Err(Failure::new(Code::Number, problem));
    }
    for (pos, vel) in targets.pos.iter().zip(&targets.vel) {
        check_within("position of a target", pos, range.coordinate, &range)?;
        check_within("velocity of a target", vel, range.speed, &range)?;
    }
    Ok(())
}
