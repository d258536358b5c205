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
//! | 24 | 3 f64 centre of mass of all particles |
//! | 48 | 3 f64 velocity of the centre of mass |
//! | 72 | n u64 ids |
//! | … | 3 n f32 positions relative to the centre of mass |
//! | … | 3 n f32 velocities relative to that of the centre of mass |
//! | … | n f32 masses |
//!
//! Positions are relative to the centre of mass because f32 has 7 digits and a cluster may be far from the origin.

use tisane::compensated_sum::{sum, sum3};
use tisane::particles::Vec3;
use tisane_io::snapshot::SnapshotData;

const MAGIC: &[u8; 8] = b"tisane01";

/// Returns a frame of at most `most` particles (at least one), taken at equal intervals in the order of the file.
#[must_use]
pub fn bytes(snapshot: &SnapshotData, most: usize) -> Vec<u8> {
    let every = snapshot.id.len().div_ceil(most.max(1)).max(1);
    let n = snapshot.id.len().div_ceil(every);
    let (centre, drift) = (mean(&snapshot.mass, &snapshot.pos), mean(&snapshot.mass, &snapshot.vel));
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
    out
}

/// Returns the mass-weighted mean of vectors; the plain mean if the total mass is zero.
fn mean(mass: &[f64], column: &[Vec3]) -> Vec3 {
    let total = sum(mass.iter().copied());
    let massive = total > 0.0;
    let all = if massive { total } else { column.len().max(1) as f64 };
    let weighted = mass.iter().zip(column).map(|(&m, at)| if massive { at * m } else { *at });
    sum3(weighted) / all
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::units::{Scale, Units};
    use tisane_io::file_units::FileUnits;
    use tisane_io::provenance::Provenance;

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
            columns: Vec::new(),
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
    fn many_particles_are_thinned_evenly() {
        let all = bytes(&snapshot(10), 4);
        assert_eq!(all[8..16], [4, 0, 0, 0, 3, 0, 0, 0]);
        let ids: Vec<u64> =
            all[72..104].as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b) - (1 << 40)).collect();
        assert_eq!(ids, [0, 3, 6, 9]);
        assert_eq!(bytes(&snapshot(0), 0).len(), 72);
    }

    #[test]
    fn without_mass_the_plain_mean_is_the_centre() {
        let massless = SnapshotData { mass: vec![0.0; 3], ..snapshot(3) };
        assert_eq!(f64s(&bytes(&massless, 9)[24..48]), [1e6 + 1.0, 0.0, -1.0]);
    }
}
