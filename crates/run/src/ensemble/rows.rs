//! Tables of an ensemble: a row for each member that has ended, one for each output, and those of the journals of members.

use super::journals;
use super::members::Members;
use super::table_set::TableSet;
use crate::config::{Config, StopAt};
use std::collections::BTreeMap;
use tisane::diagnostics::outcome::Departure;
use tisane::units::{Dimension, Scale, Units};
use tisane_io::fields::{ClusterRow, ColumnSpec, DiagnosticsRow, Journal, JournalRow, TideColumns};
use tisane_io::table::{Column, ColumnKind, Table, Value, Values};

/// Columns of the series from the diagnostics of a member.
const OF_DIAGNOSTICS: [&str; 6] =
    ["time", "kinetic_energy", "potential_energy", "energy", "relative_energy_error", "virial_ratio"];
/// Energy error of a cluster, of its diagnostics.
const CLUSTER_ERROR: &str = "cluster_energy_error";
/// Columns of the series where collisions or escapers are looked for.
const OF_STARS: [&str; 2] = ["removed_energy", "particles"];
/// Columns of the series from the diagnostics of a member whose stars evolve.
const OF_EVOLUTION: [&str; 5] = ["stellar_mass", "luminosity", "white_dwarfs", "neutron_stars", "black_holes"];
/// Columns of the series from the survey of its cluster.
const OF_CLUSTER: [&str; 10] = [
    "bound_mass",
    "bound_number",
    "core_radius",
    "core_density",
    "relaxation_time",
    "lagrangian_radius_0100",
    "lagrangian_radius_0500",
    "lagrangian_radius_0900",
    "binaries",
    "escapers",
];

/// Number of the binaries that are bound to a cluster, of its survey.
const BOUND_BINARIES: &str = "bound_binaries";

/// Columns of the series from the survey of a cluster in a tide.
const OF_TIDE: [&str; 4] = ["tidal_radius", "tidal_mass", "tidal_half_mass_radius", "jacobi_bound_mass"];

/// End of a member, and what was measured of it. Quantities in internal units.
#[derive(Clone, Debug, Default)]
pub struct MemberRow {
    /// Number of the member.
    pub member: u64,
    /// Way in which it ended: one word.
    pub outcome: String,
    /// Number of particles at its end.
    pub n: u64,
    /// Time reached; unit: time.
    pub time: f64,
    /// Energy at the start.
    pub energy: f64,
    /// (E − E₀) / |E₀| at the last output; of an encounter relative to the binding energy of the binary at the start.
    pub energy_error: f64,
    /// Largest |energy error| of any output.
    pub max_energy_error: f64,
    /// |L − L₀| / |L₀| at the last output; NaN in an external field, which does not conserve L.
    pub angular_momentum_error: f64,
    /// Root mean square of the relative errors of the accelerations at the last output, against f64 on the CPU.
    pub acceleration_error: f64,
    /// Share of the initial mass that is bound, in a tide within the tidal radius, at the last output; NaN where it is not
    /// looked for.
    pub bound_fraction: f64,
    /// Body that left a binary, and the binary that remained; none where that did not happen or is not looked for.
    pub departure: Option<Departure>,
    /// Number of block steps.
    pub block_steps: u64,
    /// Number of particle steps.
    pub particle_steps: u64,
    /// Number of particle steps clamped at dt_min.
    pub clamped_steps: u64,
    /// Number of contacts and mergers of stars.
    pub contacts: u64,
    /// Number of stars that escaped.
    pub escapes: u64,
    /// Energy that mergers and escapes took out.
    pub removed_energy: f64,
    /// Number of its rows of the encounters journal.
    pub encounters_rows: u64,
    /// Number of its rows of the stellar journal.
    pub stellar_rows: u64,
    /// Wall time from its start to its end, in s.
    pub wall_seconds: f64,
    /// SHA-256 of its last state.
    pub state_sha256: String,
    /// Error that ended it.
    pub problem: String,
    /// User units in one internal unit.
    pub scale: Option<Scale>,
}

/// What the rows of the members have beside the columns of all ensembles.
#[derive(Clone, Copy, Debug)]
struct Ends {
    stop: StopAt,
    /// Flag that collisions or escapers are looked for.
    star_events: bool,
    /// Flag that the encounters journal is kept.
    encounters: bool,
    /// Flag that the stellar journal is kept.
    stellar: bool,
}

/// Tables of an ensemble without rows, and how rows for them are made.
#[derive(Clone, Debug)]
pub struct Tables {
    pub(super) empty: TableSet<Table>,
    keys: Vec<(String, ColumnKind)>,
    ends: Ends,
    of_diagnostics: Vec<&'static str>,
    of_cluster: Vec<&'static str>,
}

