//! Collocation at the eight Gauss–Lobatto points of [0, 1]: the ends, and the roots of the derivative of the
//! Legendre polynomial P₇. A test computes all numbers with twice the digits.

/// Number of points.
pub const POINTS: usize = 8;

/// Points c_q without the first one, which is 0.
#[rustfmt::skip]
pub const NODES: [f64; 7] = [
    0.06412992574519669, 0.20414990928342885, 0.3953503910487606, 0.6046496089512394, 0.7958500907165712,
    0.9358700742548033, 1.0,
];

/// Coefficients of the Lagrange polynomials of the points but the first, in powers of x = 2 z − 1, which have far less rounding
/// than those of z: row r, column e has that of xᵉ.
#[rustfmt::skip]
pub const COEFFICIENTS: [[f64; POINTS]; 7] = [
    [
        0.10884002339880919, -0.12485374636569209, -2.9042970734844875, 3.33160871212585,
        9.892051881471833, -11.347477684014024, -7.096594831386154, 8.140722718253867,
    ],
    [
        -0.20402935346955609, 0.3448188117424295, 5.13006254948732, -8.670037141212164,
        -11.054944637017064, 18.683355158420195, 6.1289114409993, -10.358136828950459,
    ],
    [
        0.6342518300707469, -3.030359293393399, -3.2804529760028327, 15.673508046892612,
        5.030080255545231, -24.032962501985807, -2.3838791096131455, 11.389813748486596,
    ],
    [
        0.6342518300707469, 3.030359293393399, -3.2804529760028327, -15.673508046892612,
        5.030080255545231, 24.032962501985807, -2.3838791096131455, -11.389813748486596,
    ],
    [
        -0.20402935346955609, -0.3448188117424295, 5.13006254948732, 8.670037141212164,
        -11.054944637017064, -18.683355158420195, 6.1289114409993, 10.358136828950459,
    ],
    [
        0.10884002339880919, 0.12485374636569209, -2.9042970734844875, -3.33160871212585,
        9.892051881471833, 11.347477684014024, -7.096594831386154, -8.140722718253867,
    ],
    [
        -0.0390625, -0.0390625, 1.0546875, 1.0546875,
        -3.8671875, -3.8671875, 3.3515625, 3.3515625,
    ],
];

