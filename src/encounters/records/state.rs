//! Hierarchy as plain numbers, for checkpoints: from them they are made again to the same bits.

use crate::encounters::forces::orbit::AveragedPair;
use crate::encounters::forces::tides::Far;
use crate::encounters::motion::member::{Few, Member};
use crate::encounters::motion::subsystem::{Perturber, Subsystem};
use crate::few_body::{Motion, Parts};
use nalgebra::Matrix3;
use tisane_force::error::{Error, Result};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::states::{Column, SchemeState, Sizes, Values, ValuesMut};
use tisane_force::time::{Level, Time};
use tisane_force::units::Dimension;

/// Names of the columns, and of their lengths.
const WORDS: &str = "subsystem_words";
const NUMBERS: &str = "subsystem_numbers";

/// State of the subsystems of an integration as plain numbers, which only their scheme reads: without it the particles
/// alone do not say how the integration goes on. Empty where there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubsystemState {
    /// Whole numbers: members, moments, levels, counts.
    pub words: Vec<u64>,
    /// All others.
    pub numbers: Vec<f64>,
}

impl SchemeState for SubsystemState {
    fn none() -> &'static Self {
        static NONE: SubsystemState = SubsystemState { words: Vec::new(), numbers: Vec::new() };
        &NONE
    }

    fn of_sizes(_: usize, sizes: &dyn Sizes) -> Result<Option<Self>> {
        Ok(sizes.find(WORDS, usize::MAX)?.map(|_| Self::default()))
    }

    fn columns(&self) -> Vec<Column<Values<'_>>> {
        let Self { words, numbers } = self;
        vec![
            Column::new(WORDS, Dimension::NONE, Values::Words(words)),
            Column::new(NUMBERS, Dimension::NONE, Values::Reals(numbers)),
        ]
    }

    fn columns_mut(&mut self) -> Vec<Column<ValuesMut<'_>>> {
        let Self { words, numbers } = self;
        vec![
            Column::new(WORDS, Dimension::NONE, ValuesMut::Words(words)),
            Column::new(NUMBERS, Dimension::NONE, ValuesMut::Reals(numbers)),
        ]
    }
}

/// Writes numbers one after the other.
impl SubsystemState {
    fn vector(&mut self, v: Vec3) {
        self.numbers.extend_from_slice(v.as_slice());
    }

    fn few(&mut self, members: &[Member], motion: &Motion, time: Time) {
        let Parts { order, evaluations, numbers } = motion.parts();
        self.words.extend([members.len() as u64, time.0, evaluations, numbers.len() as u64]);
        self.words.extend(order);
        self.numbers.extend(numbers);
        for member in members {
            match member {
                Member::Star(star) => self.words.extend([0, u64::from(*star)]),
                Member::Inner(few) => {
                    self.words.push(1);
                    self.few(&few.members, &few.motion, few.time);
                }
            }
        }
    }

    fn subsystem(&mut self, subsystem: &Subsystem, bodies: &Particles, place: usize) {
        self.few(&subsystem.members, &subsystem.motion, subsystem.time);
        let flags = u64::from(subsystem.is_perturbed)
            + 2 * u64::from(subsystem.far.is_some())
            + 4 * u64::from(subsystem.averaged.is_some())
            + 8 * u64::from(subsystem.nested.is_some());
        self.words.extend([subsystem.formed.0, subsystem.perturbers_until.0, flags, subsystem.perturbers.len() as u64]);
        self.numbers.extend([subsystem.size, subsystem.field]);
        for perturber in &subsystem.perturbers {
            self.words.push(2 * u64::from(perturber.star) + u64::from(perturber.is_averaged));
            self.numbers.push(perturber.outer2);
        }
        if let Some(Far { tide }) = &subsystem.far {
            self.numbers.extend_from_slice(tide.as_slice());
        }
        if let Some((time, AveragedPair { moments, change })) = &subsystem.averaged {
            self.words.push(time.0);
            self.numbers.extend_from_slice(moments.as_slice());
            self.numbers.extend_from_slice(change.as_slice());
        }
        self.words.extend(subsystem.nested.map(|time| time.0));
        self.words.extend([bodies.time[place].0, u64::from(bodies.step[place].0)]);
        self.numbers.extend([bodies.mass[place], bodies.pot[place]]);
        let state = [bodies.pos[place], bodies.vel[place], bodies.acc[place], bodies.jerk[place]];
        state.into_iter().for_each(|v| self.vector(v));
    }
}

