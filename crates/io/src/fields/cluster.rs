//! Rows of the journals of a cluster: structure, binaries, events.

use super::journal::Journal;
use super::rows::{ColumnSpec, JournalRow, RowField, UserTime, row};
use crate::table::columns::{ColumnKind, Value};
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

row! {
    /// Row of the cluster journal, in internal units.
    ClusterRow in Cluster {
        time: UserTime, TIME, "time";
        density_centre: Vec3, LENGTH, "density centre of the bound particles (of all where none is bound), sum rho x / sum rho with the density rho at each particle from its j nearest neighbours, the last of them and the particle itself left out: mass of j - 1 neighbours / volume out to the j-th (Casertano & Hut 1985); j is cluster.neighbours";
        centre_velocity: Vec3, VELOCITY, "mean velocity, mass-weighted, of the bound particles (of all where none is bound): what velocities below are relative to";
        core_density: f64, DENSITY, "mass density of the core, sum rho^2 / sum rho (Casertano & Hut 1985)";
        core_radius: f64, LENGTH, "core radius: the density radius, sum rho |x - density centre| / sum rho (Casertano & Hut 1985)";
        core_mass: f64, MASS, "mass within the core radius";
        core_number: u64, NONE, "particles within the core radius";
        core_dispersion: f64, VELOCITY, "velocity dispersion in one dimension within the core radius, mass-weighted, binaries and hierarchies as one body each; NaN for fewer than 2 bodies";
        bound_mass: f64, MASS, "mass of the bound particles: v^2/2 + phi < 0 with v relative to centre_velocity and the potential phi of the other bound particles; for those of a binary or hierarchy, with its centre of mass and without its own part of phi";
        bound_number: u64, NONE, "bound particles";
        unbound_number: u64, NONE, "the others";
        escapers: u64, NONE, "unbound particles beyond cluster.escape_radius half-mass radii (of the bound particles) from the density centre";
        kinetic_energy: f64, ENERGY, "kinetic energy T of the bound particles relative to centre_velocity, binaries and hierarchies as points";
        potential_energy: f64, ENERGY, "potential energy U of the bound particles among themselves, sum m phi / 2, without what is inside binaries and hierarchies; softened as the forces are";
        virial_ratio: f64, NONE, "T / |U| of these two";
        virial_radius: f64, LENGTH, "virial radius G M^2 / (2 |U|) with the bound mass M";
        crossing_time: f64, TIME, "crossing time G M^(5/2) / (2 |T + U|)^(3/2) with the bound mass M (Heggie & Mathieu 1986)";
        relaxation_time: f64, TIME, "half-mass relaxation time 0.138 sqrt(N r_h^3 / (G m)) / ln(0.11 N) of the N bound particles of mean mass m (Spitzer 1987, eq. 2-63; Giersz & Heggie 1994); r_h is the radius about the density centre that holds half of their mass; NaN for N < 10";
        thermal_energy: f64, ENERGY, "kT: 2/3 of the mean kinetic energy of the bound particles, binaries and hierarchies as one particle each (Heggie & Hut 2003); 0 where nothing is bound";
        angular_momentum: Vec3, ANGULAR_MOMENTUM, "angular momentum of the bound particles about the density centre: its direction is the axis of rotation";
        anisotropy: f64, NONE, "beta = 1 - sigma_t^2 / sigma_r^2 of the bound particles, with the tangential dispersion sigma_t in one dimension; binaries and hierarchies move as one body (Binney & Tremaine 2008, eq. 4.61)";
        mass_segregation: f64, NONE, "Lambda_MSR: mean length of the minimum spanning trees of 50 random sets of 10 bound particles / that of the 10 most massive (Allison et al. 2009); NaN for fewer than 20 bound particles, and for equal masses";
        mass_segregation_error: f64, NONE, "its standard error: the spread of the random sets / length for the most massive";
        binaries: u64, NONE, "binaries: pairs bound to each other by at least cluster.binary_hardness kT; those inside hierarchies count";
        hierarchies: u64, NONE, "hierarchies: bound systems with a binary or hierarchy as one of two components; those inside others count";
        binding_energy: f64, ENERGY, "binding energy of all binaries and hierarchies, positive";
        encounters: u64, NONE, "pairs of particles in a close encounter: nearer to each other than cluster.encounter_radius times 4 r_h / N of the bound particles, and not in one binary or hierarchy";
        orbit_position: Option<Vec3>, LENGTH, "place of the origin of coordinates in the frame of the external fields; only in runs with the section orbit, like orbit_velocity";
        orbit_velocity: Option<Vec3>, VELOCITY, "its velocity there";
        offset: Option<f64>, LENGTH, "distance of the density centre from the origin, with external.tide from its position; only in runs in a tide: with the section orbit, or with one external.tide, like the columns that follow, up to potential_escapers";
        tidal_radius: Option<f64>, LENGTH, "tidal radius r_t = (G M / (lambda + Omega^2))^(1/3) of the mass M within it, with the largest eigenvalue lambda of the tidal tensor and the angular velocity Omega of the orbit at this moment (King 1962; Renaud, Gieles & Boily 2011); 0 where no particle is left within it, NaN where the tide has no such radius";
        tidal_mass: Option<f64>, MASS, "mass M within the tidal radius about the density centre; NaN where there is no tidal radius, like the next column and jacobi_bound_mass";
        tidal_half_mass_radius: Option<f64>, LENGTH, "radius of the smallest sphere about the density centre that holds half of that mass";
        tidal_number: Option<u64>, NONE, "particles within the tidal radius; 0 where there is none, like potential_escapers";
        jacobi_bound_mass: Option<f64>, MASS, "mass of the particles within the tidal radius whose Jacobi energy, relative to the density centre and the mean velocity within the tidal radius, is at most -3/2 G M / r_t; binaries and hierarchies with their centre of mass";
        potential_escapers: Option<u64>, NONE, "the other particles within the tidal radius: they have the energy to leave (Fukushige & Heggie 2000)";
        main_sequence_mass: Option<f64>, MASS, "mass of the bound stars on the main sequence, types 0 and 1; only in runs with the section stellar_evolution, like the columns that follow, up to projected_visual_half_light_radius";
        giant_mass: Option<f64>, MASS, "that of stars beyond it with an envelope of hydrogen, types 2 to 6";
        helium_star_mass: Option<f64>, MASS, "of naked helium stars, types 7 to 9";
        white_dwarf_mass: Option<f64>, MASS, "of white dwarfs, types 10 to 12";
        neutron_star_mass: Option<f64>, MASS, "of neutron stars, type 13";
        black_hole_mass: Option<f64>, MASS, "of black holes, type 14; these six are all of bound_mass";
        main_sequence_number: Option<u64>, NONE, "bound stars on the main sequence";
        giant_number: Option<u64>, NONE, "bound stars of types 2 to 6";
        helium_star_number: Option<u64>, NONE, "bound naked helium stars";
        white_dwarf_number: Option<u64>, NONE, "bound white dwarfs";
        neutron_star_number: Option<u64>, NONE, "bound neutron stars";
        black_hole_number: Option<u64>, NONE, "bound black holes";
        luminosity: Option<f64>, NONE, "luminosity of the bound stars, in solar luminosities, at all wavelengths";
        visual_luminosity: Option<f64>, NONE, "their light in the band V, in that of the Sun, an estimate by bolometric corrections (Flower 1996; Torres 2010); the absolute magnitude M_V is 4.81 - 2.5 log10 of it";
        half_mass_radius: Option<f64>, LENGTH, "radius of the smallest sphere about the density centre that holds half of the mass of the bound stars";
        half_light_radius: Option<f64>, LENGTH, "that of half of their luminosity; NaN where the innermost star alone has more";
        projected_half_mass_radius: Option<f64>, LENGTH, "radius of the smallest circle about the density centre that holds half of the mass of the bound stars as they are seen in projection: mean over the directions x, y and z";
        projected_half_light_radius: Option<f64>, LENGTH, "that of half of their luminosity; NaN where in one direction the innermost star alone has more";
        projected_visual_half_light_radius: Option<f64>, LENGTH, "that of half of their light in V, likewise";
        lagrangian_radius: [f64; FRACTIONS.len()], LENGTH, "Lagrangian radius: of the smallest sphere about the density centre that holds the mass fraction at the end of the name, in thousandths; of all particles or of the bound ones, as cluster.lagrangian_mass says; NaN where the innermost particle is more than that";
        shell_number: [u64; FRACTIONS.len()], NONE, "particles in the shell between the Lagrangian radius before and this one";
        shell_mean_mass: [f64; FRACTIONS.len()], MASS, "mean mass of a particle in the shell; NaN where it is empty";
        shell_dispersion_radial: [f64; FRACTIONS.len()], VELOCITY, "radial velocity dispersion in the shell, mass-weighted, about the mean radial velocity; binaries and hierarchies move as one body; NaN for fewer than 2 particles";
        shell_dispersion_tangential: [f64; FRACTIONS.len()], VELOCITY, "tangential velocity dispersion in the shell in one dimension, mass-weighted, about the mean rotation; binaries and hierarchies move as one body; NaN for fewer than 2 particles";
        shell_rotation: [f64; FRACTIONS.len()], VELOCITY, "mean rotation velocity in the shell, mass-weighted, about the axis of angular_momentum; NaN where it is empty";
    }
}

