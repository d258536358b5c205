//! Rows of the journals of a cluster: structure, binaries, events.

use super::journal::Journal;
use super::rows::{ColumnSpec, JournalRow, RowField, UserTime, row};
use crate::table::columns::{ColumnKind, Value};
use tisane::diagnostics::cluster::groups::BINS;
use tisane::particles::Vec3;
use tisane::units::{Dimension, Scale};

/// Mass fractions of the Lagrangian radii, in thousandths.
pub const FRACTIONS: [u16; 21] =
    [1, 3, 5, 10, 20, 30, 50, 100, 200, 250, 300, 400, 500, 600, 700, 750, 800, 900, 950, 990, 1000];

/// Returns the suffix of a column name for each of [`FRACTIONS`].
fn thousandths() -> Vec<String> {
    FRACTIONS.iter().map(|fraction| format!("_{fraction:04}")).collect()
}

impl RowField for [f64; FRACTIONS.len()] {
    const ZERO: Self = [0.0; FRACTIONS.len()];
    const KIND: ColumnKind = ColumnKind::Float;
    fn suffixes() -> Vec<String> {
        thousandths()
    }
    fn push(&self, scale: f64, values: &mut Vec<Value>) {
        values.extend(self.map(|x| Value::Float(x * scale)));
    }
}

impl RowField for [u64; FRACTIONS.len()] {
    const ZERO: Self = [0; FRACTIONS.len()];
    const KIND: ColumnKind = ColumnKind::Count;
    fn suffixes() -> Vec<String> {
        thousandths()
    }
    fn push(&self, _scale: f64, values: &mut Vec<Value>) {
        values.extend(self.map(Value::Count));
    }
}

/// Returns the suffix of a column name for each bin of mass.
fn bins() -> Vec<String> {
    (1..=BINS).map(|bin| format!("_{bin}")).collect()
}

/// Optional columns; NaN in a row without the values.
impl RowField for Option<[f64; BINS]> {
    const ZERO: Self = None;
    const KIND: ColumnKind = ColumnKind::Float;
    const OPTIONAL: bool = true;
    fn suffixes() -> Vec<String> {
        bins()
    }
    fn push(&self, scale: f64, values: &mut Vec<Value>) {
        values.extend(self.unwrap_or([f64::NAN; BINS]).map(|x| Value::Float(x * scale)));
    }
}

/// Optional columns; 0 in a row without the values.
impl RowField for Option<[u64; BINS]> {
    const ZERO: Self = None;
    const KIND: ColumnKind = ColumnKind::Count;
    const OPTIONAL: bool = true;
    fn suffixes() -> Vec<String> {
        bins()
    }
    fn push(&self, _scale: f64, values: &mut Vec<Value>) {
        values.extend(self.unwrap_or([0; BINS]).map(Value::Count));
    }
}

