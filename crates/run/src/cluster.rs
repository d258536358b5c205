//! Surveys of the cluster, made with [`diagnostics::cluster`](tisane::diagnostics::cluster), as rows of the journals
//! `cluster`, `binaries` and `events`: during a run, or from its snapshots.
//!
//! Both use the values that a snapshot holds: in the user's units, converted back to internal units. The rows of a run
//! and those made from its snapshots are therefore the same to the bit, whatever rounding the conversion brings.

mod events;

use std::path::Path;
use tisane::diagnostics::cluster::catalogue::{Entry, FoundBy};
use tisane::diagnostics::cluster::followed::FollowedPair;
use tisane::diagnostics::cluster::{Settings, Stars, Survey, TidalSurvey};
use tisane::diagnostics::structure::{crossing_time, virial_radius};
use tisane::error::Result;
use tisane::force::external::guide::OrbitState;
use tisane::particles::{Particles, Vec3, components_mut};
use tisane::subsystems::Description;
use tisane::tidal_frame::{TidalFrame, TideSource};
use tisane::units::{Dimension, Scale};
use tisane_io::checkpoint::OutputCounts;
use tisane_io::fields::{BinaryRow, ClusterColumns, ClusterRow, EventRow, FRACTIONS, UserTime};
use tisane_io::file_units::FileUnits;
use tisane_io::history::History;
use tisane_io::journal::{self, JournalWriter};
use tisane_io::provenance::Provenance;
use tisane_io::snapshot::SnapshotData;
use tisane_io::stellar_columns::StarState;
use tisane_stellar::{Class, Kind};

/// Interval and settings of the surveys of the cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Interval, in `dt_max`.
    pub every: u64,
    /// Settings of the survey.
    pub settings: Settings,
    /// Optional columns of the journal.
    pub columns: ClusterColumns,
}

/// Survey of the cluster with the mass fractions of the files, and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedSurvey {
    /// Time, in the user's unit.
    pub time: f64,
    /// The survey, in internal units.
    pub survey: Survey<{ FRACTIONS.len() }>,
    /// Place of the cluster in the tide, if there is one, in internal units.
    pub place: Option<Place>,
}

/// Place of a cluster in a tide, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Place and velocity of the origin of coordinates in the fields, if it moves.
    pub orbit: Option<OrbitState>,
    /// Distance of the density centre from where the tide has its centre.
    pub offset: f64,
}

impl TimedSurvey {
    /// Returns the particles of a run with the potentials `pot` and the bound pairs among its `subsystems`, rounded as in a
    /// snapshot, and the states of stars that age.
    #[must_use]
    pub fn stars(
        p: &Particles,
        pot: &[f64],
        (states, subsystems): (&[StarState], &[Description]),
        units: &FileUnits,
    ) -> Stars {
        let scale = &units.scale;
        let there_and_back = |x: f64, d: Dimension| x * scale.factor(d) / scale.factor(d);
        let vectors = |column: &[Vec3], d| column.iter().map(|v| v.map(|x| there_and_back(x, d))).collect();
        let floats = |column: &[f64], d| column.iter().map(|x| there_and_back(*x, d)).collect();
        Stars {
            id: p.id.clone(),
            mass: floats(&p.mass, Dimension::MASS),
            pos: vectors(&p.pos, Dimension::LENGTH),
            vel: vectors(&p.vel, Dimension::VELOCITY),
            pot: floats(pot, Dimension::POTENTIAL),
            states: states.iter().map(|star| star.as_in_snapshot(&units.units)).collect(),
            followed: followed(subsystems.iter().filter_map(FollowedPair::of), there_and_back),
        }
    }

    /// Returns the tide on a cluster at `time`, where the origin of coordinates has the state `orbit`, if it moves; both in the
    /// user's units, as in a snapshot.
    #[must_use]
    pub fn tide(source: &TideSource, orbit: Option<OrbitState>, time: f64, scale: &Scale) -> TidalFrame {
        let back = |x: Vec3, d: Dimension| x.map(|x| x / scale.factor(d));
        let state = |orbit: OrbitState| OrbitState {
            pos: back(orbit.pos, Dimension::LENGTH),
            vel: back(orbit.vel, Dimension::VELOCITY),
        };
        source.with_origin(orbit.map(state), time / scale.factor(Dimension::TIME))
    }

