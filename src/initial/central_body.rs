//! Massive body in the centre of a cluster.

use tisane_force::particles::Particles;

/// Multiplies each velocity by the factor by which a body of mass `body` at rest at the origin raises the velocity
/// dispersion at that radius. With σ² = (1/ρ) ∫ ρ M/r² dr from r outwards (Jeans' equation without anisotropy, Binney &
/// Tremaine 2008, eq. 4.216) and ρ dr ∝ dM/r², the factor is (1 + Σ m body/r⁴ / Σ m M(r)/r⁴)^(1/2) with sums over the
/// particles farther out. The dispersions are those of equilibrium at every radius, and the shape of the velocity
/// distribution is unchanged; the density has no cusp about the body.
pub fn raise_dispersions(p: &mut Particles, body: f64) {
    let r: Vec<f64> = p.pos.iter().map(|x| x.norm().max(f64::MIN_POSITIVE)).collect();
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| r[a].total_cmp(&r[b]));
    let mut inside = vec![0.0; p.len()];
    let mut mass = 0.0;
    for &i in &order {
        // A particle contributes half its mass at its own radius.
        inside[i] = mass + 0.5 * p.mass[i];
        mass += p.mass[i];
    }
    let (mut by_body, mut by_stars) = (0.0, 0.0);
    for &i in order.iter().rev() {
        let weight = p.mass[i] / (r[i] * r[i] * r[i] * r[i]);
        by_body += weight * body;
        by_stars += weight * inside[i];
        let ratio = by_body / by_stars;
        if ratio.is_finite() {
            let factor = (1.0 + ratio).sqrt();
            p.vel[i] *= factor;
        }
    }
}