row! {
    /// Row of the cluster journal, in internal units.
    ClusterRow in Cluster {
        time: UserTime, TIME, "time";
        density_centre: Vec3, LENGTH, "density centre, sum rho x / sum rho, with rho = mass of j - 1 neighbours / volume out to the j-th, j = cluster.neighbours (Casertano & Hut 1985)";
        centre_velocity: Vec3, VELOCITY, "mean velocity, mass-weighted: velocities below are relative to it";
        core_density: f64, DENSITY, "mass density of the core, sum rho^2 / sum rho";
        core_radius: f64, LENGTH, "core radius: density radius sum rho |x - density centre| / sum rho";
        core_mass: f64, MASS, "mass within the core radius";
        core_number: u64, NONE, "particles within the core radius";
        core_dispersion: f64, VELOCITY, "velocity dispersion of bodies there in one dimension, mass-weighted; NaN for fewer than 2";
        bound_mass: f64, MASS, "mass of the bound particles";
        bound_number: u64, NONE, "bound particles";
        unbound_number: u64, NONE, "unbound particles";
        escapers: u64, NONE, "escapers";
        kinetic_energy: f64, ENERGY, "kinetic energy T of the bound bodies relative to centre_velocity";
        potential_energy: f64, ENERGY, "potential energy U of the bound bodies, softened as the forces are";
        virial_ratio: f64, NONE, "T / |U|";
        virial_radius: f64, LENGTH, "virial radius G M^2 / (2 |U|) with the bound mass M";
        crossing_time: f64, TIME, "crossing time G M^(5/2) / (2 |T + U|)^(3/2) (Heggie & Mathieu 1986)";
        relaxation_time: f64, TIME, "half-mass relaxation time 0.138 sqrt(N r_h^3 / (G m)) / ln(0.11 N) of N bound particles of mean mass m, half of their mass within r_h (Spitzer 1987, eq. 2-63; Giersz & Heggie 1994); NaN for N < 10";
        thermal_energy: f64, ENERGY, "kT: 2/3 of the mean kinetic energy of the bound bodies (Heggie & Hut 2003); 0 where nothing is bound";
        angular_momentum: Vec3, ANGULAR_MOMENTUM, "angular momentum of the bound particles about the density centre";
        anisotropy: f64, NONE, "beta = 1 - sigma_t^2 / sigma_r^2 of the bound bodies, sigma_t in one dimension (Binney & Tremaine 2008, eq. 4.61)";
        mass_segregation: f64, NONE, "Lambda_MSR: mean length of the minimum spanning trees of 50 random sets of 10 bound particles / that of the 10 most massive (Allison et al. 2009); NaN for fewer than 20, and for equal masses";
        mass_segregation_error: f64, NONE, "its standard error";
        binaries: u64, NONE, "binaries, those inside hierarchies too";
        hierarchies: u64, NONE, "hierarchies, those inside others too";
        binding_energy: f64, ENERGY, "binding energy of all binaries and hierarchies, positive";
        encounters: u64, NONE, "pairs in a close encounter";
        bound_binaries: Option<u64>, NONE, "those of the binaries that are bound to the cluster";
        orbit_position: Option<Vec3>, LENGTH, "place of the origin in the frame of the external fields";
        orbit_velocity: Option<Vec3>, VELOCITY, "its velocity there";
        offset: Option<f64>, LENGTH, "distance of the density centre from the origin, or from the position of external.tide";
        tidal_radius: Option<f64>, LENGTH, "tidal radius r_t = (G M / (lambda + Omega^2))^(1/3)";
        tidal_radius_at_pericentre: Option<f64>, LENGTH, "tidal radius of tidal_mass at the last pericentre, or at the present place if nearer";
        tidal_mass: Option<f64>, MASS, "mass M within the tidal radius";
        tidal_half_mass_radius: Option<f64>, LENGTH, "radius of the smallest sphere about the density centre with half of it";
        tidal_number: Option<u64>, NONE, "particles within the tidal radius";
        jacobi_bound_mass: Option<f64>, MASS, "mass of those with a Jacobi energy of at most -3/2 G M / r_t";
        potential_escapers: Option<u64>, NONE, "the others within the tidal radius";
        main_sequence_mass: Option<f64>, MASS, "mass of the bound stars on the main sequence, types 0 and 1";
        giant_mass: Option<f64>, MASS, "of giants, types 2 to 6";
        helium_star_mass: Option<f64>, MASS, "of naked helium stars, types 7 to 9";
        white_dwarf_mass: Option<f64>, MASS, "of white dwarfs, types 10 to 12";
        neutron_star_mass: Option<f64>, MASS, "of neutron stars, type 13";
        black_hole_mass: Option<f64>, MASS, "of black holes, type 14";
        main_sequence_number: Option<u64>, NONE, "bound stars on the main sequence";
        giant_number: Option<u64>, NONE, "bound giants";
        helium_star_number: Option<u64>, NONE, "bound naked helium stars";
        white_dwarf_number: Option<u64>, NONE, "bound white dwarfs";
        neutron_star_number: Option<u64>, NONE, "bound neutron stars";
        black_hole_number: Option<u64>, NONE, "bound black holes";
        luminosity: Option<f64>, NONE, "luminosity of the bound stars, in solar luminosities";
        visual_luminosity: Option<f64>, NONE, "their light in V, in that of the Sun: M_V is 4.81 - 2.5 log10 of it";
        half_mass_radius: Option<f64>, LENGTH, "radius of the smallest sphere about the density centre with half of the mass of the bound stars";
        half_light_radius: Option<f64>, LENGTH, "that with half of their luminosity";
        projected_half_mass_radius: Option<f64>, LENGTH, "radius of the circle with half of their mass in projection";
        projected_half_light_radius: Option<f64>, LENGTH, "that with half of their luminosity";
        projected_visual_half_light_radius: Option<f64>, LENGTH, "that with half of their light in V";
        lagrangian_radius: [f64; FRACTIONS.len()], LENGTH, "Lagrangian radius of the mass fraction at the end of the name, in thousandths";
        shell_number: [u64; FRACTIONS.len()], NONE, "particles between the Lagrangian radius before and this one";
        shell_mean_mass: [f64; FRACTIONS.len()], MASS, "their mean mass; NaN where there are none";
        shell_dispersion_radial: [f64; FRACTIONS.len()], VELOCITY, "radial velocity dispersion in the shell about the mean radial velocity, mass-weighted; NaN for fewer than 2 particles";
        shell_dispersion_tangential: [f64; FRACTIONS.len()], VELOCITY, "tangential one in one dimension about the mean rotation, likewise";
        shell_rotation: [f64; FRACTIONS.len()], VELOCITY, "mean rotation velocity in the shell about the axis of angular_momentum, mass-weighted; NaN where it is empty";
        mass_bin_number: Option<[u64; BINS]>, NONE, "bound particles by mass: lightest half (1), next 30 % (2), next 15 % (3), heaviest 5 % (4); 0 for equal masses";
        mass_bin_least_mass: Option<[f64; BINS]>, MASS, "least mass in the bin; NaN for equal masses";
        mass_bin_mean_mass: Option<[f64; BINS]>, MASS, "mean mass";
        mass_bin_radius_10: Option<[f64; BINS]>, LENGTH, "Lagrangian radius of 10 % of the mass of the bin";
        mass_bin_radius_50: Option<[f64; BINS]>, LENGTH, "that with 50 %";
        mass_bin_dispersion: Option<[f64; BINS]>, VELOCITY, "velocity dispersion in one dimension, mass-weighted, of binaries that of their centres of mass; NaN for fewer than 2";
        main_sequence_half_mass_radius: Option<f64>, LENGTH, "half-mass radius of bound stars on the main sequence";
        giant_half_mass_radius: Option<f64>, LENGTH, "of giants";
        helium_star_half_mass_radius: Option<f64>, LENGTH, "of naked helium stars";
        white_dwarf_half_mass_radius: Option<f64>, LENGTH, "of white dwarfs";
        neutron_star_half_mass_radius: Option<f64>, LENGTH, "of neutron stars";
        black_hole_half_mass_radius: Option<f64>, LENGTH, "of black holes";
        main_sequence_dispersion: Option<f64>, VELOCITY, "velocity dispersion of those on the main sequence";
        giant_dispersion: Option<f64>, VELOCITY, "of giants";
        helium_star_dispersion: Option<f64>, VELOCITY, "of naked helium stars";
        white_dwarf_dispersion: Option<f64>, VELOCITY, "of white dwarfs";
        neutron_star_dispersion: Option<f64>, VELOCITY, "of neutron stars";
        black_hole_dispersion: Option<f64>, VELOCITY, "of black holes";
    }
}