row! {
    /// Row of the binaries journal, in internal units: a binary or hierarchy at one measurement.
    BinaryRow in Binaries {
        time: UserTime, TIME, "time";
        members: String, NONE, "the particles by their ids, each pair in brackets: (3+7), ((3+7)+12); the pair with the smaller id first";
        number: u64, NONE, "how many they are";
        mass_1: f64, MASS, "mass of the first component";
        mass_2: f64, MASS, "mass of the second component";
        semi_major_axis: f64, LENGTH, "semi-major axis of the orbit of the two components, the outer one of a hierarchy: that of the subsystem, where it is one, else of the Kepler orbit with this energy, softened as the forces are";
        eccentricity: f64, NONE, "eccentricity of that orbit, for a subsystem likewise, else of the Kepler orbit with this energy and angular momentum";
        period: f64, TIME, "period of that orbit";
        hardness: f64, NONE, "binding energy / kT, with kT as in thermal_energy of the cluster; inf where kT is zero";
        inclination: f64, NONE, "angle between the orbits of a hierarchy, inner and outer, in radians; of two inner ones the wider counts; NaN for binaries";
        stable: u64, NONE, "1 if the pericentre of a hierarchy is beyond the limit of stability for its inner orbits (Mardling & Aarseth 2001, eq. 90, with the factor 1 - 0.3 i/180 deg), 0 if not; 1 for binaries";
        bound: u64, NONE, "1 if it is bound to the cluster, as bound_mass tells, 0 if not; without a cluster 1 for the most massive";
        distance: f64, LENGTH, "distance of its centre of mass from the density centre";
        speed: f64, VELOCITY, "speed of its centre of mass relative to centre_velocity";
        escaper: Option<u64>, NONE, "1 if it is not bound and beyond cluster.escape_radius half-mass radii (of the bound particles) from the density centre, 0 if not";
        id_1: Option<u64>, NONE, "id of the star that is the first component; of several stars the smallest id";
        id_2: Option<u64>, NONE, "the same of the second component";
        type_1: Option<f64>, NONE, "type of the star that is the first component, 0 to 15 (Hurley, Pols & Tout 2000); NaN for several stars; only in runs with the section stellar_evolution, like the next column";
        type_2: Option<f64>, NONE, "type of the second component, likewise";
        companion: Option<u64>, NONE, "smallest id of the other component of the hierarchy that it is a component of; its own id_1 if of none";
        found: Option<u64>, NONE, "1 if the search for bound neighbours finds it, from cluster.binary_hardness kT on, 0 if not";
        subsystem: Option<u64>, NONE, "1 if it is a pair that is integrated apart, of any hardness, 0 if not";
    }
}

