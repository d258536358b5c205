//! What the tests share: tables, and the largest deviations by column.

#![allow(dead_code, reason = "no test uses all of it")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use tisane_stellar::{Kind, Model, Star};

/// A table with a head.
pub struct Table {
    name: &'static str,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// A row of a table.
pub struct Row<'a> {
    table: &'a Table,
    number: usize,
}

impl Table {
    /// Reads a table of other programs; says so and returns [`None`] where the folder is not there.
    pub fn read(name: &'static str) -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/stellar");
        let file = folder.join(name);
        let Ok(text) = std::fs::read_to_string(&file) else {
            eprintln!("SKIPPED: no {}: this table is not part of the repository", file.display());
            return None;
        };
        Some(Self::parse(name, &text))
    }

    /// Parses a table.
    pub fn parse(name: &'static str, text: &str) -> Self {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let line = |record: &csv::StringRecord| record.iter().map(String::from).collect();
        let head = line(reader.headers().expect("a head"));
        let rows: Vec<_> = reader.records().map(|record| line(&record.expect("a row"))).collect();
        assert!(!rows.is_empty(), "{name} has no rows");
        Self { name, head, rows }
    }

    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.rows.len()).map(|number| Row { table: self, number })
    }
}

impl Row<'_> {
    pub fn text(&self, column: &str) -> &str {
        let index = self.table.head.iter().position(|name| name == column);
        &self.table.rows[self.number][index.unwrap_or_else(|| panic!("{} has no column {column}", self.table.name))]
    }

    pub fn number(&self, column: &str) -> f64 {
        let text = self.text(column);
        text.parse().unwrap_or_else(|_| panic!("{}: {column} is {text:?}", self.place()))
    }

    pub fn kind(&self, column: &str) -> Kind {
        Kind::from_number(self.number(column) as u8).expect("a type")
    }

    /// Place for messages: the line and its first cells.
    pub fn place(&self) -> String {
        let cells = self.table.rows[self.number].iter().take(5).cloned().collect::<Vec<_>>().join(",");
        format!("line {} ({cells})", self.number + 2)
    }
}

/// Returns the relative deviation.
pub fn ratio(value: f64, wanted: f64) -> f64 {
    if value == wanted { 0.0 } else { (value - wanted).abs() / wanted.abs().max(1e-300) }
}

/// Largest deviations by column.
#[derive(Default)]
pub struct Deviations(BTreeMap<String, Vec<(f64, String)>>);

impl Deviations {
    pub fn note(&mut self, column: &str, deviation: f64, place: String) {
        let deviation = if deviation.is_nan() { f64::INFINITY } else { deviation };
        self.0.entry(column.into()).or_default().push((deviation, place));
    }

    /// Prints the largest deviation of each column, with its place, and fails if one is above the bound of its column.
    pub fn expect(mut self, title: &str, bounds: &[(&str, f64)]) {
        let (mut text, mut is_good) = (format!("{title}\n"), true);
        for (column, all) in &mut self.0 {
            all.sort_by(|a, b| b.0.total_cmp(&a.0));
            let (largest, place) = &all[0];
            let ninth = all[all.len() / 10].0;
            let bound = bounds.iter().find(|(name, _)| name == column || name.is_empty()).expect("a bound").1;
            let mark = if *largest > bound { "  TOO LARGE" } else { "" };
            is_good &= *largest <= bound;
            writeln!(
                text,
                "  {column:16} {largest:9.2e}, 90 % below {ninth:9.2e}, {} values: {place}{mark}",
                all.len()
            )
            .expect("room");
        }
        eprintln!("{text}");
        assert!(is_good, "{text}");
    }

    pub fn expect_below(self, title: &str, bound: f64) {
        self.expect(title, &[("", bound)]);
    }
}

/// Stars of equal steps in log M with the mass function of Kroupa (2001, MNRAS 322, 231) from 0.08 to 100 solar masses.
pub struct Population {
    model: Model,
    stars: Vec<(f64, Star)>,
}

/// Shares of the initial mass of a population.
#[derive(Debug, Default)]
pub struct Sums {
    pub mass: f64,
    pub white_dwarfs: f64,
    pub neutron_stars: f64,
    pub black_holes: f64,
}

impl Population {
    pub fn new(model: Model, n: u32) -> Self {
        let (least, greatest) = (0.08_f64.ln(), 100.0_f64.ln());
        let star = |i: u32| {
            let mass = (least + (greatest - least) * (f64::from(i) + 0.5) / f64::from(n)).exp();
            let number = if mass < 0.5 { 2.0 * mass.powf(-0.3) } else { mass.powf(-1.3) };
            (number, Star::new(&model, u64::from(i), mass, 0.0).expect("a mass of the fits"))
        };
        Self { stars: (0..n).map(star).collect(), model }
    }

    /// Evolves all stars to a time, in Myr, and sums their masses.
    pub fn at(&mut self, time: f64) -> Sums {
        let mut sums = Sums::default();
        let mut initial = 0.0;
        for (number, star) in &mut self.stars {
            star.advance_to(&self.model, time, &mut Vec::new());
            let mass = *number * star.mass_at(time);
            initial += *number * star.birth_mass;
            sums.mass += mass;
            match star.state.kind {
                Kind::HeliumWhiteDwarf | Kind::CarbonOxygenWhiteDwarf | Kind::OxygenNeonWhiteDwarf => {
                    sums.white_dwarfs += mass;
                }
                Kind::NeutronStar => sums.neutron_stars += mass,
                Kind::BlackHole => sums.black_holes += mass,
                _ => {}
            }
        }
        for sum in [&mut sums.mass, &mut sums.white_dwarfs, &mut sums.neutron_stars, &mut sums.black_holes] {
            *sum /= initial;
        }
        sums
    }
}