row! {
    /// Row of the binaries journal, in internal units: a binary or hierarchy at one measurement.
    BinaryRow in Binaries {
        time: UserTime, TIME, "time";
        members: String, NONE, "its particles by their ids: (3+7), ((3+7)+12); the pair with the smaller id first";
        number: u64, NONE, "how many they are";
        mass_1: f64, MASS, "mass of the first component";
        mass_2: f64, MASS, "mass of the second";
        semi_major_axis: f64, LENGTH, "semi-major axis of the two components: of the subsystem where it is one, else of the Kepler orbit with this energy";
        eccentricity: f64, NONE, "eccentricity of that orbit";
        period: f64, TIME, "its period";
        hardness: f64, NONE, "binding energy / kT; inf where kT is zero";
        inclination: f64, NONE, "angle between inner and outer orbit of a hierarchy, of two inner ones the wider, in radians; NaN for binaries";
        stable: u64, NONE, "1 if a hierarchy is stable (Mardling & Aarseth 2001, eq. 90, with the factor 1 - 0.3 i/180 deg), 0 if not; 1 for binaries";
        bound: u64, NONE, "1 if it is bound to the cluster, 0 if not; without a cluster 1 for the most massive";
        distance: f64, LENGTH, "distance of its centre of mass from the density centre";
        speed: f64, VELOCITY, "its speed relative to centre_velocity";
        escaper: Option<u64>, NONE, "1 if it is an escaper, 0 if not";
        id_1: Option<u64>, NONE, "id of the first component, of several stars the smallest";
        id_2: Option<u64>, NONE, "that of the second";
        type_1: Option<f64>, NONE, "type of the first component, 0 to 15; NaN for several stars";
        type_2: Option<f64>, NONE, "that of the second";
        companion: Option<u64>, NONE, "smallest id of the other component of its hierarchy; its own id_1 if of none";
        found: Option<u64>, NONE, "1 if the search for bound neighbours finds it, 0 if not";
        subsystem: Option<u64>, NONE, "1 if it is a pair that is integrated apart, 0 if not";
    }
}

