//! Particles that need shorter steps than the run allows: who they are, and what following them would take.

use crate::pair::{Body, Pair};
use crate::units::{Dimension, Scale, Units, digits, wall_time};
use std::fmt;
use std::path::PathBuf;

/// What an error of an integration needs to know of its run to speak in the user's units.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// User's units.
    pub units: Units,
    /// Size of the internal units in them.
    pub scale: Scale,
    /// Softening, in internal units.
    pub epsilon: f64,
    /// End of the run, in internal units, if it has one.
    pub t_end: Option<f64>,
    /// Mean wall time of a block step so far, in s, if there was one.
    pub seconds_per_block_step: Option<f64>,
    /// Directory of the run, if it has one.
    pub directory: Option<PathBuf>,
}

/// Error of particles that need shorter steps than the run allows, in internal units.
#[derive(Debug)]
pub struct StepBelowFloor {
    /// Number of such particles.
    pub number: usize,
    /// Id of the one with the shortest step.
    pub id: u64,
    /// Time.
    pub time: f64,
    /// Its time step.
    pub wanted: f64,
    /// Shortest time step allowed.
    pub floor: f64,
    /// Shortest time step that dt_max permits at all.
    pub shortest: f64,
    /// Section of the configuration with the settings of its steps.
    pub section: &'static str,
    /// The particle and its nearest neighbour, with the neighbour's id; [`None`] if it is alone.
    pub partner: Option<(u64, [Body; 2])>,
    /// Its acceleration over the least scale of the terms that it is the sum of.
    pub cancellation: f64,
    /// True if the state after the error is that after a whole block step, from which the run can go on with shorter
    /// steps.
    pub resumable: bool,
    /// The run, once it is known.
    pub run: Option<RunContext>,
}

/// Number of block steps that takes days.
const MAX_BLOCK_STEPS: f64 = 1e10;
/// Time step over the time in which a pair moves at its distance, below which the pair is not the cause: with any sensible
/// accuracy a step is a larger part of it.
const MIN_SHARE: f64 = 1e-6;
/// Acceleration over the scale of its terms below which the forces cancel.
const CANCELS: f64 = 1e-3;

/// Orbit of a bound pair, with what following it to the end of the run takes.
struct Outlook {
    orbits: f64,
    block_steps: f64,
    seconds: Option<f64>,
}

impl StepBelowFloor {
    fn value(&self, x: f64, d: Dimension) -> String {
        match &self.run {
            Some(run) => run.units.readable(x * run.scale.factor(d), d),
            None => Units::henon().readable(x, d),
        }
    }

    /// Returns the time step of the particle in the user's unit of time, in the internal one before the run is known.
    #[must_use]
    pub fn wanted_by_user(&self) -> f64 {
        self.wanted * self.run.as_ref().map_or(1.0, |run| run.scale.time)
    }

    /// Returns the relative orbit of the particle and its nearest neighbour.
    fn pair(&self) -> Option<(u64, Pair)> {
        let epsilon = self.run.as_ref().map_or(0.0, |run| run.epsilon);
        self.partner.as_ref().map(|(id, [a, b])| (*id, Pair::new(a, b, epsilon)))
    }

    /// Returns the time in which a pair moves on at its present distance.
    fn natural_time(&self, pair: &Pair) -> f64 {
        let epsilon = self.run.as_ref().map_or(0.0, |run| run.epsilon);
        let size = pair.distance.hypot(epsilon);
        (size.powi(3) / (pair.mass[0] + pair.mass[1])).sqrt().min(size / pair.speed)
    }

    /// Returns true if the motion about the nearest neighbour is what needs the time step.
    fn is_of_pair(&self, pair: &Pair) -> bool {
        self.wanted >= MIN_SHARE * self.natural_time(pair)
    }