/// Double integrals of the same polynomials: row q, column r has ∫₀^{c_q} ∫₀^s ℓ_r(z) dz ds.
#[rustfmt::skip]
pub const DOUBLE_INTEGRALS: [[f64; 7]; 7] = [
    [
        0.001111431080909486, -0.00027429852839275264, 0.0001459815806409204, -9.334471133835272e-05,
        6.386203714839723e-05, -4.248501637541856e-05, 1.634213772725476e-05,
    ],
    [
        0.014528717331731621, 0.003008754144870308, -0.0005396860868484691, 0.00025183457804778806,
        -0.00014926306624518738, 9.27017343131093e-05, -3.4769172053505644e-05,
    ],
    [
        0.035053980427851496, 0.0321190080358995, 0.004426823321228753, -0.0006306963861245622,
        0.00025433689040666607, -0.0001323148496429208, 4.652269426620393e-05,
    ],
    [
        0.05681257620324806, 0.06856410483516587, 0.04253295518340836, 0.004426823321228753,
        -0.0004924035360670616, 0.00015920434990155522, -4.652269426620393e-05,
    ],
    [
        0.07718096765711921, 0.10077191645048059, 0.08284664627112683, 0.03889147403669763,
        0.003008754144870308, -0.00022268387630320052, 3.4769172053505644e-05,
    ],
    [
        0.0917971821144655, 0.12486703844690303, 0.11137770380089608, 0.06845337852334242,
        0.023607698364636102, 0.001111431080909486, -1.634213772725476e-05,
    ],
    [
        0.09859589035129697, 0.135741262879239, 0.12469652444944243, 0.08153287287990951,
        0.03482008336251321, 0.00675622322045605, 0.0,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of twice the digits: the sum of two, of which the second is the rounding of the first (Dekker 1971, Numerische
    /// Mathematik 18, 224).
    #[derive(Clone, Copy)]
    struct Long(f64, f64);

    impl Long {
        fn add(self, other: Self) -> Self {
            let (sum, rest) = crate::compensated_sum::two_sum(self.0, other.0);
            let low = rest + (self.1 + other.1);
            Self(sum + low, low - ((sum + low) - sum))
        }

        fn times(self, other: Self) -> Self {
            let product = self.0 * other.0;
            // The rounding of a product, exactly.
            let low = self.0.mul_add(other.0, -product) + (self.0 * other.1 + self.1 * other.0);
            Self(product + low, low - ((product + low) - product))
        }

        fn over(self, other: Self) -> Self {
            let quotient = Self(self.0 / other.0, 0.0);
            let rest = self.add(quotient.times(other).negative());
            let next = Self(rest.0 / other.0, 0.0);
            let rest = rest.add(next.times(other).negative());
            quotient.add(next).add(Self(rest.0 / other.0, 0.0))
        }

        fn negative(self) -> Self {
            Self(-self.0, -self.1)
        }

        fn of(x: f64) -> Self {
            Self(x, 0.0)
        }
    }

    /// Value of a polynomial by its coefficients, that of the constant first.
    fn value(polynomial: &[Long], x: Long) -> Long {
        polynomial.iter().rev().fold(Long::of(0.0), |sum, c| sum.times(x).add(*c))
    }

    /// The points as x = 2 z − 1: −1, roots of P₇′, 429 x⁶ − 495 x⁴ + 135 x² − 5 but for a factor, by Newton's method from the table.
    fn points() -> [Long; POINTS] {
        let derivative = [-5.0, 0.0, 135.0, 0.0, -495.0, 0.0, 429.0].map(Long::of);
        let second = [0.0, 270.0, 0.0, -1980.0, 0.0, 2574.0].map(Long::of);
        let root = |node: f64| {
            let mut x = Long::of(2.0 * node - 1.0);
            for _ in 0..4 {
                x = x.add(value(&derivative, x).over(value(&second, x)).negative());
            }
            x
        };
        let [a, b, c, d, e, f, _] = NODES.map(root);
        [Long::of(-1.0), a, b, c, d, e, f, Long::of(1.0)]
    }

    /// Coefficients of ℓ_r.
    fn lagrange(points: &[Long; POINTS], r: usize) -> Vec<Long> {
        let mut polynomial = vec![Long::of(1.0)];
        for (_, point) in points.iter().enumerate().filter(|(k, _)| *k != r) {
            let width = points[r].add(point.negative());
            let mut next = vec![Long::of(0.0); polynomial.len() + 1];
            for (e, c) in polynomial.iter().enumerate() {
                let c = c.over(width);
                next[e + 1] = next[e + 1].add(c);
                next[e] = next[e].add(c.times(*point).negative());
            }
            polynomial = next;
        }
        polynomial
    }

    #[test]
    fn the_tables_are_those_of_the_points_to_the_last_digit() {
        let (points, half) = (points(), Long::of(0.5));
        for (node, point) in NODES.iter().zip(&points[1..]) {
            assert_eq!(*node, point.add(Long::of(1.0)).times(half).0);
        }
        for r in 1..POINTS {
            let polynomial = lagrange(&points, r);
            for (e, c) in polynomial.iter().enumerate() {
                assert_eq!(COEFFICIENTS[r - 1][e], c.0, "coefficient of x^{e} of the point {r}");
            }
            let over = |e: usize, n: usize| polynomial[e].over(Long::of(n as f64));
            // ∫ ℓ dx and ∫∫ ℓ dx², from −1 to x; a length of z is half of one of x.
            let mut once: Vec<Long> =
                (0..=POINTS).map(|e| if e == 0 { Long::of(0.0) } else { over(e - 1, e) }).collect();
            once[0] = value(&once, points[0]).negative();
            let again = |e: usize| once[e - 1].over(Long::of(e as f64));
            let mut twice: Vec<Long> = (0..POINTS + 2).map(|e| if e == 0 { Long::of(0.0) } else { again(e) }).collect();
            twice[0] = value(&twice, points[0]).negative();
            for q in 1..POINTS {
                let found = value(&twice, points[q]).times(Long::of(0.25)).0;
                let listed = DOUBLE_INTEGRALS[q - 1][r - 1];
                // The last one is 0, of which rounding remains.
                assert!(listed == found || listed == 0.0 && found.abs() < 1e-28, "points {q}, {r}: {listed} {found}");
            }
        }
    }
}