row! {
    /// Row of the events journal, in internal units.
    EventRow in Events {
        id: u64, NONE, "number of the event, in order of time";
        time: UserTime, TIME, "time of the output at which it was seen";
        kind: String, NONE, "what happened";
        members: String, NONE, "its particles as in binaries.csv; of a close encounter 3+7";
        former: String, NONE, "members before an exchange; else empty";
        mass_1: f64, MASS, "mass of the first component, or of an escaper";
        mass_2: f64, MASS, "mass of the second; NaN for the escape of one particle";
        semi_major_axis: f64, LENGTH, "semi-major axis of the two, negative where they are not bound; NaN where there is no orbit, and of what has dissolved";
        eccentricity: f64, NONE, "its eccentricity";
        period: f64, TIME, "its period; NaN where they are not bound";
        hardness: f64, NONE, "binding energy / kT, negative likewise";
        pericentre: f64, LENGTH, "pericentre of that orbit";
        distance: f64, LENGTH, "separation in a close encounter, else distance of the centre of mass from the density centre";
        speed: f64, VELOCITY, "relative speed in a close encounter, else that of the centre of mass relative to centre_velocity";
        energy: f64, POTENTIAL, "energy per unit mass of the centre of mass in the cluster";
    }
}

impl ClusterRow {
    /// Returns which optional columns the journal of a run does not have.
    #[must_use]
    pub fn absent_columns(ClusterColumns { tide, stars }: ClusterColumns) -> Vec<(&'static str, bool)> {
        const OF_ORBIT: [&str; 7] = [
            "orbit_position_x",
            "orbit_position_y",
            "orbit_position_z",
            "orbit_velocity_x",
            "orbit_velocity_y",
            "orbit_velocity_z",
            "tidal_radius_at_pericentre",
        ];
        const OF_TIDE: [&str; 7] = [
            "offset",
            "tidal_radius",
            "tidal_mass",
            "tidal_half_mass_radius",
            "tidal_number",
            "jacobi_bound_mass",
            "potential_escapers",
        ];
        const OF_STARS: [&str; 31] = [
            "main_sequence_mass",
            "giant_mass",
            "helium_star_mass",
            "white_dwarf_mass",
            "neutron_star_mass",
            "black_hole_mass",
            "main_sequence_number",
            "giant_number",
            "helium_star_number",
            "white_dwarf_number",
            "neutron_star_number",
            "black_hole_number",
            "luminosity",
            "visual_luminosity",
            "half_mass_radius",
            "half_light_radius",
            "projected_half_mass_radius",
            "projected_half_light_radius",
            "projected_visual_half_light_radius",
            "main_sequence_half_mass_radius",
            "giant_half_mass_radius",
            "helium_star_half_mass_radius",
            "white_dwarf_half_mass_radius",
            "neutron_star_half_mass_radius",
            "black_hole_half_mass_radius",
            "main_sequence_dispersion",
            "giant_dispersion",
            "helium_star_dispersion",
            "white_dwarf_dispersion",
            "neutron_star_dispersion",
            "black_hole_dispersion",
        ];
        let of_orbit = OF_ORBIT.into_iter().filter(|_| tide != TideColumns::Orbit);
        let of_tide = OF_TIDE.into_iter().filter(|_| tide == TideColumns::None);
        let of_stars = OF_STARS.into_iter().filter(|_| !stars);
        of_orbit.chain(of_tide).chain(of_stars).map(|name| (name, false)).collect()
    }
}

impl BinaryRow {
    /// Returns which optional columns the journal of a run does not have.
    #[must_use]
    pub fn absent_columns(ClusterColumns { stars, .. }: ClusterColumns) -> Vec<(&'static str, bool)> {
        ["type_1", "type_2"].into_iter().filter(|_| !stars).map(|name| (name, false)).collect()
    }
}

/// Optional columns of the cluster journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterColumns {
    /// Those of a tide.
    pub tide: TideColumns,
    /// Flag of those of stars that age.
    pub stars: bool,
}

/// Columns of the cluster journal by the tide that acts on the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TideColumns {
    /// None.
    #[default]
    None,
    /// The linear tide on a circle.
    Circle,
    /// That of fields in which the origin of coordinates moves.
    Orbit,
}