    /// Says why the step is short where no neighbour is the cause.
    fn describe_rounding(&self, partner: u64, pair: &Pair, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "; no neighbour is the cause: the nearest, particle {partner}, at a distance of {}, takes about {} to move on",
            self.value(pair.distance, Dimension::LENGTH),
            self.value(self.natural_time(pair), Dimension::TIME)
        )?;
        if self.cancellation < CANCELS {
            let part = digits(self.cancellation);
            return write!(
                f,
                "; the forces on it cancel, to {part} of their size, and what is left of their derivatives is rounding"
            );
        }
        write!(f, "; its force changes faster than the motions about it: rounding, or a jump in the law of the force")
    }

    /// Estimates the block steps that a bound pair takes until the end of the run. Steps scale as r^(3/2) along the
    /// orbit, and the mean of r^(−3/2) over time is about a^(−3/2) (1 − e²)^(−3/8).
    fn outlook(&self, pair: &Pair) -> Option<Outlook> {
        let run = self.run.as_ref()?;
        let orbits = (run.t_end? - self.time) / pair.period();
        let along = (pair.distance / pair.semi_major_axis).powf(1.5) / self.wanted;
        let per_orbit = pair.period() * along * (1.0 - pair.eccentricity.powi(2)).max(1e-6).powf(-0.375);
        let block_steps = orbits * per_orbit;
        let outlook = Outlook { orbits, block_steps, seconds: run.seconds_per_block_step.map(|s| s * block_steps) };
        block_steps.is_finite().then_some(outlook)
    }

    /// Describes the nearest neighbour and the orbit about it.
    fn describe_partner(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((partner, pair)) = self.pair() else { return Ok(()) };
        if !self.is_of_pair(&pair) {
            return self.describe_rounding(partner, &pair, f);
        }
        let distance = self.value(pair.distance, Dimension::LENGTH);
        if pair.energy >= 0.0 || pair.energy.is_nan() {
            let speed = self.value(pair.speed, Dimension::VELOCITY);
            return write!(
                f,
                "; its nearest neighbour is particle {partner}, at a distance of {distance}, not bound, at a relative \
                 speed of {speed}"
            );
        }
        write!(
            f,
            "; it is bound to particle {partner}, at a distance of {distance}: semi-major axis {}, eccentricity {:.3}, \
             period {}",
            self.value(pair.semi_major_axis, Dimension::LENGTH),
            pair.eccentricity,
            self.value(pair.period(), Dimension::TIME)
        )?;
        let Some(outlook) = self.outlook(&pair) else { return Ok(()) };
        let (orbits, steps) = (digits(outlook.orbits), digits(outlook.block_steps));
        write!(f, ", {orbits} orbits until t_end, which take about {steps} block steps")?;
        match outlook.seconds {
            Some(seconds) => write!(f, " and {} at the present rate", wall_time(seconds)),
            None => Ok(()),
        }
    }

    /// Returns the remedies, the one that follows the motion first.
    #[must_use]
    pub fn remedies(&self) -> Vec<Remedy> {
        let nearest = self.pair().map(|(_, pair)| pair);
        if nearest.as_ref().is_some_and(|pair| !self.is_of_pair(pair)) {
            return vec![Remedy::NotByShorterSteps, Remedy::Clamp];
        }
        let pair = nearest.filter(|pair| pair.energy < 0.0);
        let floor = (self.wanted / 16.0).max(self.shortest) * self.run.as_ref().map_or(1.0, |run| run.scale.time);
        let follow = if self.resumable { Remedy::ShorterSteps(floor) } else { Remedy::ShorterLongestStep };
        let is_binary = pair.is_some();
        let takes_long =
            pair.and_then(|pair| self.outlook(&pair)).is_some_and(|outlook| outlook.block_steps > MAX_BLOCK_STEPS);
        let end = takes_long.then_some(Remedy::EarlierEnd);
        [follow].into_iter().chain(end).chain([Remedy::Clamp, Remedy::Softening { is_binary }]).collect()
    }

    /// Returns the advice, a remedy a line.
    pub(super) fn advice(&self) -> String {
        let lines: Vec<String> = self.remedies().iter().map(ToString::to_string).collect();
        lines.join("\n")
    }
}