    /// Surveys the particles of a snapshot, in a tide if there is one.
    #[must_use]
    pub fn from_snapshot(data: SnapshotData, settings: &Settings, tide: Option<&TideSource>) -> Self {
        let scale = data.units.scale;
        let back = |x: &mut f64, d: Dimension| *x /= scale.factor(d);
        let SnapshotData { time, id, mut mass, mut pos, mut vel, mut pot, stars, pairs, orbit, .. } = data;
        // Snapshots that do not say where the origin is have no tide.
        let tide = tide.filter(|source| source.circle.is_some() || orbit.is_some());
        let tide = tide.map(|source| Self::tide(source, orbit, time, &scale));
        mass.iter_mut().for_each(|x| back(x, Dimension::MASS));
        components_mut(&mut pos).iter_mut().for_each(|x| back(x, Dimension::LENGTH));
        components_mut(&mut vel).iter_mut().for_each(|x| back(x, Dimension::VELOCITY));
        pot.iter_mut().for_each(|x| back(x, Dimension::POTENTIAL));
        let states = stars.iter().map(|star| star.state).collect();
        let followed = followed(pairs.into_iter(), |x, d| x / scale.factor(d));
        Self::new(&Stars { id, mass, pos, vel, pot, states, followed }, time, settings, tide.as_ref())
    }

    /// Surveys particles at `time`, in the user's unit, in a tide if there is one.
    #[must_use]
    pub fn new(stars: &Stars, time: f64, settings: &Settings, tide: Option<&TidalFrame>) -> Self {
        let survey = Survey::new(stars, settings, FRACTIONS.map(|thousandths| f64::from(thousandths) / 1000.0), tide);
        let offset = |tide: &TidalFrame| (survey.core.centre - tide.expected).norm();
        let place = tide.map(|tide| Place { orbit: tide.orbit, offset: offset(tide) });
        Self { time, survey, place }
    }

