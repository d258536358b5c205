//! Where particles are between two snapshots.

use tisane::particles::Vec3;

/// A path is no steeper at its ends than this many times the way between them: then it swings no farther out than a
/// path that runs one way along each axis would (Fritsch & Carlson 1980). The orbit of a close binary is shorter than
/// the time between snapshots and cannot be followed.
const STEEPEST: f64 = 3.0;

/// The place at `part`, from 0 to 1, of the time `h` between two snapshots: the cubic through both positions with both
/// velocities, as far as these fit the way.
pub(super) fn place(from: (Vec3, Vec3), to: (Vec3, Vec3), h: f64, part: f64) -> Vec3 {
    let way = (to.0 - from.0).norm();
    let (a, b) = (held(from.1, h, way), held(to.1, h, way));
    let s = part;
    let (h00, h10) = ((1.0 + 2.0 * s) * (1.0 - s).powi(2), s * (1.0 - s).powi(2));
    let (h01, h11) = (s * s * (3.0 - 2.0 * s), s * s * (s - 1.0));
    h00 * from.0 + h10 * a + h01 * to.0 + h11 * b
}

/// The row in the next snapshot of each particle of a snapshot; [`None`] of those that it does not have. Both have their ids in order.
pub(super) fn rows_in<'a>(next: &'a [u64], ids: &'a [u64]) -> impl Iterator<Item = Option<usize>> + 'a {
    let mut row = 0;
    ids.iter().map(move |id| {
        while next.get(row).is_some_and(|other| other < id) {
            row += 1;
        }
        (next.get(row) == Some(id)).then_some(row)
    })
}

/// A velocity times the time between snapshots, no longer than the way allows.
fn held(v: Vec3, h: f64, way: f64) -> Vec3 {
    let long = v.norm() * h;
    let factor = if long > STEEPEST * way { STEEPEST * way / long } else { 1.0 };
    v * h * factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_a_circle_is_followed_to_the_fourth_order() {
        let at = |t: f64| (Vec3::new(t.cos(), t.sin(), 0.0), Vec3::new(-t.sin(), t.cos(), 0.0));
        let error = |h: f64| {
            let middle = place(at(0.0), at(h), h, 0.5);
            (middle - at(0.5 * h).0).norm()
        };
        let (coarse, fine) = (error(0.4), error(0.2));
        assert!(fine < 1e-5 && (coarse / fine - 16.0).abs() < 1.0, "{coarse:e} {fine:e}");
        assert_eq!(place(at(0.0), at(0.3), 0.3, 0.0), at(0.0).0);
        assert_eq!(place(at(0.0), at(0.3), 0.3, 1.0), at(0.3).0);
    }

    #[test]
    fn a_fast_orbit_does_not_swing_out() {
        // A close binary: a thousand times faster than its way from one snapshot to the next.
        let (a, b) = ((Vec3::zeros(), 1000.0 * Vec3::y()), (0.01 * Vec3::x(), -1000.0 * Vec3::y()));
        for part in (0..=10).map(|k| f64::from(k) / 10.0) {
            assert!(place(a, b, 1.0, part).norm() < 0.02, "{part}");
        }
        assert_eq!(place(a, a, 1.0, 0.5), Vec3::zeros());
    }

    #[test]
    fn particles_are_found_by_their_ids() {
        let rows = |next: &[u64], ids: &[u64]| rows_in(next, ids).collect::<Vec<_>>();
        assert_eq!(rows(&[1, 4, 7, 9], &[0, 1, 5, 7, 8]), [None, Some(0), None, Some(2), None]);
        assert_eq!(rows(&[3, 8], &[3, 8]), [Some(0), Some(1)]);
        assert_eq!(rows(&[], &[3, 8]), [None, None]);
        assert_eq!(rows(&[3], &[]), []);
    }
}