impl Tables {
    /// Creates the tables of an ensemble that keeps these journals of its members. `more_of_clusters` is the flag that the series has all
    /// columns of clusters, not those of version 0.3.0 alone.
    #[must_use]
    pub fn new(config: &Config, members: &Members, journals: &[Journal], more_of_clusters: bool) -> Self {
        let units = config.units();
        let keys: Vec<(String, ColumnKind)> = members.kinds().collect();
        let ensemble = config.ensemble.clone().unwrap_or_default();
        let stop = ensemble.stop;
        let of_evolution = |key: &str| key.split('.').next() == Some("stellar_evolution");
        let evolves = config.stellar_evolution.is_some() || keys.iter().any(|(key, _)| of_evolution(key));
        let title = |what: &str| format!("{what} of the ensemble {}", config.run.name);
        let remarks = vec![("members".to_owned(), members.count().to_string())];
        let table = |what: &str, columns| Table { title: title(what), remarks: remarks.clone(), columns };
        let of_journal = |&journal: &Journal| {
            let columns = std::iter::once(number_column()).chain(journals::columns(journal, &units)).collect();
            (journal, table(journals::title(journal), columns))
        };
        let journals: BTreeMap<Journal, Table> = journals.iter().map(of_journal).collect();
        let star_events = config.has_star_events() || journals.contains_key(&Journal::Stars);
        let of_diagnostics = of_diagnostics(star_events, evolves, config.cluster.enabled && more_of_clusters);
        let of_cluster = of_cluster(config, more_of_clusters);
        let series = ensemble.series.then(|| table("Outputs", series_columns(&units, &of_diagnostics, &of_cluster)));
        let has = |journal: Journal| journals.contains_key(&journal);
        let ends = Ends { stop, star_events, encounters: has(Journal::Encounters), stellar: has(Journal::Stellar) };
        let members = table("Members", member_columns(&units, &keys, ends));
        Self { empty: TableSet { members, series, journals }, keys, ends, of_diagnostics, of_cluster }
    }

    /// Returns the row of a member with its settings.
    #[must_use]
    pub fn member(&self, row: &MemberRow, settings: &[(String, toml::Value)]) -> Vec<Value> {
        let scale = row.scale.unwrap_or(Scale::IDENTITY);
        let settings = self.keys.iter().zip(settings).map(|((_, kind), (_, value))| cell(*kind, value));
        let energy = row.energy * scale.factor(Dimension::ENERGY);
        let mut values = vec![Value::Count(row.member)];
        values.extend(settings);
        values.extend([
            Value::Text(row.outcome.clone()),
            Value::Count(row.n),
            Value::Float(row.time),
            Value::Float(energy),
            Value::Float(row.energy_error),
            Value::Float(row.max_energy_error),
            Value::Float(row.angular_momentum_error),
            Value::Float(row.acceleration_error),
        ]);
        match self.ends.stop {
            StopAt::End => {}
            StopAt::Dissolution => values.push(Value::Float(row.bound_fraction)),
            StopAt::Escape => {
                let of = |value: fn(&Departure) -> f64| row.departure.as_ref().map_or(f64::NAN, value);
                let escaper = row.departure.map(|departure| departure.escaper.to_string());
                values.extend([
                    Value::Text(escaper.unwrap_or_default()),
                    Value::Float(of(|it| it.semi_major_axis) * scale.length),
                    Value::Float(of(|it| it.eccentricity)),
                    Value::Float(of(|it| it.velocity) * scale.velocity),
                ]);
            }
        }
        if self.ends.star_events {
            values.extend([
                Value::Count(row.contacts),
                Value::Count(row.escapes),
                Value::Float(row.removed_energy * scale.factor(Dimension::ENERGY)),
            ]);
        }
        values.extend(self.ends.encounters.then_some(Value::Count(row.encounters_rows)));
        values.extend(self.ends.stellar.then_some(Value::Count(row.stellar_rows)));
        values.extend([
            Value::Count(row.block_steps),
            Value::Count(row.particle_steps),
            Value::Count(row.clamped_steps),
            Value::Float(row.wall_seconds),
            Value::Text(row.state_sha256.clone()),
            Value::Text(row.problem.replace(['\n', '\r'], " ")),
        ]);
        values
    }

    /// Returns true if the series has the energy error of the clusters.
    #[must_use]
    pub fn has_cluster_errors(&self) -> bool {
        self.empty.series.is_some() && self.of_diagnostics.contains(&CLUSTER_ERROR)
    }