    /// Returns the row of the journal `cluster`, on the structure of the cluster.
    #[must_use]
    pub fn row(&self) -> ClusterRow {
        let s = &self.survey;
        let (core_mass, core_number, core_dispersion) = s.within_core;
        let ([kinetic, potential], (bound_mass, bound_number)) = (s.energies, s.bound);
        let orbit = self.place.and_then(|place| place.orbit);
        let tidal = |of: fn(&TidalSurvey) -> f64| self.place.map(|_| s.tidal.as_ref().map_or(f64::NAN, of));
        let number = |of: fn(&TidalSurvey) -> u64| self.place.map(|_| s.tidal.as_ref().map_or(0, of));
        let (population, classes) = (s.population.as_ref(), s.by_class.as_ref());
        let [ms, giants, helium, wd, ns, bh] = Class::ALL.map(|class| class as usize);
        ClusterRow {
            time: UserTime(self.time),
            density_centre: s.core.centre,
            centre_velocity: s.velocity,
            core_density: s.core.density,
            core_radius: s.core.radius,
            core_mass,
            core_number,
            core_dispersion,
            bound_mass,
            bound_number,
            unbound_number: s.number - bound_number,
            escapers: s.escaped,
            kinetic_energy: kinetic,
            potential_energy: potential,
            virial_ratio: kinetic / potential.abs(),
            virial_radius: virial_radius(bound_mass, potential),
            crossing_time: crossing_time(bound_mass, kinetic + potential),
            relaxation_time: s.relaxation_time,
            thermal_energy: s.thermal_energy,
            angular_momentum: s.angular_momentum,
            anisotropy: s.anisotropy,
            mass_segregation: s.mass_segregation[0],
            mass_segregation_error: s.mass_segregation[1],
            binaries: s.systems.iter().filter(|system| !system.is_hierarchy()).count() as u64,
            hierarchies: s.systems.iter().filter(|system| system.is_hierarchy()).count() as u64,
            binding_energy: tisane::compensated_sum::sum(s.systems.iter().map(|system| system.pair.binding_energy())),
            encounters: s.encounters.len() as u64,
            bound_binaries: Some(
                s.systems.iter().filter(|system| !system.is_hierarchy() && system.bound).count() as u64
            ),
            orbit_position: orbit.map(|orbit| orbit.pos),
            orbit_velocity: orbit.map(|orbit| orbit.vel),
            offset: self.place.map(|place| place.offset),
            tidal_radius: tidal(|it| it.radius),
            tidal_radius_at_pericentre: orbit.and_then(|_| tidal(|it| it.radius_at_pericentre)),
            tidal_mass: tidal(|it| it.mass),
            tidal_half_mass_radius: tidal(|it| it.half_mass_radius),
            tidal_number: number(|it| it.number),
            jacobi_bound_mass: tidal(|it| it.jacobi_bound_mass),
            potential_escapers: number(|it| it.potential_escapers),
            main_sequence_mass: population.map(|it| it.mass[ms]),
            giant_mass: population.map(|it| it.mass[giants]),
            helium_star_mass: population.map(|it| it.mass[helium]),
            white_dwarf_mass: population.map(|it| it.mass[wd]),
            neutron_star_mass: population.map(|it| it.mass[ns]),
            black_hole_mass: population.map(|it| it.mass[bh]),
            main_sequence_number: population.map(|it| it.number[ms]),
            giant_number: population.map(|it| it.number[giants]),
            helium_star_number: population.map(|it| it.number[helium]),
            white_dwarf_number: population.map(|it| it.number[wd]),
            neutron_star_number: population.map(|it| it.number[ns]),
            black_hole_number: population.map(|it| it.number[bh]),
            luminosity: population.map(|it| it.luminosity),
            visual_luminosity: population.map(|it| it.visual_luminosity),
            half_mass_radius: population.map(|it| it.half_mass_radius),
            half_light_radius: population.map(|it| it.half_light_radius),
            projected_half_mass_radius: population.map(|it| it.projected_half_mass_radius),
            projected_half_light_radius: population.map(|it| it.projected_half_light_radius),
            projected_visual_half_light_radius: population.map(|it| it.projected_visual_half_light_radius),
            lagrangian_radius: s.lagrangian,
            shell_number: s.shells.map(|shell| shell.number),
            shell_mean_mass: s.shells.map(|shell| shell.mean_mass),
            shell_dispersion_radial: s.shells.map(|shell| shell.radial),
            shell_dispersion_tangential: s.shells.map(|shell| shell.tangential),
            shell_rotation: s.shells.map(|shell| shell.rotation),
            mass_bin_number: Some(s.by_mass.map(|group| group.number)),
            mass_bin_least_mass: Some(s.by_mass.map(|group| group.least_mass)),
            mass_bin_mean_mass: Some(s.by_mass.map(|group| group.mean_mass)),
            mass_bin_radius_10: Some(s.by_mass.map(|group| group.radii[0])),
            mass_bin_radius_50: Some(s.by_mass.map(|group| group.radii[1])),
            mass_bin_dispersion: Some(s.by_mass.map(|group| group.dispersion)),
            main_sequence_half_mass_radius: classes.map(|it| it[ms].radii[1]),
            giant_half_mass_radius: classes.map(|it| it[giants].radii[1]),
            helium_star_half_mass_radius: classes.map(|it| it[helium].radii[1]),
            white_dwarf_half_mass_radius: classes.map(|it| it[wd].radii[1]),
            neutron_star_half_mass_radius: classes.map(|it| it[ns].radii[1]),
            black_hole_half_mass_radius: classes.map(|it| it[bh].radii[1]),
            main_sequence_dispersion: classes.map(|it| it[ms].dispersion),
            giant_dispersion: classes.map(|it| it[giants].dispersion),
            helium_star_dispersion: classes.map(|it| it[helium].dispersion),
            white_dwarf_dispersion: classes.map(|it| it[wd].dispersion),
            neutron_star_dispersion: classes.map(|it| it[ns].dispersion),
            black_hole_dispersion: classes.map(|it| it[bh].dispersion),
        }
    }

