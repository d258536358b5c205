//! Binary frame of a snapshot for the page, which a browser maps to typed arrays without copying.
//!
//! Little-endian throughout:
//!
//! | offset | content |
//! |---|---|
//! | 0 | `tisane01` |
//! | 8 | u32 n, number of particles in the frame |
//! | 12 | u32 every: the frame has the rows 0, every, 2 every, … of the file |
//! | 16 | f64 time |
//! | 24 | 3 f64 centre of mass of the particles, without those that are far away from most |
//! | 48 | 3 f64 velocity of the centre of mass |
//! | 72 | n u64 ids |
//! | … | 3 n f32 positions relative to the centre of mass |
//! | … | 3 n f32 velocities relative to that of the centre of mass |
//! | … | n f32 masses |
//! | … | where stars age, n f32 effective temperatures in K; NaN of what does not shine |
//! | … | n f32 luminosities, in solar luminosities |
//! | … | n f32 types, 0 to 15 (Hurley, Pols & Tout 2000) |
//!
//! Positions are relative to the centre of mass because f32 has 7 digits and a cluster may be far from the origin. One that
//! has run away would move the centre away from the cluster, and give all others its share of the velocity.

use tisane::compensated_sum::{sum, sum3};
use tisane::particles::Vec3;
use tisane_io::snapshot::SnapshotData;
use tisane_stellar::State;

const MAGIC: &[u8; 8] = b"tisane01";
/// Distance from the middle beyond which a particle has no part in the centre of mass, in median distances.
const FAR: f64 = 100.0;

/// Returns a frame of at most `max` particles (at least one), taken at equal intervals in the order of the file.
#[must_use]
pub fn bytes(snapshot: &SnapshotData, max: usize) -> Vec<u8> {
    let every = snapshot.id.len().div_ceil(max.max(1)).max(1);
    let n = snapshot.id.len().div_ceil(every);
    let near = near(&snapshot.pos);
    let [centre, drift] = [&snapshot.pos, &snapshot.vel].map(|column| mean(&snapshot.mass, column, &near));
    let mut out = Vec::with_capacity(72 + n * (8 + 28));
    out.extend(MAGIC);
    out.extend((n as u32).to_le_bytes());
    out.extend((every as u32).to_le_bytes());
    for value in [snapshot.time].iter().chain(&centre).chain(&drift) {
        out.extend(value.to_le_bytes());
    }
    out.extend(snapshot.id.iter().step_by(every).flat_map(|id| id.to_le_bytes()));
    for (column, origin) in [(&snapshot.pos, centre), (&snapshot.vel, drift)] {
        for at in column.iter().step_by(every) {
            for x in (at - origin).iter() {
                out.extend((*x as f32).to_le_bytes());
            }
        }
    }
    out.extend(snapshot.mass.iter().step_by(every).flat_map(|&mass| (mass as f32).to_le_bytes()));
    let of_stars: [fn(&State) -> f64; 3] =
        [State::temperature, |state| state.luminosity, |state| state.kind.number().into()];
    for of in of_stars {
        out.extend(snapshot.stars.iter().step_by(every).flat_map(|star| (of(&star.state) as f32).to_le_bytes()));
    }
    out
}

/// Returns the particles that are not far away from most: within [`FAR`] median distances from the median place.
fn near(pos: &[Vec3]) -> Vec<usize> {
    let middle = Vec3::from_fn(|k, _| median(pos.iter().map(|x| x[k]).collect()));
    let distance = |x: &Vec3| (x - middle).norm();
    let reach = FAR * median(pos.iter().map(distance).collect());
    (0..pos.len()).filter(|&i| distance(&pos[i]) <= reach).collect()
}

/// Returns the median; 0 of no values.
fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

