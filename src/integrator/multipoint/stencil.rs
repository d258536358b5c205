//! Corrections that earlier points in time make to a Hermite step of 4th order.
//!
//! A Hermite step from t₀ to t₁ = t₀ + h takes the acceleration to be the cubic H(s), s = (t − t₀)/h, through (a, j) at
//! both ends. One earlier point t₋₁ = t₀ − r h adds s² (s−1)² (q₀ + q₁ (s + r)), with q₀ and q₁ such that the sum goes
//! through (a, j) there too: order 6. A second one t₋₂ = t₀ − ρ h adds s² (s−1)² (s + r)² (d₀ + d₁ (s + ρ)): order 8. All
//! terms vanish with their derivatives at t₀ and t₁; so they are additions to what the cubic gives, and without them
//! the step is that of 4th order.
//!
//! The functions are generic over the numbers, so that tests evaluate them in exact rational arithmetic.

use num_traits::{FromPrimitive, Num};

/// Numbers: a field with the whole numbers in it.
pub trait Real: Num + FromPrimitive + Copy {}

impl<R: Num + FromPrimitive + Copy> Real for R {}

/// Returns a whole number.
#[inline(always)]
fn whole<R: Real>(number: i32) -> R {
    R::from_i32(number).unwrap_or_else(R::zero)
}

/// Returns a fraction.
#[inline(always)]
fn part<R: Real>(above: i32, below: i32) -> R {
    whole::<R>(above) / whole(below)
}

/// Acceleration at a point in time, and jerk times the length h of the step.
#[derive(Clone, Copy, Debug)]
pub struct Node<R> {
    /// Acceleration.
    pub acc: R,
    /// Jerk times h.
    pub jerk: R,
}

/// Additions of the earlier points to a step, for one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addition<R> {
    /// To the position, in units of h².
    pub pos: R,
    /// To the velocity, in units of h.
    pub vel: R,
    /// To hᵏ a⁽ᵏ⁾ at the end of the step, k = 2 … 5. The last two are whole: the cubic has none.
    pub derivatives: [R; 4],
}

/// Factors of a second earlier point.
#[derive(Clone, Copy, Debug)]
struct Far<R> {
    /// ρ.
    ratio: R,
    /// 1 / (ρ² (1+ρ)² (ρ−r)²).
    scale: R,
    /// 2 (1/ρ + 1/(1+ρ) + 1/(ρ−r)).
    slope: R,
    /// Integrals of s² (s−1)² (s+r)² times 1 and times s + ρ: over s, and twice.
    vel: [R; 2],
    pos: [R; 2],
}

/// Factors of the earlier points, the same for all components.
#[derive(Clone, Copy, Debug)]
pub struct Stencil<R> {
    /// r.
    ratio: R,
    /// 1 / (r² (1+r)²).
    scale: R,
    /// 2 (1/r + 1/(1+r)).
    slope: R,
    far: Option<Far<R>>,
}

impl<R: Real> Stencil<R> {
    /// Creates the factors for points at `ratio` > 0 and, if there is a second one, at `far` > `ratio` steps before the
    /// beginning of the step.
    #[inline(always)]
    pub fn new(ratio: R, far: Option<R>) -> Self {
        let r = ratio;
        let two = whole::<R>(2);
        let far = far.map(|far| {
            let (gap, root) = (far - r, far * (R::one() + far) * (far - r));
            // ∫ s² (s−1)² (s+r)² sᵏ ds over the step for k = 0 and 1, and ∫ (1−s) of the same.
            let vel0 = r * r * part(1, 30) + r * part(1, 30) + part(1, 105);
            let vel1 = r * r * part(1, 60) + r * part(2, 105) + part(1, 168);
            let pos0 = r * r * part(1, 60) + r * part(1, 70) + part(1, 280);
            let pos1 = r * r * part(1, 140) + r * part(1, 140) + part(1, 504);
            Far {
                ratio: far,
                scale: R::one() / (root * root),
                slope: two * (R::one() / far + R::one() / (R::one() + far) + R::one() / gap),
                vel: [vel0, vel1 + far * vel0],
                pos: [pos0, pos1 + far * pos0],
            }
        });
        let root = r * (R::one() + r);
        Self { ratio, scale: R::one() / (root * root), slope: two * (R::one() / r + R::one() / (R::one() + r)), far }
    }