    /// Returns a row for each binary and hierarchy; a hierarchy follows its components.
    #[must_use]
    pub fn binaries(&self) -> Vec<BinaryRow> {
        self.survey.catalogue.iter().map(|entry| self.binary(entry)).collect()
    }

    fn binary(&self, entry: &Entry) -> BinaryRow {
        let ([id_1, id_2], [type_1, type_2]) = (entry.first_stars(), entry.types);
        let number = |kind: Option<Kind>| Some(kind.map_or(f64::NAN, |kind| f64::from(kind as u8)));
        BinaryRow {
            time: UserTime(self.time),
            members: entry.members.to_string(),
            number: entry.number(),
            mass_1: entry.mass[0],
            mass_2: entry.mass[1],
            semi_major_axis: entry.semi_major_axis,
            eccentricity: entry.eccentricity,
            period: entry.period,
            hardness: entry.hardness,
            inclination: entry.inclination,
            stable: u64::from(entry.stable),
            bound: u64::from(entry.bound),
            distance: entry.distance,
            speed: entry.speed,
            escaper: Some(u64::from(entry.escaped)),
            id_1: Some(id_1),
            id_2: Some(id_2),
            type_1: number(type_1),
            type_2: number(type_2),
            companion: Some(entry.companion.unwrap_or(id_1)),
            found: Some(u64::from(entry.found_by != FoundBy::Subsystem)),
            subsystem: Some(u64::from(entry.found_by != FoundBy::Search)),
        }
    }
}

/// Returns pairs with their numbers `converted` by their dimensions.
fn followed(pairs: impl Iterator<Item = FollowedPair>, converted: impl Fn(f64, Dimension) -> f64) -> Vec<FollowedPair> {
    pairs
        .map(|pair| FollowedPair {
            semi_major_axis: converted(pair.semi_major_axis, Dimension::LENGTH),
            period: converted(pair.period, Dimension::TIME),
            binding: converted(pair.binding, Dimension::ENERGY),
            ..pair
        })
        .collect()
}

/// The three journals of the cluster.
#[derive(Debug)]
pub struct Journals {
    cluster: JournalWriter<ClusterRow>,
    binaries: JournalWriter<BinaryRow>,
    events: JournalWriter<EventRow>,
}

/// The three journals of the cluster of a stopped run, before it resumes.
#[derive(Debug)]
pub struct ResumableJournals {
    cluster: journal::ResumableJournal<ClusterRow>,
    binaries: journal::ResumableJournal<BinaryRow>,
    events: journal::ResumableJournal<EventRow>,
}

impl ResumableJournals {
    /// Checks the journals against the lengths and hashes of a checkpoint. A checkpoint without rows, written before
    /// these journals existed, gives empty ones.
    ///
    /// # Errors
    /// As [`journal::ResumableJournal::check`].
    pub fn check(dir: &Path, written: &OutputCounts, units: &FileUnits, columns: ClusterColumns) -> Result<Self> {
        use journal::ResumableJournal;
        if written.cluster_rows == 0 {
            let cluster = ResumableJournal::empty(dir, units, &ClusterRow::absent_columns(columns));
            let binaries = ResumableJournal::empty(dir, units, &BinaryRow::absent_columns(columns));
            return Ok(Self { cluster, binaries, events: ResumableJournal::empty(dir, units, &[]) });
        }
        Ok(Self {
            cluster: ResumableJournal::check(
                dir,
                (written.cluster_rows, written.cluster_sha256),
                units,
                &ClusterRow::absent_columns(columns),
            )?,
            binaries: ResumableJournal::check(
                dir,
                (written.binaries_rows, written.binaries_sha256),
                units,
                &BinaryRow::absent_columns(columns),
            )?,
            events: ResumableJournal::check(dir, (written.events, written.events_sha256), units, &[])?,
        })
    }

