//! Descriptions of close pairs, and warnings of settings that do not go with them.

use super::terms::{FEWEST_STEPS, Steps};
use super::{Binaries, CHANGED_BELOW, CloseOrbit, Kind, SURELY_HARD};
use tisane::encounters::MAX_MEMBERS;
use tisane::integrator::BlockSteps;
use tisane::time::LOG2_TICKS_PER_DT_MAX;
use tisane::units::{Dimension, digits};

/// Number of block steps for the fastest pair alone above which a run is warned of: hours at best.
const MANY_STEPS: f64 = 1e9;
/// Accuracy ν, as [`BlockSteps`] has it, below which errors by unresolved motion of the central body show: η of about 0.1.
const FINE: f64 = 0.003;
/// Order of a scheme from which on they do.
const HIGH_ORDER: u32 = 6;
/// Mass of a body, in that of all, that moves a central one so slightly that step criteria of slow bodies do not see it, and periods
/// of these in its own: Mercury and Jupiter are such bodies, Jupiter and Neptune, and Mercury and Mars, are not.
const SLIGHT: f64 = 1e-4;
const SLOW: f64 = 10.0;
/// Longest steps in the shortest period, at least and as proposed: the planets of the Sun at order 8 with η = 0.05 keep their
/// energy over 1000 years to 1.3e-9 with four and to 4e-13 with eight in Mercury's period, and to 7e-15 with fifteen.
const FEWEST_LONGEST_STEPS: f64 = 8.0;
const ENOUGH_LONGEST_STEPS: f64 = 15.0;
/// A shortest step that is proposed is at most this part of the one that the pairs need at the start: others come nearer
/// to each other later.
const MARGIN: f64 = 0.25;