    /// Returns the row of an output.
    #[must_use]
    pub fn output(&self, member: u64, row: &DiagnosticsRow, cluster: Option<&ClusterRow>, scale: &Scale) -> Vec<Value> {
        let mut values = vec![Value::Count(member)];
        let of_diagnostics = chosen::<DiagnosticsRow>(&self.of_diagnostics);
        values.extend(of_diagnostics.map(|(at, _)| row.values(scale)[at].clone()));
        // Members by another law than Newton's have no survey, also where it is the law that differs.
        let all = cluster.map(|cluster| cluster.values(scale));
        let value = |(at, column): (usize, ColumnSpec)| match (&all, column.kind) {
            (Some(all), _) => all[at].clone(),
            (None, ColumnKind::Float) => Value::Float(f64::NAN),
            (None, ColumnKind::Count) => Value::Count(0),
            (None, ColumnKind::Text) => Value::Text(String::new()),
        };
        values.extend(chosen::<ClusterRow>(&self.of_cluster).map(value));
        values
    }
}

/// Returns the columns of a journal that have one of these names, with their places in a row.
fn chosen<R: JournalRow>(names: &[&'static str]) -> impl Iterator<Item = (usize, ColumnSpec)> {
    R::columns().into_iter().enumerate().filter(move |(_, column)| names.contains(&column.name.as_str()))
}

/// Returns the columns of the series from the diagnostics of a member.
fn of_diagnostics(star_events: bool, evolves: bool, cluster_errors: bool) -> Vec<&'static str> {
    let more = [(cluster_errors, &[CLUSTER_ERROR][..]), (star_events, &OF_STARS), (evolves, &OF_EVOLUTION)];
    let more = more.into_iter().filter(|(is_there, _)| *is_there).flat_map(|(_, names)| names);
    OF_DIAGNOSTICS.iter().chain(more).copied().collect()
}

/// Returns the columns of the series from the surveys of a member, which there are only with `[cluster]`.
fn of_cluster(config: &Config, more_of_clusters: bool) -> Vec<&'static str> {
    let (is_there, in_tide) = (config.cluster.enabled, config.cluster_columns().tide != TideColumns::None);
    let more = is_there && more_of_clusters;
    let columns = [(is_there, &OF_CLUSTER[..]), (more, &[BOUND_BINARIES]), (more && in_tide, &OF_TIDE)];
    columns.into_iter().filter(|(is_there, _)| *is_there).flat_map(|(_, names)| names).copied().collect()
}

fn series_columns(units: &Units, of_diagnostics: &[&'static str], of_cluster: &[&'static str]) -> Vec<Column> {
    let diagnostics = chosen::<DiagnosticsRow>(of_diagnostics).map(|(_, column)| column.column(units));
    let cluster = chosen::<ClusterRow>(of_cluster).map(|(_, column)| column.column(units));
    std::iter::once(number_column()).chain(diagnostics).chain(cluster).collect()
}

fn number_column() -> Column {
    Column::new("member", "", "Number of the member", Values::empty(ColumnKind::Count))
}

fn member_columns(units: &Units, keys: &[(String, ColumnKind)], ends: Ends) -> Vec<Column> {
    use ColumnKind::{Count, Float, Text};
    let (time, energy) = (units.time.name.clone(), units.label(Dimension::ENERGY));
    let column = |name: &str, unit: &str, about: &str, kind| Column::new(name, unit, about, Values::empty(kind));
    let scale = if ends.stop == StopAt::Escape {
        "binding energy of the binary at the start"
    } else {
        "scale of the energy at the start"
    };
    let mut columns = vec![column("member", "", "Number of the member, from 0", Count)];
    columns.extend(keys.iter().map(|(key, kind)| column(key, "", "Setting of the member", *kind)));
    columns.extend([
        column(
            "outcome",
            "",
            "End of the member: finished, dissolved, collision, flyby, exchange, ionisation, unresolved, failed",
            Text,
        ),
        column("n", "", "Number of particles at its end", Count),
        column("time", &time, "Time reached", Float),
        column("energy", &energy, "Energy at the start", Float),
        column("energy_error", "1", &format!("Energy error at the last output, relative to the {scale}"), Float),
        column(
            "max_energy_error",
            "1",
            &format!("Largest |energy error| of any output, relative to the {scale}"),
            Float,
        ),
        column(
            "angular_momentum_error",
            "1",
            "Relative error of the angular momentum at the last output; none in an external field",
            Float,
        ),
        column("acceleration_error", "1", "RMS of the relative errors of accelerations against f64 on the CPU", Float),
    ]);
    let (length, velocity) = (&units.length.name, &units.velocity.name);
    match ends.stop {
        StopAt::End => {}
        StopAt::Dissolution => {
            columns.push(column(
                "bound_fraction",
                "1",
                "Bound mass at the last output over the initial mass; in a tide that within the tidal radius",
                Float,
            ));
        }
        StopAt::Escape => columns.extend([
            column("escaper", "", "Id of the star that left a binary; empty if none did", Text),
            column("semi_major_axis", length, "Semi-major axis of the binary that remained", Float),
            column("eccentricity", "1", "Eccentricity of the binary that remained", Float),
            column("velocity", velocity, "Velocity of star and binary at infinity", Float),
        ]),
    }
    if ends.star_events {
        columns.extend([
            column("contacts", "", "Number of contacts and mergers of stars", Count),
            column(
                "escapes",
                "",
                "Number of stars that escaped; one that came back and escaped again counts twice",
                Count,
            ),
            column(
                "removed_energy",
                &units.label(Dimension::ENERGY),
                "Energy that mergers and escapes took out",
                Float,
            ),
        ]);
    }
    let rows = |name: &str, file: &str| column(name, "", &format!("Number of its rows in {file}"), Count);
    columns.extend(ends.encounters.then(|| rows("encounters_rows", Journal::Encounters.csv())));
    columns.extend(ends.stellar.then(|| rows("stellar_rows", Journal::Stellar.csv())));
    columns.extend([
        column("block_steps", "", "Number of block steps", Count),
        column("particle_steps", "", "Number of particle steps", Count),
        column("clamped_steps", "", "Number of particle steps clamped at dt_min", Count),
        column("wall_seconds", "s", "Wall time from its start to its end", Float),
        column("state_sha256", "", "SHA-256 of its last state", Text),
        column("problem", "", "Error that ended it", Text),
    ]);
    columns
}