row! {
    /// Row of the events journal, in internal units.
    EventRow in Events {
        id: u64, NONE, "number of the event, from 0 in order of time";
        time: UserTime, TIME, "time of the output at which it was seen";
        kind: String, NONE, "what happened: binary-initial, binary-formed, binary-dissolved, binary-exchange, hierarchy-initial, hierarchy-formed, hierarchy-dissolved, escape, close-encounter";
        members: String, NONE, "the particles as in binaries.csv; of a close encounter 3+7";
        former: String, NONE, "members of the binary before an exchange; else empty";
        mass_1: f64, MASS, "mass of the first component, of an escaper its mass";
        mass_2: f64, MASS, "mass of the second component; NaN for the escape of a single particle";
        semi_major_axis: f64, LENGTH, "semi-major axis of the orbit of the two components, negative where they are not bound; NaN where there is none, and of what has dissolved";
        eccentricity: f64, NONE, "its eccentricity";
        period: f64, TIME, "its period; NaN where they are not bound";
        hardness: f64, NONE, "binding energy / kT; negative where they are not bound";
        pericentre: f64, LENGTH, "pericentre of that orbit";
        distance: f64, LENGTH, "of a close encounter the separation, else the distance of the centre of mass from the density centre";
        speed: f64, VELOCITY, "of a close encounter the relative speed, else the speed of the centre of mass relative to centre_velocity";
        energy: f64, POTENTIAL, "energy per unit mass of the centre of mass in the cluster: positive for what escapes";
    }
}

impl ClusterRow {
    /// Returns which optional columns the journal of a run does not have.
    #[must_use]
    pub fn absent_columns(ClusterColumns { tide, stars }: ClusterColumns) -> Vec<(&'static str, bool)> {
        const OF_ORBIT: [&str; 6] = [
            "orbit_position_x",
            "orbit_position_y",
            "orbit_position_z",
            "orbit_velocity_x",
            "orbit_velocity_y",
            "orbit_velocity_z",
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
        const OF_STARS: [&str; 19] = [
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