impl Binaries {
    /// Returns lines about the close pairs: what each is about, and its text.
    #[must_use]
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if self.kind == Kind::Cluster {
            lines.push(("hard binaries", self.count()));
        }
        let Some(fastest) = self.orbits.first() else { return lines };
        let (pair, to_end) = (&fastest.pair, digits(self.orbits_to_end()));
        lines.push((
            "shortest period",
            format!(
                "{}: particles {} and {}, semi-major axis {}, e = {}; {to_end} orbits to t_end",
                self.time(pair.period()),
                fastest.ids[0],
                fastest.ids[1],
                self.length(pair.semi_major_axis),
                digits(pair.eccentricity),
            ),
        ));
        lines
    }

    /// Returns the line about the block steps that the pair with the shortest period takes; [`None`] where it takes none, as a
    /// subsystem.
    #[must_use]
    pub fn describe_steps(&self) -> Option<(&'static str, String)> {
        let by_blocks = matches!(self.terms.steps, Steps::Blocks(_)) && !self.terms.encounters;
        (by_blocks && !self.orbits.is_empty()).then(|| {
            let each = digits(self.steps_per_orbit());
            ("its steps", format!("about {each} an orbit, {} to t_end{}", self.steps_to_end(), self.takes()))
        })
    }

    /// Returns warnings of settings with which the close pairs are torn apart, stop the run, or take most of its time.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let torn = self.of_torn();
        // The periods of pairs that the softening tears apart are not those of the run.
        let others = match torn {
            Some(_) => [self.of_short_steps(), None, None, None],
            None => [self.of_changed(), self.of_short_steps(), self.of_few_steps(), self.of_many_steps()],
        };
        let others = others.into_iter().chain([self.of_long_steps()]);
        let of_places = [self.of_touching(), self.of_averaged(), self.of_coarsest()].into_iter().flatten();
        torn.into_iter().chain(others.flatten()).chain(self.of_knot()).chain(of_places).collect()
    }

    /// Returns the number of halvings of a longest step `dt_max` that gives a shortest step for all pairs; both in
    /// internal units. Not limited by what is possible.
    #[must_use]
    pub fn halvings(&self, dt_max: f64) -> u32 {
        let needed = self.most_demanding().map(|orbit| MARGIN * orbit.step);
        needed.map_or(0, |needed| (dt_max / needed).log2().ceil().clamp(0.0, 1000.0) as u32)
    }

    fn time(&self, t: f64) -> String {
        self.terms.units.readable(t * self.terms.scale.time, Dimension::TIME)
    }

    fn length(&self, x: f64) -> String {
        self.terms.units.readable(x * self.terms.scale.length, Dimension::LENGTH)
    }

    /// Pairs as they are called in this system, one and several.
    const fn names(&self) -> [&'static str; 2] {
        match self.kind {
            Kind::Cluster => ["binary", "binaries"],
            Kind::Orbits | Kind::Few => ["orbit", "orbits"],
        }
    }

    /// `3 of the 84 binaries`, or `the binary` where there is one.
    fn some(&self, number: usize) -> String {
        let [one, several] = self.names();
        match (number, self.orbits.len()) {
            (_, 1) => format!("the {one}"),
            (all, of) if all == of => format!("all {of} {several}"),
            (some, of) => format!("{some} of the {of} {several}"),
        }
    }

    /// `particles 3 and 4`.
    fn who(orbit: &CloseOrbit) -> String {
        format!("particles {} and {}", orbit.ids[0], orbit.ids[1])
    }

    /// Shortest and longest semi-major axis, without softening.
    fn axes(&self) -> String {
        let axes = || self.orbits.iter().map(|orbit| orbit.pair.semi_major_axis);
        let (min, max) = axes().fold((f64::INFINITY, 0.0), |(min, max), a| (a.min(min), a.max(max)));
        if min == max {
            return format!("semi-major axis {}", self.length(min));
        }
        format!("semi-major axes {} to {}", self.length(min), self.length(max))
    }

    fn count(&self) -> String {
        if self.orbits.is_empty() {
            return "none of at least 1 kT".into();
        }
        let hierarchies = self.bodies.systems.all.iter().filter(|system| system.is_hierarchy()).count();
        let and = match hierarchies {
            0 => String::new(),
            1 => " and a hierarchy".into(),
            n => format!(" and {n} hierarchies"),
        };
        format!("{}{and} of at least 1 kT; {}", self.orbits.len(), self.axes())
    }

    fn steps_to_end(&self) -> String {
        format!("{} block steps", digits(self.orbits_to_end() * self.steps_per_orbit()))
    }

    /// Wall time of the fastest pair alone.
    fn takes(&self) -> String {
        let whole = self.seconds.map(|each| each * self.orbits_to_end() * self.steps_per_orbit());
        whole.map_or_else(String::new, |whole| format!(": at least {} on the CPU", wall_time(whole)))
    }

    fn epsilon(&self) -> String {
        format!("softening.epsilon = {}", self.length(self.terms.epsilon))
    }

    fn of_torn(&self) -> Option<String> {
        if !self.orbits.iter().any(|orbit| orbit.hardness >= SURELY_HARD && !orbit.bound) {
            return None;
        }
        let [one, _] = self.names();
        let (torn, changed) = (self.torn(), self.changed().count());
        let and = if changed > 0 { format!(", and changes {changed} more") } else { String::new() };
        Some(format!(
            "{} tears {} apart at the start{and}: without softening, {}. The energy error does not show it. To follow them \
             set softening.epsilon = 0; to leave them out, start from one particle for each {one}",
            self.epsilon(),
            self.some(torn),
            self.axes()
        ))
    }

    /// Orbits that the softening changes but does not tear apart.
    fn changed(&self) -> impl Iterator<Item = &CloseOrbit> {
        let shortest = CHANGED_BELOW * self.terms.epsilon;
        self.orbits.iter().filter(move |orbit| orbit.bound && orbit.pair.semi_major_axis < shortest)
    }

    fn of_changed(&self) -> Option<String> {
        self.changed().any(|orbit| orbit.hardness >= SURELY_HARD).then(|| {
            format!(
                "{} changes {}: it is more than a tenth of the semi-major axis ({}). The energy error does not show it. To \
                 follow them as they are set softening.epsilon = 0",
                self.epsilon(),
                self.some(self.changed().count()),
                self.axes()
            )
        })
    }

    fn of_short_steps(&self) -> Option<String> {
        let Steps::Blocks(BlockSteps { range: [dt_min, dt_max], .. }) = self.terms.steps else { return None };
        let (scale, section) = (self.terms.scale.time, self.terms.scheme.section);
        let number = self.orbits.iter().filter(|orbit| orbit.step * scale < dt_min).count();
        let worst = self.most_demanding().filter(|_| number > 0)?;
        let halvings = self.halvings(dt_max / scale);
        let help = if halvings <= LOG2_TICKS_PER_DT_MAX {
            format!("Set {section}.dt_min = \"{dt_max}/2^{halvings}\"")
        } else {
            // Rounded down to one digit.
            let longest = dt_max / f64::from(halvings - LOG2_TICKS_PER_DT_MAX).exp2();
            let power = longest.log10().floor();
            let longest = format!("{}e{power}", (longest / 10f64.powf(power)).floor().max(1.0));
            format!(
                "Set {section}.dt_max = {longest} and {section}.dt_min = \"{longest}/2^{LOG2_TICKS_PER_DT_MAX}\", the \
                 shortest that goes with it"
            )
        };
        Some(format!(
            "{} {} steps below {section}.dt_min = {}: by their motion {} need about {}. A particle that needs \
             less than dt_min stops the run, or with on_dt_min = \"clamp\" is moved too coarsely. {help}",
            self.some(number),
            if number == 1 { "needs" } else { "need" },
            self.terms.units.readable(dt_min, Dimension::TIME),
            Self::who(worst),
            self.time(worst.step),
        ))
    }

    /// A scheme with one step for all particles.
    fn of_few_steps(&self) -> Option<String> {
        let Steps::One(dt) = self.terms.steps else { return None };
        let followed = |orbit: &&CloseOrbit| orbit.step * self.terms.scale.time >= dt;
        let number = self.orbits.iter().filter(|orbit| !followed(orbit)).count();
        let fastest = self.orbits.iter().find(|orbit| orbit.hardness >= SURELY_HARD && !followed(orbit))?;
        Some(format!(
            "{} takes fewer than {FEWEST_STEPS} steps of {}.dt = {} an orbit for {}: the period of {} is {}. Choose a \
             shorter dt, or a scheme with individual steps",
            self.terms.scheme.title,
            self.terms.scheme.section,
            self.terms.units.readable(dt, Dimension::TIME),
            self.some(number),
            Self::who(fastest),
            self.time(fastest.pair.period())
        ))
    }

    /// Bodies about a central one, of which the slow ones have steps too long for the motion that the fastest gives to it.
    fn of_long_steps(&self) -> Option<String> {
        let Steps::Blocks(BlockSteps { nu, range: [_, dt_max], .. }) = self.terms.steps else { return None };
        let section = self.terms.scheme.section;
        let is_fine = self.terms.scheme.order >= HIGH_ORDER && nu < FINE && self.kind != Kind::Cluster;
        // What moves it much is seen by all.
        let moves_it = |orbit: &&CloseOrbit| {
            let ([a, b], all) = (orbit.pair.mass, self.whole.mass);
            a.max(b) > 0.5 * all && a.min(b) > 0.0 && a.min(b) < SLIGHT * all
        };
        let fastest = self.orbits.iter().find(moves_it).filter(|_| is_fine)?;
        let slowest = self.orbits.last().filter(|it| it.pair.period() > SLOW * fastest.pair.period())?;
        let period = fastest.pair.period() * self.terms.scale.time;
        (dt_max * FEWEST_LONGEST_STEPS > period).then(|| {
            format!(
                "{section}.dt_max = {} is {} of the shortest period, that of {}: slow bodies, as {}, do not resolve with so long \
                 steps how the central body moves in that period, and the energy error has a floor that a smaller {} hardly lowers. Set {section}.dt_max \
                 to at most a {ENOUGH_LONGEST_STEPS}th of the period, {}; it costs few steps",
                self.terms.units.readable(dt_max, Dimension::TIME),
                digits(dt_max / period),
                Self::who(fastest),
                Self::who(slowest),
                self.terms.scheme.accuracy_key,
                self.terms.units.readable(period / ENOUGH_LONGEST_STEPS, Dimension::TIME)
            )
        })
    }

    fn of_touching(&self) -> Option<String> {
        let [a, b] = *self.touching.first()?;
        let who = match self.touching.len() {
            1 => format!("particles {a} and {b} touch at the pericentre"),
            n => format!("{n} pairs touch at the pericentre, particles {a} and {b} most"),
        };
        Some(format!(
            "{who}: a (1 - e) is below the sum of the radii, so that the two stars \
             meet on their first orbit. Stars that have lived as binaries are not so near: choose a larger a_min, lower eccentricities of \
             close binaries, or eigenevolution in [initial.binaries]"
        ))
    }

    fn of_averaged(&self) -> Option<String> {
        const MAX_NAMED: usize = 3;
        let name = |ids: &Vec<u64>| ids.iter().map(u64::to_string).collect::<Vec<_>>().join(" + ");
        let names: Vec<String> = self.averaged.iter().take(MAX_NAMED).map(name).collect();
        let more = if self.averaged.len() > MAX_NAMED { ", ..." } else { "" };
        let (what, both) = match self.averaged.len() {
            0 => return None,
            1 => ("a stable system".to_owned(), "its inner and its outer orbit"),
            n => (format!("{n} stable systems"), "their inner and their outer orbits"),
        };
        Some(format!(
            "[encounters] follows {what} (particles {}{more}) in the mean over {both}: it leaves out what changes within an outer period, \
             which a smaller encounters.perturbation does not bring back and the energy error does not show. Set encounters.mean_orbits = \
             false to follow the orbits themselves",
            names.join(", ")
        ))
    }

    fn of_coarsest(&self) -> Option<String> {
        let ([a, b], error) = self.coarsest?;
        Some(format!(
            "positions are too far from the origin for the closest pairs: where particles {a} and {b} are, neighbouring numbers are {error:.1e} \
             of their separation apart, and so is what positions in files say of their orbits. Snapshots of runs \
             with [encounters] also have the stars of subsystems relative to each other, in full, and a new run from a snapshot takes \
             these; a run from another file is exact with an origin near the stars"
        ))
    }

    fn of_knot(&self) -> Option<String> {
        let knot = self.knot?;
        Some(format!(
            "{} bodies around particle {} are a knot: half of them within {}, and far from all others. A subsystem holds up \
             to {MAX_MEMBERS}, so that each of these takes steps of its own, and all others wait for them: their crossing time is \
             {}, and {} of these are left to t_end. Until they have thrown each other out the run is slow; limits.wall_time \
             ends it with a checkpoint",
            knot.bodies,
            knot.id,
            self.length(knot.radius),
            self.time(knot.crossing_time),
            digits(self.terms.span / knot.crossing_time)
        ))
    }

    fn of_many_steps(&self) -> Option<String> {
        let fastest = self.orbits.first().filter(|_| !self.terms.encounters)?;
        let many =
            matches!(self.terms.steps, Steps::Blocks(_)) && self.orbits_to_end() * self.steps_per_orbit() > MANY_STEPS;
        many.then(|| {
            let [one, _] = self.names();
            format!(
                "the fastest {one}, {} with a period of {}, takes about {}{} ({} orbits to t_end of {} steps). \
                 [encounters] with softening.epsilon = 0 avoids this; so does an earlier t_end",
                Self::who(fastest),
                self.time(fastest.pair.period()),
                self.steps_to_end(),
                self.takes(),
                digits(self.orbits_to_end()),
                digits(self.steps_per_orbit())
            )
        })
    }
}

/// Describes a wall time with two digits.
fn wall_time(seconds: f64) -> String {
    const UNITS: [(&str, f64); 6] =
        [("yr", 31_557_600.0), ("d", 86_400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3)];
    let (name, unit) = UNITS.into_iter().find(|(_, unit)| seconds >= 1.5 * unit).unwrap_or(("ms", 1e-3));
    let number = seconds / unit;
    if number < 10.0 { format!("{number:.1} {name}") } else { format!("{number:.0} {name}") }
}
