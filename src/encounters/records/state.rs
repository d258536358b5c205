//! Hierarchy as plain numbers, for checkpoints: from them they are made again to the same bits.

use crate::encounters::forces::orbit::AveragedPair;
use crate::encounters::forces::tides::Far;
use crate::encounters::motion::member::{Few, Member};
use crate::encounters::motion::subsystem::{Perturber, Subsystem};
use crate::encounters::records::repeats::{Cycle, Repeats};
use crate::few_body::{Motion, Parts};
use crate::subsystems::component::{Component, PairOrbit};
use crate::subsystems::event::{Detail, Event, EventBody, EventKind};
use nalgebra::Matrix3;
use tisane_force::error::{Error, Result};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::states::{Column, SchemeState, Sizes, Values, ValuesMut};
use tisane_force::time::{Level, Time};
use tisane_force::units::Dimension;

/// Names of the columns, and of their lengths.
const WORDS: &str = "subsystem_words";
const NUMBERS: &str = "subsystem_numbers";

/// Mark of the changes that are held back: no number of members.
const REPEATS: u64 = u64::MAX;

/// Mark of the stars that were thrown out: no number of members either.
const THROWN: u64 = u64::MAX - 1;

/// Largest depth of brackets of a component: of the members of members.
const MAX_DEPTH: usize = 64;

/// State of the subsystems of an integration as plain numbers, which only their scheme reads: without it the particles
/// alone do not say how the integration goes on. Empty where there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubsystemState {
    /// Whole numbers: members, moments, levels, counts.
    pub words: Vec<u64>,
    /// All others.
    pub numbers: Vec<f64>,
}

/// Work that the internal motion of a subsystem has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalWork {
    /// Its stars, as places among the particles, ascending.
    pub stars: Vec<u32>,
    /// Time at which it formed.
    pub formed: Time,
    /// Evaluations of the forces between its members since then, those inside of members too.
    pub evaluations: u64,
}

impl SubsystemState {
    /// Returns the work of the internal motion of each subsystem, in the order of their lowest stars, of `n` stars.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not a state of subsystems.
    pub fn internal_work(&self, n: usize) -> Result<Vec<InternalWork>> {
        let work = |(subsystem, _): &(Subsystem, Centre)| InternalWork {
            stars: subsystem.stars.clone(),
            formed: subsystem.formed,
            evaluations: evaluations(&subsystem.members, &subsystem.motion),
        };
        Ok(decode(self, n)?.subsystems.iter().map(work).collect())
    }
}