/// Returns a setting as a value of a column.
fn cell(kind: ColumnKind, value: &toml::Value) -> Value {
    match kind {
        ColumnKind::Count => Value::Count(value.as_integer().and_then(|x| u64::try_from(x).ok()).unwrap_or_default()),
        ColumnKind::Float => {
            Value::Float(value.as_float().or(value.as_integer().map(|x| x as f64)).unwrap_or(f64::NAN))
        }
        ColumnKind::Text => Value::Text(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::path::Path;

    #[test]
    fn rows_fit_their_tables() {
        let text = "[run]\nname = \"a\"\nt_end = 1\n[initial.plummer]\nn = 8\n[ensemble]\nseries = true\n\
                    stop = \"dissolution\"\n[ensemble.vary]\n\"softening.epsilon\" = [0, 0.5]\n\
                    \"force.precision\" = [\"f64\", \"mixed\"]\n\"initial.plummer.seed\" = { from = 1, to = 3 }";
        let config = Config::from_str("a", text, Path::new(""), &[]).unwrap().config;
        let members = Members::new(&config, &Default::default()).unwrap();
        let mut tables = Tables::new(&config, &members, &[Journal::Encounters, Journal::Stellar], true);
        let row = MemberRow { outcome: "finished".into(), ..MemberRow::default() };
        let values = tables.member(&row, &members.settings(11));
        tables.empty.members.push(values);
        let texts: Vec<String> = tables.empty.members.columns.iter().map(|column| column.values.cell(0)).collect();
        assert_eq!(texts[..4], ["0", "mixed", "3", "5e-1"]);
        let mut series = tables.empty.series.clone().unwrap();
        let cluster = ClusterRow::default();
        series.push(tables.output(3, &DiagnosticsRow::default(), Some(&cluster), &Scale::IDENTITY));
        series.push(tables.output(4, &DiagnosticsRow::default(), None, &Scale::IDENTITY));
        assert!(series.columns.iter().all(|column| column.values.len() == 2), "{series:?}");
        assert_eq!(
            series.columns.len(),
            1 + OF_DIAGNOSTICS.len() + 1 + OF_CLUSTER.len() + 1,
            "{:?}",
            series.names().collect::<Vec<_>>()
        );
    }

    #[test]
    fn the_series_of_clusters_have_their_errors_bound_binaries_and_tidal_mass() {
        let columns = |orbit: &str, more_of_clusters: bool| {
            let text = format!(
                "[run]\nname = \"a\"\nt_end = 1\n[initial.plummer]\nn = 8\n[external.point-mass]\nmass = 1e3\n{orbit}\
                 [ensemble]\nrealisations = 2\nseries = true"
            );
            let config = Config::from_str("a", &text, Path::new(""), &[]).unwrap().config;
            let members = Members::new(&config, &Default::default()).unwrap();
            let series = Tables::new(&config, &members, &[], more_of_clusters).empty.series.unwrap();
            series.names().map(str::to_owned).collect::<Vec<String>>()
        };
        let in_tide = columns("[orbit]\ncircular = 100\n", true);
        assert!(OF_TIDE.iter().all(|name| in_tide.iter().any(|column| column == name)), "{in_tide:?}");
        let mut alone = columns("", true);
        assert_eq!(alone.len() + OF_TIDE.len(), in_tide.len());
        for name in [CLUSTER_ERROR, BOUND_BINARIES] {
            alone.remove(alone.iter().position(|column| column == name).expect(name));
        }
        assert_eq!(alone, columns("[orbit]\ncircular = 100\n", false));
    }
}