/// Stars whose events were recorded, and are not again as long as they last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Stars that touched, and have not parted since, ascending.
    pub touching: Vec<[u32; 2]>,
    /// Stars that escaped, and have not come back since, ascending.
    pub escaped: Vec<u32>,
}

/// Returns the state of subsystems whose centres of mass are at `places` among the bodies, and of stars whose events were
/// recorded.
pub fn encode<'a>(
    subsystems: impl Iterator<Item = (&'a Subsystem, usize)>,
    bodies: &Particles,
    Recorded { touching, escaped }: &Recorded,
) -> SubsystemState {
    let mut state = SubsystemState::default();
    subsystems.for_each(|(subsystem, place)| state.subsystem(subsystem, bodies, place));
    if !(touching.is_empty() && escaped.is_empty()) {
        // A subsystem begins with the number of its members, which is not 0.
        state.words.extend([0, touching.len() as u64]);
        state.words.extend(touching.as_flattened().iter().chain(escaped).map(|&star| u64::from(star)));
    }
    state
}

/// Centre of mass of a subsystem as a particle.
#[derive(Clone, Copy, Debug)]
pub struct Centre {
    /// Mass.
    pub mass: f64,
    /// Potential.
    pub pot: f64,
    /// Position, velocity, acceleration and jerk.
    pub state: [Vec3; 4],
    /// Time.
    pub time: Time,
    /// Level of its next step.
    pub step: Level,
}

/// Hierarchy with their centres of mass, and stars whose events were recorded.
pub type Decoded = (Vec<(Subsystem, Centre)>, Recorded);

/// Returns the subsystems of a state, of `n` stars, and the stars whose events were recorded.
///
/// # Errors
/// [`Error::Input`] if it is not one.
pub fn decode(state: &SubsystemState, n: usize) -> Result<Decoded> {
    let mut reader = Reader { words: &state.words, numbers: &state.numbers, stars: n };
    let mut found: Vec<(Subsystem, Centre)> = Vec::new();
    while reader.words.first().is_some_and(|&word| word != 0) {
        found.push(reader.subsystem()?);
    }
    let recorded = reader.recorded()?;
    let mut stars: Vec<u32> = found.iter().flat_map(|(subsystem, _)| subsystem.stars.iter().copied()).collect();
    stars.sort_unstable();
    let ascending = found.windows(2).all(|two| two[0].0.stars[0] < two[1].0.stars[0]);
    let known = |perturber: &Perturber| match stars.binary_search(&perturber.star) {
        Ok(_) => found.binary_search_by_key(&perturber.star, |(subsystem, _)| subsystem.stars[0]).is_ok(),
        Err(_) => true,
    };
    let whole = found.iter().all(|(subsystem, _)| subsystem.perturbers.iter().all(known));
    if !(reader.numbers.is_empty() && ascending && whole && stars.windows(2).all(|two| two[0] < two[1])) {
        return Err(wrong());
    }
    Ok((found, recorded))
}

fn wrong() -> Error {
    Error::input("hierarchy", "the numbers are not those of hierarchy")
}

/// Numbers that are left.
struct Reader<'a> {
    words: &'a [u64],
    numbers: &'a [f64],
    stars: usize,
}