/// Returns the evaluations of a motion and of those inside of its members.
fn evaluations(members: &[Member], motion: &Motion) -> u64 {
    let inside = |member: &Member| match member {
        Member::Star(_) => 0,
        Member::Inner(few) => evaluations(&few.members, &few.motion),
    };
    motion.evaluations() + members.iter().map(inside).sum::<u64>()
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

    fn cycle(&mut self, Cycle { last, before_last, held_back, since }: &Cycle) {
        self.words.extend([*held_back, since.0, u64::from(before_last.is_some())]);
        before_last.iter().chain([last]).for_each(|event| self.event(event));
    }

    /// All is in words, also numbers: a period may be NaN, and the state is compared.
    fn event(&mut self, Event { time, kind, before, after, orbit, perturbation, .. }: &Event) {
        let kind = EventKind::ALL.iter().position(|it| it == kind).unwrap_or_default();
        self.words.extend([kind as u64, time.0, perturbation.to_bits(), u64::from(orbit.is_some())]);
        let numbers = |it: &PairOrbit| [it.mass[0], it.mass[1], it.semi_major_axis, it.eccentricity, it.period];
        self.words.extend(orbit.iter().flat_map(numbers).map(f64::to_bits));
        for bodies in [before, after] {
            self.words.push(bodies.len() as u64);
            for EventBody { members, mass, binding } in bodies {
                self.words.extend([mass.to_bits(), binding.to_bits()]);
                self.component(members);
            }
        }
    }

    fn component(&mut self, of: &Component) {
        match of {
            Component::Star(id) => self.words.extend([0, *id]),
            Component::Several(parts) => {
                self.words.push(parts.len() as u64);
                parts.iter().for_each(|part| self.component(part));
            }
        }
    }

    fn subsystem(&mut self, subsystem: &Subsystem, bodies: &Particles, place: usize) {
        self.few(&subsystem.members, &subsystem.motion, subsystem.time);
        let flags = u64::from(subsystem.is_perturbed)
            + 2 * u64::from(subsystem.far.is_some())
            + 4 * u64::from(subsystem.averaged.is_some())
            + 8 * u64::from(subsystem.nested.is_some())
            + 16 * u64::from(subsystem.external != 0.0);
        self.words.extend([subsystem.formed.0, subsystem.perturbers_until.0, flags, subsystem.perturbers.len() as u64]);
        self.numbers.extend([subsystem.size, subsystem.field]);
        self.numbers.extend(Some(subsystem.external).filter(|external| *external != 0.0));
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

/// What happened, and counts as long as it lasts: most of it was recorded, and is not again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Changes that are held back.
    pub repeats: Repeats,
    /// Stars that touched, and have not parted since, ascending.
    pub touching: Vec<[u32; 2]>,
    /// Stars that escaped, and have not come back since, ascending.
    pub escaped: Vec<u32>,
    /// Stars that were thrown out, and pass others, ascending.
    pub thrown: Vec<u32>,
}

/// Returns the state of subsystems, in the order of their lowest stars, whose centres of mass are at `places` among the bodies, and
/// of what was recorded; `rows` are the stars of the rows of all bodies, where these are not in order.
pub fn encode<'a>(
    subsystems: impl Iterator<Item = (&'a Subsystem, usize)>,
    bodies: &Particles,
    rows: Option<&[u32]>,
    Recorded { repeats, touching, escaped, thrown }: &Recorded,
) -> SubsystemState {
    let mut state = SubsystemState::default();
    subsystems.for_each(|(subsystem, place)| state.subsystem(subsystem, bodies, place));
    if let Some(rows) = rows {
        // A subsystem begins with the number of its members, which is above 1.
        state.words.extend([1, rows.len() as u64]);
        state.words.extend(rows.iter().map(|&star| u64::from(star)));
    }
    if repeats.cycles().len() > 0 {
        state.words.extend([REPEATS, repeats.cycles().len() as u64]);
        repeats.cycles().for_each(|cycle| state.cycle(cycle));
    }
    if !thrown.is_empty() {
        state.words.extend([THROWN, thrown.len() as u64]);
        state.words.extend(thrown.iter().map(|&star| u64::from(star)));
    }
    if !(touching.is_empty() && escaped.is_empty()) {
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

impl Centre {
    /// Sets a row of the bodies to it.
    pub fn set(&self, bodies: &mut Particles, row: usize) {
        (bodies.mass[row], bodies.pot[row], bodies.time[row], bodies.step[row]) =
            (self.mass, self.pot, self.time, self.step);
        [bodies.pos[row], bodies.vel[row], bodies.acc[row], bodies.jerk[row]] = self.state;
    }
}

/// What a state says.
#[derive(Debug)]
pub struct Decoded {
    /// Subsystems with their centres of mass, in the order of their lowest stars.
    pub subsystems: Vec<(Subsystem, Centre)>,
    /// What was recorded.
    pub recorded: Recorded,
    /// Stars of the rows of the bodies; empty where these are in order.
    pub rows: Vec<u32>,
}

/// Returns the subsystems of a state, of `n` stars, what was recorded, and the rows of the bodies.
///
/// # Errors
/// [`Error::Input`] if it is not one.
pub fn decode(state: &SubsystemState, n: usize) -> Result<Decoded> {
    let mut reader = Reader { words: &state.words, numbers: &state.numbers, stars: n };
    let mut found: Vec<(Subsystem, Centre)> = Vec::new();
    while reader.words.first().is_some_and(|&word| word > 1 && word < THROWN) {
        found.push(reader.subsystem()?);
    }
    let rows = reader.stars_after(1)?;
    let repeats = reader.repeats()?;
    let thrown = reader.stars_after(THROWN)?;
    let recorded = Recorded { repeats, thrown, ..reader.recorded()? };
    if !recorded.thrown.is_sorted() {
        return Err(wrong());
    }
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
    // Each body has one row; other rows are empty, of stars inside of a subsystem.
    if !rows.is_empty() {
        let mut has_row = vec![false; n];
        let is_new = |&star: &u32| !std::mem::replace(&mut has_row[star as usize], true);
        let once = rows.iter().all(is_new);
        found.iter().flat_map(|(subsystem, _)| &subsystem.stars[1..]).for_each(|&star| has_row[star as usize] = true);
        if !(once && has_row.into_iter().all(|has_row| has_row)) {
            return Err(wrong());
        }
    }
    Ok(Decoded { subsystems: found, recorded, rows })
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

    /// Reads as many stars as are said after a mark, if it is there.
    fn stars_after(&mut self, mark: u64) -> Result<Vec<u32>> {
        if self.words.first() != Some(&mark) {
            return Ok(Vec::new());
        }
        let [_, count] = self.words()?;
        let stars = usize::try_from(count).ok().and_then(|count| self.words.split_at_checked(count));
        let (stars, rest) = stars.ok_or_else(wrong)?;
        self.words = rest;
        stars.iter().map(|&word| self.star(word)).collect()
    }

    /// Reads the changes that are held back, if there are any.
    fn repeats(&mut self) -> Result<Repeats> {
        if self.words.first() != Some(&REPEATS) {
            return Ok(Repeats::default());
        }
        let [_, count] = self.words()?;
        let mut cycles = Vec::new();
        for _ in 0..count {
            let [held_back, since, has_two] = self.words()?;
            let before_last = (has_two == 1).then(|| self.event()).transpose()?;
            cycles.push(Cycle { before_last, last: self.event()?, held_back, since: Time(since) });
        }
        Ok(Repeats::new(cycles))
    }

    fn event(&mut self) -> Result<Event> {
        let [kind, time, perturbation, has_orbit] = self.words()?;
        let kind = EventKind::ALL.into_iter().zip(0..).find(|(_, k)| *k == kind).ok_or_else(wrong)?.0;
        let mut event = Event::of_stars(Time(time), kind, Detail::None);
        event.perturbation = f64::from_bits(perturbation);
        if has_orbit == 1 {
            let [mass_1, mass_2, semi_major_axis, eccentricity, period] = self.words()?.map(f64::from_bits);
            event.orbit = Some(PairOrbit { mass: [mass_1, mass_2], semi_major_axis, eccentricity, period });
        }
        (event.before, event.after) = (self.bodies()?, self.bodies()?);
        Ok(event)
    }

    fn bodies(&mut self) -> Result<Vec<EventBody>> {
        let [count] = self.words()?;
        let mut bodies = Vec::new();
        for _ in 0..count {
            let [mass, binding] = self.words()?.map(f64::from_bits);
            bodies.push(EventBody { members: self.component(MAX_DEPTH)?, mass, binding });
        }
        Ok(bodies)
    }

    fn component(&mut self, max_depth: usize) -> Result<Component> {
        let [count] = self.words()?;
        if count == 0 {
            let [id] = self.words()?;
            return Ok(Component::Star(id));
        }
        let rest = max_depth.checked_sub(1).ok_or_else(wrong)?;
        let mut parts = Vec::new();
        for _ in 0..count {
            parts.push(self.component(rest)?);
        }
        Ok(Component::Several(parts))
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
        let (touching, escaped) = (touching.as_chunks().0.to_vec(), escaped.to_vec());
        let found = Recorded { touching, escaped, ..Recorded::default() };
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
        if flags & 16 == 16 {
            [subsystem.external] = self.numbers()?;
        }
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