    /// Returns the additions for one component: `points` are t₋₂ (if there is one), t₋₁, t₀ and t₁.
    #[inline(always)]
    pub fn addition(&self, [before2, before, old, new]: [Node<R>; 4]) -> Addition<R> {
        let (r, one, two) = (self.ratio, R::one(), whole::<R>(2));
        let rise = new.acc - old.acc;
        let c2 = whole::<R>(3) * rise - two * old.jerk - new.jerk;
        let c3 = old.jerk + new.jerk - two * rise;
        // The cubic and its slope at s = −x.
        let cubic = |x: R| old.acc - x * (old.jerk - x * (c2 - x * c3));
        let slope = |x: R| old.jerk - x * (two * c2 - x * (whole::<R>(3) * c3));
        let q0 = (before.acc - cubic(r)) * self.scale;
        let q1 = (before.jerk - slope(r)) * self.scale + q0 * self.slope;
        let sum = q0 + q1 * (one + r);
        let mut found = Addition {
            pos: q0 * part(1, 60) + q1 * (r * part(1, 60) + part(1, 140)),
            vel: (q0 + q1 * (r + part(1, 2))) * part(1, 30),
            derivatives: [
                two * sum,
                whole::<R>(6) * (two * sum + q1),
                whole::<R>(24) * (sum + two * q1),
                whole::<R>(120) * q1,
            ],
        };
        if let Some(far) = &self.far {
            let x = far.ratio;
            // s² (s−1)² and its slope at s = −x; q₀ + q₁ (s + r) there.
            let root = x * (one + x);
            let (bump, bump_slope) = (root * root, whole::<R>(-2) * root * (one + two * x));
            let line = q0 + q1 * (r - x);
            let d0 = (before2.acc - cubic(x) - bump * line) * far.scale;
            let d1 = (before2.jerk - slope(x) - bump_slope * line - bump * q1) * far.scale + d0 * far.slope;
            found.vel = found.vel + d0 * far.vel[0] + d1 * far.vel[1];
            found.pos = found.pos + d0 * far.pos[0] + d1 * far.pos[1];
            // Powers of u = s − 1 in u² (1+u)² (g+u)² (e₀ + d₁ u), times k!.
            let (g, e0) = (one + r, d0 + d1 * (one + x));
            let (f2, f3, f4, f5) = (g * g, two * g * (one + g), (one + g) * (one + g) + two * g, two * (one + g));
            let [snap, crackle, fourth, fifth] = &mut found.derivatives;
            *snap = *snap + two * (f2 * e0);
            *crackle = *crackle + whole::<R>(6) * (f3 * e0 + f2 * d1);
            *fourth = *fourth + whole::<R>(24) * (f4 * e0 + f3 * d1);
            *fifth = *fifth + whole::<R>(120) * (f5 * e0 + f4 * d1);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::Ratio;

    type Exact = Ratio<i128>;

    fn exact(above: i128, below: i128) -> Exact {
        Exact::new(above, below)
    }

    /// Ratios r of steps that block steps have, and some that they do not, each with distances ρ of a second point.
    fn ratios() -> Vec<(Exact, Vec<Exact>)> {
        let near = [(1, 4), (1, 3), (1, 2), (3, 4), (1, 1), (5, 4), (2, 1), (3, 1), (4, 1), (8, 1)];
        let gaps = [(1, 4), (1, 2), (1, 1), (2, 1), (8, 1)];
        let with_far = |(above, below)| {
            let near = exact(above, below);
            (near, gaps.iter().map(|&(above, below)| near + near * exact(above, below)).collect())
        };
        near.into_iter().map(with_far).collect()
    }

    fn power(s: Exact, degree: i32) -> Exact {
        if degree < 0 { exact(0, 1) } else { s.pow(degree) }
    }

    /// Acceleration s^degree at a point, with its derivative.
    fn node(s: Exact, degree: i32) -> Node<Exact> {
        Node { acc: power(s, degree), jerk: exact(degree.into(), 1) * power(s, degree - 1) }
    }

    /// Velocity gained, distance beyond h v₀, and hᵏ a⁽ᵏ⁾ at the end, k = 2 … 5, of a whole step.
    fn step(stencil: Option<&Stencil<Exact>>, nodes: [Node<Exact>; 4]) -> [Exact; 6] {
        let zero = exact(0, 1);
        let none = Addition { pos: zero, vel: zero, derivatives: [zero; 4] };
        let added = stencil.map_or(none, |stencil| stencil.addition(nodes));
        let [.., old, new] = nodes;
        let vel = (old.acc + new.acc) / 2 + (old.jerk - new.jerk) / 12;
        let pos = old.acc * exact(7, 20) + new.acc * exact(3, 20) + old.jerk / 20 - new.jerk / 30;
        let snap = (old.acc - new.acc) * 6 + old.jerk * 2 + new.jerk * 4;
        let crackle = (old.acc - new.acc) * 12 + (old.jerk + new.jerk) * 6;
        let [d2, d3, d4, d5] = added.derivatives;
        [vel + added.vel, pos + added.pos, snap + d2, crackle + d3, d4, d5]
    }

    /// The same for the acceleration s^degree, exactly.
    fn solution(degree: i32) -> [Exact; 6] {
        let d = i128::from(degree);
        let derivative = |k: i128| (0..k).fold(exact(1, 1), |product, below| product * (d - below));
        [exact(1, d + 1), exact(1, (d + 1) * (d + 2)), derivative(2), derivative(3), derivative(4), derivative(5)]
    }

    fn nodes(r: Exact, far: Exact, degree: i32) -> [Node<Exact>; 4] {
        [-far, -r, exact(0, 1), exact(1, 1)].map(|s| node(s, degree))
    }

    #[test]
    fn verify_order_six_is_exact_for_polynomials_of_fifth_degree() {
        for (r, _) in ratios() {
            let stencil = Stencil::new(r, None);
            for degree in 0..6 {
                assert_eq!(step(Some(&stencil), nodes(r, r, degree)), solution(degree), "r = {r}, s^{degree}");
            }
            // The first that it does not integrate exactly: by the integral of s² (s−1)² (s+r)².
            let error = solution(6)[0] - step(Some(&stencil), nodes(r, r, 6))[0];
            assert_eq!(error, r * r / 30 + r / 30 + exact(1, 105), "r = {r}");
        }
    }

    #[test]
    fn verify_order_eight_is_exact_for_polynomials_of_seventh_degree() {
        for (r, fars) in ratios() {
            for far in fars {
                let stencil = Stencil::new(r, Some(far));
                for degree in 0..8 {
                    let found = step(Some(&stencil), nodes(r, far, degree));
                    assert_eq!(found, solution(degree), "r = {r}, far = {far}, s^{degree}");
                }
                let of = |degree| step(Some(&stencil), nodes(r, far, degree))[0];
                assert_ne!(of(8), solution(8)[0], "r = {r}, far = {far}");
            }
        }
    }

    #[test]
    fn verify_the_cubic_is_of_fourth_order() {
        let r = exact(1, 1);
        for degree in 0..4 {
            assert_eq!(step(None, nodes(r, r, degree)), solution(degree));
        }
        assert_ne!(step(None, nodes(r, r, 4))[0], solution(4)[0]);
    }

    /// Weights of (a₋₁, J₋₁, a₀, J₀, a₁, J₁) in the velocity and in the position.
    fn weights(stencil: &Stencil<Exact>) -> [[Exact; 6]; 2] {
        let unit = |k: usize| {
            let at = |l: usize| exact(i128::from(k == l), 1);
            let nodes = [0, 0, 2, 4].map(|l| Node { acc: at(l), jerk: at(l + 1) });
            step(Some(stencil), nodes)
        };
        [0, 1].map(|row| [0, 1, 2, 3, 4, 5].map(|k| unit(k)[row]))
    }

    /// Weights by hand, from the six conditions of exactness, for the ratios of block steps.
    #[test]
    fn verify_weights_of_order_six() {
        let row = |row: [(i128, i128); 6]| row.map(|(above, below)| exact(above, below));
        for (ratio, vel, pos) in [
            (
                exact(1, 1),
                [(11, 240), (1, 80), (8, 15), (1, 6), (101, 240), (-13, 240)],
                [(37, 1680), (1, 168), (11, 30), (19, 210), (187, 1680), (-2, 105)],
            ),
            (
                exact(1, 2),
                [(152, 405), (8, 135), (7, 30), (17, 60), (317, 810), (-5, 108)],
                [(100, 567), (26, 945), (19, 84), (61, 420), (221, 2268), (-29, 1890)],
            ),
            (
                exact(2, 1),
                [(31, 6480), (1, 432), (131, 240), (29, 240), (182, 405), (-17, 270)],
                [(53, 22680), (17, 15120), (313, 840), (23, 336), (709, 5670), (-22, 945)],
            ),
        ] {
            assert_eq!(weights(&Stencil::new(ratio, None)), [row(vel), row(pos)], "r = {ratio}");
        }
    }

    /// In f64 the weights are the exact ones to rounding.
    #[test]
    fn weights_in_f64_are_the_exact_ones() {
        let float = |x: Exact| *x.numer() as f64 / *x.denom() as f64;
        for (r, fars) in ratios() {
            for far in [None].into_iter().chain(fars.into_iter().map(Some)) {
                let (exactly, rounded) = (Stencil::new(r, far), Stencil::new(float(r), far.map(float)));
                for k in 0..8 {
                    let at = |l: usize| i128::from(k == l);
                    let unit = |l: usize| (at(l), at(l + 1));
                    let nodes = [0, 2, 4, 6].map(unit);
                    let found = rounded.addition(nodes.map(|(a, j)| Node { acc: a as f64, jerk: j as f64 }));
                    let of = exactly.addition(nodes.map(|(a, j)| Node { acc: exact(a, 1), jerk: exact(j, 1) }));
                    let found = [found.pos, found.vel].into_iter().chain(found.derivatives);
                    let expected = [of.pos, of.vel].into_iter().chain(of.derivatives).map(float);
                    // What is rounded are terms that cancel: of the size of the factors, not of the weights.
                    let size = float(exactly.scale) * far.map_or(1.0, |far| 1.0 + float(far).powi(4)) + 1.0;
                    for (found, expected) in found.zip(expected) {
                        let error = (found - expected).abs() / (expected.abs() + size);
                        assert!(error < 1e-11, "r = {r}, far = {far:?}, weight {k}: {found}, expected {expected}");
                    }
                }
            }
        }
    }
}
