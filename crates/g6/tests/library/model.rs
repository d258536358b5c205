//! What a client knows and expects: sources and direct sums in f64, apart from the library; and the calls of a client.

use g6::ffi::{
    Vector, g6_close, g6_open, g6_set_j_particle, g6_set_ti, g6calc_firsthalf, g6calc_lasthalf, g6calc_lasthalf2_,
};
use std::collections::BTreeMap;
use std::ptr::null;
use std::sync::atomic::{AtomicI32, Ordering};

/// A source as a client has it: derivatives and not their parts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source {
    pub index: i32,
    pub time: f64,
    pub mass: f64,
    pub x: Vector,
    pub v: Vector,
    pub a: Vector,
    pub jerk: Vector,
    pub snap: Vector,
}

impl Source {
    pub fn at(&self, t: f64) -> (Vector, Vector) {
        let dt = t - self.time;
        let series = |k: usize, terms: [f64; 5]| {
            let [x, v, a, j, s] = terms;
            let pos = x + v * dt + a * dt.powi(2) / 2.0 + j * dt.powi(3) / 6.0 + s * dt.powi(4) / 24.0;
            let vel = v + a * dt + j * dt.powi(2) / 2.0 + s * dt.powi(3) / 6.0;
            assert!(k < 3);
            (pos, vel)
        };
        let both = [0, 1, 2].map(|k| series(k, [self.x[k], self.v[k], self.a[k], self.jerk[k], self.snap[k]]));
        (both.map(|b| b.0), both.map(|b| b.1))
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Target {
    pub index: i32,
    pub x: Vector,
    pub v: Vector,
    pub h2: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    pub acc: Vector,
    pub jerk: Vector,
    pub pot: f64,
    pub nearest: i32,
}

pub fn square(x: Vector) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// A client of one cluster, with what it sent.
pub struct Client {
    pub id: i32,
    pub t: f64,
    pub sources: BTreeMap<i32, Source>,
}

impl Drop for Client {
    fn drop(&mut self) {
        unsafe { g6_close(self.id) };
    }
}

impl Client {
    /// Opens a cluster that no other test has.
    pub fn new() -> Self {
        static NEXT: AtomicI32 = AtomicI32::new(100);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        assert_eq!(unsafe { g6_open(id) }, 0);
        Self { id, t: 0.0, sources: BTreeMap::new() }
    }

    pub fn set(&mut self, address: i32, source: Source) {
        let s = source;
        let part = |v: Vector, n: f64| v.map(|v| v / n);
        let (k18, j6, a2) = (part(s.snap, 18.0), part(s.jerk, 6.0), part(s.a, 2.0));
        let code =
            unsafe { g6_set_j_particle(self.id, address, s.index, s.time, 0.125, s.mass, &k18, &j6, &a2, &s.v, &s.x) };
        assert_eq!(code, 0);
        self.sources.insert(address, source);
    }

    pub fn set_time(&mut self, t: f64) {
        assert_eq!(unsafe { g6_set_ti(self.id, t) }, 0);
        self.t = t;
    }

    /// Calls the library in its C form, and for the nearest in its Fortran form, which must have the same forces.
    pub fn forces(&self, nj: i32, targets: &[Target], eps2: f64) -> Vec<Force> {
        let n = targets.len();
        let ni = n as i32;
        let index: Vec<i32> = targets.iter().map(|t| t.index).collect();
        let x: Vec<Vector> = targets.iter().map(|t| t.x).collect();
        let v: Vec<Vector> = targets.iter().map(|t| t.v).collect();
        let h2: Vec<f64> = targets.iter().map(|t| t.h2).collect();
        let (mut acc, mut jerk, mut pot) = (vec![[0.0; 3]; n], vec![[0.0; 3]; n], vec![0.0; n]);
        let (mut acc2, mut jerk2, mut pot2, mut nnb) = (acc.clone(), jerk.clone(), pot.clone(), vec![7; n]);
        let (i, x, v, h) = (index.as_ptr(), x.as_ptr(), v.as_ptr(), h2.as_ptr());
        let id = self.id;
        unsafe {
            g6calc_firsthalf(id, nj, ni, i, x, v, null(), null(), null(), eps2, h);
            let out = (acc.as_mut_ptr(), jerk.as_mut_ptr(), pot.as_mut_ptr());
            assert_eq!(g6calc_lasthalf(id, nj, ni, i, x, v, eps2, h, out.0, out.1, out.2), 0);
            let out = (acc2.as_mut_ptr(), jerk2.as_mut_ptr(), pot2.as_mut_ptr(), nnb.as_mut_ptr());
            assert_eq!(g6calc_lasthalf2_(&id, &nj, &ni, i, x, v, &eps2, h, out.0, out.1, out.2, out.3), 0);
        }
        assert!(acc == acc2 && jerk == jerk2 && pot == pot2);
        (0..n).map(|k| Force { acc: acc[k], jerk: jerk[k], pot: pot[k], nearest: nnb[k] }).collect()
    }

    /// The sources that a call with `nj` addresses takes, predicted.
    pub fn taken(&self, nj: i32) -> impl Iterator<Item = (i32, f64, Vector, Vector)> {
        self.sources.range(..nj).filter(|(_, s)| s.index != -1).map(|(_, s)| {
            let (x, v) = s.at(self.t);
            (s.index, s.mass, x, v)
        })
    }

    /// Sums directly what the library should return.
    pub fn expected(&self, nj: i32, target: &Target, eps2: f64) -> Force {
        let mut force = Force { acc: [0.0; 3], jerk: [0.0; 3], pot: 0.0, nearest: -1 };
        let mut closest = f64::INFINITY;
        for (index, m, x, v) in self.taken(nj).filter(|other| other.0 != target.index) {
            let r: Vector = [0, 1, 2].map(|k| x[k] - target.x[k]);
            let w: Vector = [0, 1, 2].map(|k| v[k] - target.v[k]);
            if square(r) < closest {
                (closest, force.nearest) = (square(r), index);
            }
            let s2 = square(r) + eps2;
            let s3 = s2 * s2.sqrt();
            let rw: f64 = (0..3).map(|k| r[k] * w[k]).sum();
            for k in 0..3 {
                force.acc[k] += m * r[k] / s3;
                force.jerk[k] += m * (w[k] / s3 - 3.0 * rw * r[k] / (s3 * s2));
            }
            force.pot -= m / s2.sqrt();
        }
        force
    }

    /// Compares the library with the direct sums.
    pub fn check(&self, nj: i32, targets: &[Target], eps2: f64, what: &str) {
        for (force, target) in self.forces(nj, targets, eps2).iter().zip(targets) {
            let want = self.expected(nj, target, eps2);
            let close = |a: Vector, b: Vector| square([0, 1, 2].map(|k| a[k] - b[k])) <= 1e-24 * square(b).max(1e-12);
            let agree = close(force.acc, want.acc)
                && close(force.jerk, want.jerk)
                && (force.pot - want.pot).abs() <= 1e-12 * want.pot.abs();
            assert!(agree && force.nearest == want.nearest, "{what}: {target:?}: {force:?}, expected {want:?}");
            assert!(force.pot <= 0.0);
        }
    }
}

/// Random numbers: the same ones in every run (Steele & Lea's SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A whole number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// A number from −1 to 1.
    pub fn number(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> Vector {
        [0; 3].map(|_| self.number())
    }

    /// A source with acceleration and jerk at a time that block steps have.
    pub fn source(&mut self, index: i32) -> Source {
        Source {
            index,
            time: self.below(64) as f64 / 64.0,
            mass: self.number().abs() + 0.1,
            x: self.vector(),
            v: self.vector(),
            a: self.vector(),
            jerk: self.vector(),
            snap: [0.0; 3],
        }
    }

    pub fn target(&mut self, index: i32) -> Target {
        Target { index, x: self.vector(), v: self.vector(), h2: 0.3 }
    }
}