/// Remedy for a particle that needs shorter steps than the run allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Remedy {
    /// None by shorter steps: rounding is the cause.
    NotByShorterSteps,
    /// Steps down to this length, in the user's unit of time.
    ShorterSteps(f64),
    /// A new run with a shorter longest step: no step is shorter than a part of it.
    ShorterLongestStep,
    /// An earlier end: a binary takes more steps than most can wait for.
    EarlierEnd,
    /// Steps at the floor, with an energy error.
    Clamp,
    /// Softening, which is none for a binary.
    Softening {
        /// True if the particle is in a binary.
        is_binary: bool,
    },
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotByShorterSteps => "shorter steps are no remedy",
            Self::ShorterSteps(floor) => {
                return write!(f, "to follow the motion, allow shorter steps by dt_min, such as {floor:.1e}");
            }
            Self::ShorterLongestStep => {
                "steps cannot be shorter than dt_max/2^36: with a shorter dt_max a new run can take shorter ones"
            }
            Self::EarlierEnd => {
                "this binary takes more steps until t_end than most can wait for: end the run earlier"
            }
            Self::Clamp => {
                "`OnFloor::Clamp` lets such particles continue at dt_min, with an energy error that the diagnostics show"
            }
            Self::Softening { is_binary: true } => {
                "a softening length is no remedy for a binary: one as long as its semi-major axis dissolves it, and \
                 takes a new run"
            }
            Self::Softening { is_binary: false } => {
                "a softening length bounds the steps of encounters, but changes the physics and takes a new run"
            }
        })
    }
}

impl fmt::Display for StepBelowFloor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, id, .. } = self;
        let [time, wanted, floor] = [self.time, self.wanted, self.floor].map(|t| self.value(t, Dimension::TIME));
        match number {
            ..2 => write!(f, "particle {id} needs a time step of {wanted} at t = {time}, below dt_min = {floor}")?,
            _ => write!(
                f,
                "{number} particles need time steps below dt_min = {floor} at t = {time}, the shortest is that of \
                 particle {id}: {wanted}"
            )?,
        }
        self.describe_partner(f)?;
        if self.run.is_none() { f.write_str(" (internal units, G = 1)") } else { Ok(()) }
    }
}

impl std::error::Error for StepBelowFloor {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::particles::Vec3;

    /// A body at rest and another on a circular orbit about it, where the first needs a time step.
    fn error(wanted: f64, cancellation: f64) -> StepBelowFloor {
        let rest = Body { mass: 1.0, pos: Vec3::zeros(), vel: Vec3::zeros() };
        let other = Body { mass: 1e-6, pos: Vec3::x(), vel: Vec3::y() };
        StepBelowFloor {
            number: 1,
            id: 0,
            time: 0.25,
            wanted,
            floor: 1e-3,
            shortest: 1e-12,
            section: "integrator.hermite4",
            partner: Some((1, [rest, other])),
            cancellation,
            resumable: true,
            run: None,
        }
    }

    #[test]
    fn a_neighbour_is_named_as_the_cause_only_where_its_motion_needs_the_step() {
        let of_pair = error(1e-4, 1.0);
        assert!(of_pair.to_string().contains("it is bound to particle 1"), "{of_pair}");
        assert!(of_pair.advice().contains("dt_min"), "{}", of_pair.advice());
        let balanced = error(1e-11, 1e-16);
        for text in ["no neighbour is the cause", "particle 1", "the forces on it cancel, to 1", "rounding"] {
            assert!(balanced.to_string().contains(text), "{balanced}");
        }
        assert!(!balanced.to_string().contains("bound"), "{balanced}");
        assert!(
            balanced.advice().contains("no remedy") && balanced.advice().contains("Clamp"),
            "{}",
            balanced.advice()
        );
        let other = error(1e-11, 0.5).to_string();
        assert!(other.contains("a jump in the law") && !other.contains("cancel"), "{other}");
    }
}