impl Reader<'_> {
    fn words<const K: usize>(&mut self) -> Result<[u64; K]> {
        let (first, rest) = self.words.split_first_chunk().ok_or_else(wrong)?;
        self.words = rest;
        Ok(*first)
    }

    fn numbers<const K: usize>(&mut self) -> Result<[f64; K]> {
        let (first, rest) = self.numbers.split_first_chunk().ok_or_else(wrong)?;
        self.numbers = rest;
        Ok(*first)
    }

    fn vector(&mut self) -> Result<Vec3> {
        Ok(self.numbers::<3>()?.into())
    }

    fn star(&self, word: u64) -> Result<u32> {
        u32::try_from(word).ok().filter(|&star| (star as usize) < self.stars).ok_or_else(wrong)
    }

    /// Reads the stars whose events were recorded, at the end.
    fn recorded(&mut self) -> Result<Recorded> {
        if self.words.is_empty() {
            return Ok(Recorded::default());
        }
        let [_, pairs] = self.words()?;
        let mut stars = Vec::with_capacity(self.words.len());
        for word in std::mem::take(&mut self.words) {
            stars.push(self.star(*word)?);
        }
        let count = usize::try_from(pairs).ok().and_then(|pairs| pairs.checked_mul(2));
        let (touching, escaped) = count.and_then(|count| stars.split_at_checked(count)).ok_or_else(wrong)?;
        let found = Recorded { touching: touching.as_chunks().0.to_vec(), escaped: escaped.to_vec() };
        if found.touching.is_sorted() && found.escaped.is_sorted() { Ok(found) } else { Err(wrong()) }
    }

    fn few(&mut self) -> Result<Few> {
        let [n, time, evaluations, count] = self.words()?;
        let n = usize::try_from(n).ok().filter(|&n| (2..=self.stars).contains(&n)).ok_or_else(wrong)?;
        let order = self.words.get(..n).ok_or_else(wrong)?.to_vec();
        self.words = &self.words[n..];
        let count = usize::try_from(count).map_err(|_| wrong())?;
        let numbers = self.numbers.get(..count).ok_or_else(wrong)?.to_vec();
        self.numbers = &self.numbers[count..];
        let motion = Motion::from_parts(&Parts { order, evaluations, numbers })?;
        let mut members = Vec::with_capacity(n);
        for _ in 0..n {
            members.push(match self.words()? {
                [0] => {
                    let [star] = self.words()?;
                    Member::Star(self.star(star)?)
                }
                [1] => Member::Inner(Box::new(self.few()?)),
                _ => return Err(wrong()),
            });
        }
        Ok(Few { members, motion, time: Time(time) })
    }

    fn subsystem(&mut self) -> Result<(Subsystem, Centre)> {
        let mut subsystem = Subsystem::new(self.few()?, 0.0);
        let [formed, perturbers_until, flags, perturbers] = self.words()?;
        [subsystem.size, subsystem.field] = self.numbers()?;
        (subsystem.formed, subsystem.perturbers_until, subsystem.is_perturbed) =
            (Time(formed), Time(perturbers_until), flags & 1 == 1);
        for _ in 0..perturbers {
            let ([star], [outer2]) = (self.words()?, self.numbers()?);
            subsystem.perturbers.push(Perturber { star: self.star(star / 2)?, outer2, is_averaged: star % 2 == 1 });
        }
        let matrix = |numbers: [f64; 9]| Matrix3::from_column_slice(&numbers);
        if flags & 2 == 2 {
            subsystem.far = Some(Far { tide: matrix(self.numbers()?) });
        }
        if flags & 4 == 4 {
            let ([time], moments, change) = (self.words()?, self.numbers::<9>()?, self.numbers::<9>()?);
            subsystem.averaged = Some((Time(time), AveragedPair { moments: matrix(moments), change: matrix(change) }));
        }
        if flags & 8 == 8 {
            let [time] = self.words()?;
            subsystem.nested = Some(Time(time));
        }
        let ([time, step], [mass, pot]) = (self.words()?, self.numbers()?);
        let state = [self.vector()?, self.vector()?, self.vector()?, self.vector()?];
        let step = u8::try_from(step).ok().map(Level).filter(|&level| level <= Level::DEEPEST).ok_or_else(wrong)?;
        Ok((subsystem, Centre { mass, pot, state, time: Time(time), step }))
    }
}
