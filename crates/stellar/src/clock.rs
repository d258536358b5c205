//! Relation of core mass and luminosity of giants, and the growth of the core with time: equations 31 to 43, 68 to 72,
//! 84.

use crate::coefficients::Coefficients;
use crate::numbers::line;
use libm::pow;

/// Relation L(Mc) = min(B Mc^q, D Mc^p) of core mass and luminosity, in solar units (equations 37 and 38).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relation {
    /// B.
    pub b: f64,
    /// D.
    pub d: f64,
    /// p.
    pub p: f64,
    /// q.
    pub q: f64,
    /// Core mass at which the two branches meet.
    pub mx: f64,
    /// Luminosity there.
    pub lx: f64,
}

impl Relation {
    fn new(b: f64, d: f64, p: f64, q: f64) -> Self {
        let mx = pow(b / d, 1.0 / (p - q));
        Self { b, d, p, q, mx, lx: d * pow(mx, p) }
    }

    /// Returns the relation of hydrogen-rich giants. SSE interpolates between 2 and 2.5 solar masses at every
    /// metallicity.
    pub(crate) fn hydrogen(c: &Coefficients, m: f64) -> Self {
        let b = (500.0 + 1.75e4 * pow(m, 0.6)).max(3e4);
        let heavy = 0.975 * c.log_d0 - 0.18 * m;
        let (log_d, p, q) = if m <= 2.0 {
            (c.log_d0, 6.0, 3.0)
        } else if m < 2.5 {
            let between = |low: f64, high: f64| line(m, (2.0, low), (2.5, high));
            (between(c.log_d0, 0.975 * c.log_d0 - 0.45), between(6.0, 5.0), between(3.0, 2.0))
        } else {
            (heavy.max(0.5 * c.log_d0 - 0.06 * m).max(-1.0), 5.0, 2.0)
        };
        Self::new(b, pow(10.0, log_d), p, q)
    }

    /// Returns the relation of helium giants (equation 84).
    pub(crate) fn helium(m: f64) -> Self {
        Self::new(4.1e4, 5.5e4 / (1.0 + 0.4 * pow(m, 4.0)), 5.0, 3.0)
    }

    /// Returns the luminosity at a core mass.
    #[must_use]
    pub fn luminosity(&self, core: f64) -> f64 {
        (self.b * pow(core, self.q)).min(self.d * pow(core, self.p))
    }

    /// Returns the core mass at a luminosity.
    #[must_use]
    pub fn core(&self, luminosity: f64) -> f64 {
        if luminosity <= self.lx {
            pow(luminosity / self.d, 1.0 / self.p)
        } else {
            pow(luminosity / self.b, 1.0 / self.q)
        }
    }
}

/// Growth of a core by burning: dMc/dt = A L(Mc) (equations 39 to 43). Masses in solar masses, times in Myr.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Relation of core mass and luminosity.
    pub relation: Relation,
    /// A, the burnt mass for each solar luminosity and Myr.
    pub rate: f64,
    /// Time at which the core of the first branch would be infinite; -∞ if that branch is not used.
    pub t1: f64,
    /// Time at which the second branch begins.
    pub tx: f64,
    /// Time at which the core of the second branch would be infinite.
    pub t2: f64,
}

impl Clock {
    /// Creates the clock of a core of mass `core` at the time `start`.
    pub(crate) fn new(relation: Relation, rate: f64, core: f64, start: f64) -> Self {
        let first = |m: f64| remaining(m, relation.p, rate * relation.d);
        let second = |m: f64| remaining(m, relation.q, rate * relation.b);
        if core <= relation.mx {
            let t1 = start + first(core);
            let tx = t1 - first(relation.mx);
            Self { relation, rate, t1, tx, t2: tx + second(relation.mx) }
        } else {
            Self { relation, rate, t1: f64::NEG_INFINITY, tx: f64::NEG_INFINITY, t2: start + second(core) }
        }
    }

    /// Returns the core mass at a time: infinite after the end.
    #[must_use]
    pub fn core(&self, t: f64) -> f64 {
        let Relation { b, d, p, q, .. } = self.relation;
        let (left, power, rate) =
            if t <= self.tx { (self.t1 - t, p, self.rate * d) } else { (self.t2 - t, q, self.rate * b) };
        pow((power - 1.0) * rate * left.max(0.0), 1.0 / (1.0 - power))
    }

    /// Returns the time at which the core has a mass.
    #[must_use]
    pub fn time(&self, core: f64) -> f64 {
        let Relation { b, d, p, q, mx, .. } = self.relation;
        if core <= mx {
            self.t1 - remaining(core, p, self.rate * d)
        } else {
            self.t2 - remaining(core, q, self.rate * b)
        }
    }

    /// Returns the time at which the core would be infinite on the branch of a time.
    #[must_use]
    pub fn end(&self, t: f64) -> f64 {
        if t < self.tx { self.t1 } else { self.t2 }
    }
}

/// Returns the time from a core mass to an infinite one on a branch dMc/dt = `rate` Mc^`power`.
fn remaining(core: f64, power: f64, rate: f64) -> f64 {
    pow(core, 1.0 - power) / ((power - 1.0) * rate)
}