/// Returns the mass-weighted mean of some vectors; the plain mean if their total mass is zero.
fn mean(mass: &[f64], column: &[Vec3], which: &[usize]) -> Vec3 {
    let total = sum(which.iter().map(|&i| mass[i]));
    let massive = total > 0.0;
    let all = if massive { total } else { which.len().max(1) as f64 };
    sum3(which.iter().map(|&i| if massive { column[i] * mass[i] } else { column[i] })) / all
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::units::{Scale, Units};
    use tisane_io::file_units::FileUnits;
    use tisane_io::provenance::Provenance;
    use tisane_io::stellar_columns::StarState;
    use tisane_stellar::Kind;

    fn snapshot(n: usize) -> SnapshotData {
        let x = |i: usize| i as f64;
        SnapshotData {
            time: 2.5,
            units: FileUnits { units: Units::henon(), scale: Scale::IDENTITY },
            provenance: Provenance::current(),
            content_sha256: String::new(),
            id: (0..n as u64).map(|i| i + (1 << 40)).collect(),
            mass: (0..n).map(|i| if i == 0 { 3.0 } else { 1.0 }).collect(),
            pos: (0..n).map(|i| Vec3::new(1e6 + x(i), 0.0, -x(i))).collect(),
            vel: (0..n).map(|i| Vec3::new(0.0, x(i), 7.0)).collect(),
            acc: vec![Vec3::zeros(); n],
            pot: vec![0.0; n],
            step: vec![0.0; n],
            radius: Vec::new(),
            low: None,
            columns: Vec::new(),
            stars: Vec::new(),
            close: Vec::new(),
            pairs: Vec::new(),
            orbit: None,
        }
    }

    fn f32s(bytes: &[u8]) -> Vec<f32> {
        bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    }

    fn f64s(bytes: &[u8]) -> Vec<f64> {
        bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect()
    }

    #[test]
    fn the_layout_is_as_documented() {
        let all = bytes(&snapshot(2), 100);
        assert_eq!(all.len(), 72 + 2 * (8 + 12 + 12 + 4));
        assert_eq!((&all[..8], &all[8..16]), (&b"tisane01"[..], &[2, 0, 0, 0, 1, 0, 0, 0][..]));
        // Masses 3 and 1 at 1e6 and 1e6 + 1.
        assert_eq!(f64s(&all[16..72]), [2.5, 1e6 + 0.25, 0.0, -0.25, 0.0, 0.25, 7.0]);
        assert_eq!(u64::from_le_bytes(all[80..88].try_into().unwrap()), 1 + (1 << 40));
        assert_eq!(f32s(&all[88..112]), [-0.25, 0.0, 0.25, 0.75, 0.0, -0.75]);
        assert_eq!(f32s(&all[112..]), [0.0, -0.25, 0.0, 0.0, 0.75, 0.0, 3.0, 1.0]);
    }

    #[test]
    fn stars_that_age_have_temperature_luminosity_and_type() {
        let star = |kind, luminosity, radius| StarState {
            metallicity: None,
            initial_mass: 1.0,
            state: State { kind, effective_mass: 1.0, mass: 1.0, core_mass: 0.0, age: 0.0, luminosity, radius },
        };
        let sun = star(Kind::MainSequence, 1.0, 1.0);
        let stars = vec![sun, star(Kind::GiantBranch, 100.0, 20.0), sun];
        let all = bytes(&SnapshotData { stars, ..snapshot(3) }, 2);
        assert_eq!(all.len(), 72 + 2 * (8 + 12 + 12 + 4 + 12));
        // Of the rows 0 and 2: 1000 (1130 L / R^2)^(1/4) K of the Sun.
        let found = f32s(&all[72 + 2 * 36..]);
        assert!((found[0] - 5797.9).abs() < 0.1 && found[0] == found[1], "{found:?}");
        assert_eq!(found[2..], [1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn many_particles_are_thinned_evenly() {
        let all = bytes(&snapshot(10), 4);
        assert_eq!(all[8..16], [4, 0, 0, 0, 3, 0, 0, 0]);
        let ids: Vec<u64> =
            all[72..104].as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b) - (1 << 40)).collect();
        assert_eq!(ids, [0, 3, 6, 9]);
        assert_eq!(bytes(&snapshot(0), 0).len(), 72);
    }

    #[test]
    fn one_that_has_run_away_has_no_part_in_the_centre() {
        let mut with = snapshot(10);
        let alone = f64s(&bytes(&with, 99)[24..72]);
        with.id.push(1);
        with.mass.push(1.0);
        with.pos.push(Vec3::new(-1e9, 0.0, 0.0));
        with.vel.push(Vec3::new(-1e3, 0.0, 0.0));
        let found = bytes(&with, 99);
        assert_eq!(f64s(&found[24..72]), alone);
        assert_eq!(found[8..12], [11, 0, 0, 0], "it is drawn");
    }

    #[test]
    fn without_mass_the_plain_mean_is_the_centre() {
        let massless = SnapshotData { mass: vec![0.0; 3], ..snapshot(3) };
        assert_eq!(f64s(&bytes(&massless, 9)[24..48]), [1e6 + 1.0, 0.0, -1.0]);
    }
}
