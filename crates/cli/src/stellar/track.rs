//! The track of a star as rows, dense enough for a curve.

use tisane_io::provenance::{git_commit, version};
use tisane_io::table::{Column, Table, Values};
use tisane_stellar::{Event, Kind, Model, Star, State};

/// Number of rows of a remnant that cools: the first ones are close together.
const COOLING_ROWS: u32 = 120;
/// Relative change of radius or luminosity from row to row, above which a stretch of the track gets more rows.
const LARGEST_CHANGE: f64 = 0.05;
/// Largest number of rows of a stretch.
const MOST_ROWS: f64 = 100.0;

/// State of a star at a time.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Time since birth, in Myr.
    pub time: f64,
    /// State.
    pub state: State,
}

impl Row {
    /// Returns the luminosity in solar luminosities, NaN where there is no light.
    pub fn luminosity(&self) -> f64 {
        if self.state.kind < Kind::BlackHole { self.state.luminosity } else { f64::NAN }
    }

    /// Returns the effective temperature in K, NaN where there is no light.
    pub fn temperature(&self) -> f64 {
        if self.state.kind < Kind::BlackHole { self.state.temperature() } else { f64::NAN }
    }

    /// Returns the radius in solar radii, NaN where nothing is left.
    pub fn radius(&self) -> f64 {
        if self.state.kind < Kind::NoRemnant { self.state.radius } else { f64::NAN }
    }
}

/// Life of a star until a time.
#[derive(Clone, Debug)]
pub struct Track {
    /// Mass at birth, in solar masses.
    pub birth_mass: f64,
    /// States in the order of time. At a change of type there are two rows of one time, before and after.
    pub rows: Vec<Row>,
    /// Changes of type.
    pub events: Vec<Event>,
}

impl Track {
    /// Follows a star from its birth until a time, in Myr: a row for each stretch of its track, more where it changes
    /// fast.
    pub fn new(model: &Model, mut star: Star, until: f64) -> Self {
        let mut rows = vec![Row { time: star.begin, state: star.state }];
        let mut events = Vec::new();
        while star.end <= until {
            let (end, known) = (star.end, events.len());
            rows.extend(inside(model, &star, end));
            star.advance_to(model, end, &mut events);
            match &events[known..] {
                [] => {
                    rows.pop();
                    rows.push(Row { time: end, state: star.state });
                }
                new => rows.extend(new.iter().map(|event| Row { time: event.time, state: event.after })),
            }
        }
        if star.begin < until {
            match star.state.kind {
                kind if kind < Kind::HeliumWhiteDwarf => rows.extend(inside(model, &star, until)),
                kind if kind < Kind::BlackHole => rows.extend(cooling(model, &star, until)),
                _ => rows.push(Row { time: until, state: star.state }),
            }
        }
        Self { birth_mass: star.birth_mass, rows, events }
    }

    /// Returns the time at which the star became a remnant, in Myr.
    pub fn end_of_life(&self) -> Option<f64> {
        self.events.iter().find(|event| event.after.kind.is_remnant()).map(|event| event.time)
    }
}

/// Returns rows of a stretch until a time in it: after its begin, up to that time.
fn inside(model: &Model, star: &Star, until: f64) -> impl Iterator<Item = Row> {
    let (first, last) = (star.state, star.state_at(model, until));
    let change = |a: f64, b: f64| a.max(b) / a.min(b) - 1.0;
    let change = change(first.radius, last.radius).max(change(first.luminosity, last.luminosity));
    let count = (change / LARGEST_CHANGE).ceil().clamp(1.0, MOST_ROWS) as u32;
    (1..=count).map(move |k| {
        let time = star.begin + (until - star.begin) * (f64::from(k) / f64::from(count));
        let time = if k == count { until } else { time };
        Row { time, state: star.state_at(model, time) }
    })
}

/// Returns rows of a remnant that cools, until a time.
fn cooling(model: &Model, star: &Star, until: f64) -> impl Iterator<Item = Row> {
    (1..=COOLING_ROWS).map(move |k| {
        let share = f64::from(k) / f64::from(COOLING_ROWS);
        let time = star.begin + (until - star.begin) * (share * share) * (share * share);
        let time = if k == COOLING_ROWS { until } else { time };
        Row { time, state: star.state_at(model, time) }
    })
}

/// Returns all tracks as one table.
pub fn table(tracks: &[Track], about: &str) -> Table {
    let rows =
        || tracks.iter().zip(1u64..).flat_map(|(track, star)| track.rows.iter().map(move |row| (star, track, row)));
    let floats =
        |of: &dyn Fn(&Track, &Row) -> f64| Values::Floats(rows().map(|(_, track, row)| of(track, row)).collect());
    let counts = |of: &dyn Fn(u64, &Row) -> u64| Values::Counts(rows().map(|(star, _, row)| of(star, row)).collect());
    Table {
        title: about.to_owned(),
        remarks: vec![("tisane".to_owned(), format!("{} ({})", version(), git_commit()))],
        columns: vec![
            Column::new("time", "Myr", "time since birth", floats(&|_, row| row.time)),
            Column::new("star", "1", "number of the star on the command line", counts(&|star, _| star)),
            Column::new("birth_mass", "Msun", "mass at birth", floats(&|track, _| track.birth_mass)),
            Column::new("type", "1", "type, 0 to 15", counts(&|_, row| row.state.kind.number().into())),
            Column::new("mass", "Msun", "mass", floats(&|_, row| row.state.mass)),
            Column::new("core_mass", "Msun", CORE, floats(&|_, row| row.state.core_mass)),
            Column::new("luminosity", "Lsun", "luminosity; nan of a black hole", floats(&|_, row| row.luminosity())),
            Column::new(
                "radius",
                "Rsun",
                "radius; of a black hole that of its horizon",
                floats(&|_, row| row.radius()),
            ),
            Column::new(
                "temperature",
                "K",
                "effective temperature; nan of a black hole",
                floats(&|_, row| row.temperature()),
            ),
        ],
    }
}

/// Description of the mass of the core.
const CORE: &str =
    "mass of the core: of helium for types 2 to 5, of carbon and oxygen for 6, 8 and 9, all of a remnant";