    /// Opens the journals for writing.
    ///
    /// # Errors
    /// As [`journal::ResumableJournal::resume`].
    pub fn resume(self) -> Result<Journals> {
        let (cluster, binaries) = (self.cluster.resume()?, self.binaries.resume()?);
        Ok(Journals { cluster, binaries, events: self.events.resume()? })
    }
}

impl Journals {
    /// Creates the journals in a directory.
    ///
    /// # Errors
    /// As [`JournalWriter::create`].
    pub fn create(dir: &Path, units: &FileUnits, columns: ClusterColumns) -> Result<Self> {
        Ok(Self {
            cluster: JournalWriter::create(dir, units, &ClusterRow::absent_columns(columns))?,
            binaries: JournalWriter::create(dir, units, &BinaryRow::absent_columns(columns))?,
            events: JournalWriter::create(dir, units, &[])?,
        })
    }

    /// Records the hashes of the journals.
    pub fn record_hashes(&self, written: &mut OutputCounts) {
        written.cluster_sha256 = Some(self.cluster.sha256());
        written.binaries_sha256 = Some(self.binaries.sha256());
        written.events_sha256 = Some(self.events.sha256());
    }

    /// Appends the rows of a survey: all of them, or none on an error. Returns the history and the numbers of rows
    /// after them, from those before.
    ///
    /// # Errors
    /// As [`JournalWriter::append`].
    pub fn append(
        &mut self,
        survey: &TimedSurvey,
        history: &History,
        written: &OutputCounts,
    ) -> Result<(History, OutputCounts)> {
        let ends = (self.cluster.position(), self.binaries.position(), self.events.position());
        let mut history = history.clone();
        let events = survey.events(&mut history, written.events);
        let mut binaries = survey.binaries();
        if !self.binaries.has_column("found") {
            // A version that did not tell began it, with what the search finds alone.
            binaries.retain(|row| row.found == Some(1));
        }
        if let Err(e) = self.append_rows(&survey.row(), &binaries, &events) {
            self.cluster.truncate(ends.0);
            self.binaries.truncate(ends.1);
            self.events.truncate(ends.2);
            return Err(e);
        }
        let written = OutputCounts {
            cluster_rows: self.cluster.rows(),
            binaries_rows: self.binaries.rows(),
            events: self.events.rows(),
            ..*written
        };
        Ok((history, written))
    }

    fn append_rows(&mut self, row: &ClusterRow, binaries: &[BinaryRow], events: &[EventRow]) -> Result<()> {
        self.cluster.append(row)?;
        binaries.iter().try_for_each(|row| self.binaries.append(row))?;
        events.iter().try_for_each(|row| self.events.append(row))
    }

    /// Refreshes the three journals, with [`JournalWriter::refresh`].
    ///
    /// # Errors
    /// As [`JournalWriter::refresh`].
    pub fn refresh(&mut self, provenance: impl Fn() -> Provenance) -> Result<()> {
        self.cluster.refresh(&provenance)?;
        self.binaries.refresh(&provenance)?;
        self.events.refresh(&provenance)
    }

    /// Flushes the three journals to the disk, with [`JournalWriter::sync`].
    ///
    /// # Errors
    /// As [`JournalWriter::sync`].
    pub fn sync(&self) -> Result<()> {
        self.cluster.sync()?;
        self.binaries.sync()?;
        self.events.sync()
    }

    /// Completes the three journals, with [`JournalWriter::rewrite`].
    ///
    /// # Errors
    /// As [`JournalWriter::rewrite`].
    pub fn rewrite(&mut self, provenance: &Provenance) -> Result<()> {
        self.cluster.rewrite(provenance)?;
        self.binaries.rewrite(provenance)?;
        self.events.rewrite(provenance)
    }
}
