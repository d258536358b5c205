//! Wall time of block steps that several GPUs of a host share, by a model of constants: what a run chooses by it depends on
//! no measurement of the moment.
//!
//! One GPU takes a step of b particles among N in t₁ = step + target b + pair N b. On K GPUs the model has the shorter of two times:
//!
//! - Resident kernels write into each other's memory. They share the pairs and the work that belongs to a target:
//!   step + (target b + pair N b)/K + [`EXCHANGE`] + [`SENT`] b. They take up to [`Precision::resident_wins_to`] particles a GPU.
//! - Launched kernels share all of it: t₁/K + [`LAUNCH`] K + [`TARGET`] (1 − 1/K) b. One thread of the host launches on one device
//!   after the other and waits for all, and each device corrects all targets, whose forces it reads from the others.

use tisane::force::precision::Precision;

/// Wall times of one GPU, in s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Seconds of a block step.
    pub step: f64,
    /// Seconds of a target.
    pub target: f64,
    /// Seconds of a pair.
    pub pair: f64,
}

/// One NVIDIA H200 in `mixed` and in `f64`: fitted to the workload of `tisane bench run`, N = 256 to 524288 in `mixed` and to
/// 131072 in `f64` (`validation/performance/cuda`, and the page on several GPUs).
const H200: [Rates; 2] = [
    Rates { step: 4.46e-6, target: 1.68e-8, pair: 1.370e-12 },
    Rates { step: 4.88e-6, target: 3.20e-8, pair: 2.980e-12 },
];
/// Seconds of a step for the exchange between resident kernels, fitted to two H100 with NVLink, N = 4096 to 65536.
pub const EXCHANGE: f64 = 2.0e-6;
/// Seconds of a target whose force resident kernels send, likewise.
pub const SENT: f64 = 4.5e-9;
/// Seconds of a step for each GPU, fitted to two H200 with NVLink, N = 32768 to 524288.
pub const LAUNCH: f64 = 1.84e-5;
/// Seconds of a target for the part of it that others computed, likewise.
pub const TARGET: f64 = 5.0e-9;
/// Gain from which several GPUs are taken.
const MIN_GAIN: f64 = 1.1;
/// Largest N whose choice the model decides: beyond, several GPUs are always quicker.
const LARGEST: usize = 1 << 24;

/// Number of particles from which several GPUs take whole steps of the neighbour scheme: two H200 took them 1.21 times as fast as one in
/// `mixed` and 1.36 times in `f64`; with half of it as fast in `mixed` (`validation/performance/cuda/neighbours.txt`).
pub const MIN_BY_LISTS: usize = 1 << 16;

/// Describes in a line what several GPUs bring for `n` particles with whole steps of the neighbour scheme.
#[must_use]
pub fn describe_by_lists(n: usize) -> String {
    let verdict = if n < MIN_BY_LISTS { "one is taken, as several" } else { "several" };
    format!(
        "{verdict} pay from N = {MIN_BY_LISTS}: with the neighbour scheme in mixed two H200 were 1.21, 1.42 and 1.71 times as \
         fast as one for 65536, 131072 and 262144 particles"
    )
}

/// Measured block steps of Plummer spheres with softening 1/256 by `hermite4` with ν = 0.01, from t = 0.25 to 0.5, the workload
/// of `tisane bench run` (`validation/performance/cuda`): N, block steps in a time unit, mean block.
const WORKLOAD: [[f64; 3]; 12] = [
    [256.0, 2636.0, 18.0],
    [512.0, 2800.0, 36.4],
    [1024.0, 4048.0, 58.8],
    [2048.0, 5900.0, 88.8],
    [4096.0, 8464.0, 144.4],
    [8192.0, 11016.0, 254.8],
    [16384.0, 14500.0, 435.5],
    [32768.0, 16284.0, 850.9],
    [65536.0, 16160.0, 1826.7],
    [131_072.0, 15820.0, 3916.1],
    [262_144.0, 15068.0, 8442.5],
    [524_288.0, 14260.0, 17968.4],
];

/// Returns block steps in a time unit and mean block of the workload: between the measured N, and beyond them, on a power law
/// through the nearest two.
#[must_use]
pub fn workload(n: usize) -> [f64; 2] {
    let n = n.max(1) as f64;
    let above = WORKLOAD.iter().position(|row| row[0] >= n).unwrap_or(WORKLOAD.len() - 1).max(1);
    let [a, b] = [WORKLOAD[above - 1], WORKLOAD[above]];
    let part = (n / a[0]).ln() / (b[0] / a[0]).ln();
    [1, 2].map(|k| a[k] * (b[k] / a[k]).powf(part))
}

/// GPUs of one host that share the block steps of a run.
#[derive(Clone, Copy, Debug)]
pub struct Gpus {
    /// Wall times of each.
    pub rates: Rates,
    /// Number of particles on each up to which resident kernels take the steps.
    pub resident: usize,
}

impl Gpus {
    /// Returns GPUs like the H200, for a mode: those of `mixed` stand for all modes whose pairs are not in f64.
    #[must_use]
    pub fn h200(precision: Precision) -> Self {
        Self { rates: H200[usize::from(precision.in_f64())], resident: precision.resident_wins_to() }
    }

    /// Returns the seconds of a step of `block` particles among `n` on a number of GPUs.
    #[must_use]
    pub fn step(&self, gpus: usize, n: f64, block: f64) -> f64 {
        let Rates { step, target, pair } = self.rates;
        let one = step + target * block + pair * n * block;
        if gpus < 2 {
            return one;
        }
        let k = gpus as f64;
        let launched = one / k + LAUNCH * k + TARGET * (1.0 - 1.0 / k) * block;
        if n > k * self.resident as f64 {
            return launched;
        }
        launched.min(step + (target + pair * n) * block / k + EXCHANGE + SENT * block)
    }

    /// Returns the seconds of a time unit of the workload.
    #[must_use]
    pub fn time_unit(&self, gpus: usize, n: usize) -> f64 {
        let [steps, block] = workload(n);
        steps * self.step(gpus, n as f64, block)
    }

    /// Returns how many times as fast a number of GPUs is as one.
    #[must_use]
    pub fn speed_up(&self, gpus: usize, n: usize) -> f64 {
        self.time_unit(1, n) / self.time_unit(gpus, n)
    }

    /// Returns the number of particles, a power of two, from which a number of GPUs is quicker than one.
    #[must_use]
    pub fn min(&self, gpus: usize) -> usize {
        let sizes = std::iter::successors(Some(1_usize), |n| Some(2 * n)).take_while(|n| *n < LARGEST);
        sizes.into_iter().find(|&n| self.speed_up(gpus, n) >= MIN_GAIN).unwrap_or(LARGEST)
    }

    /// Describes in a line what numbers of GPUs up to `max` bring for `n` particles.
    #[must_use]
    pub fn describe(&self, max: usize, n: usize) -> String {
        let counts = counts(max).into_iter().skip(1).map(|k| format!("{k}: {:.2}", self.speed_up(k, n)));
        let min = self.min(max);
        let verdict = if n < min {
            format!("one is taken, as {max} pay from N = {min}")
        } else {
            let best = (1..=max).max_by(|a, b| self.speed_up(*a, n).total_cmp(&self.speed_up(*b, n))).unwrap_or(1);
            if best < max { format!("more than {best} do not pay") } else { format!("{max} pay") }
        };
        format!(
            "times as fast as one: {}; {verdict} (modelled for a Plummer model, by two H200)",
            counts.collect::<Vec<_>>().join(", ")
        )
    }
}

/// Returns the powers of two up to a number, and that number.
#[must_use]
pub fn counts(max: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |k| Some(2 * k)).take_while(|k| *k < max).collect();
    counts.push(max.max(1));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_pay_from_where_two_were_seen_to() {
        let mixed = Gpus::h200(Precision::Mixed);
        assert_eq!(mixed.min(2), 1 << 14);
        for gpus in 2..=8 {
            let min = mixed.min(gpus);
            assert!(mixed.speed_up(gpus, min) >= MIN_GAIN && mixed.speed_up(gpus, min / 2) < MIN_GAIN);
            assert!(mixed.speed_up(gpus, 1 << 20) > 0.9 * gpus as f64, "{gpus}");
        }
        assert!(mixed.describe(2, 4096).contains("one is taken, as 2 pay from N = 16384"));
        assert!(mixed.describe(8, 1 << 16).contains("8 pay"));
    }

    #[test]
    fn several_take_the_neighbour_scheme_where_two_were_seen_to_pay() {
        assert!(describe_by_lists(65_535).starts_with("one is taken, as several pay from N = 65536"));
        assert!(describe_by_lists(65_536).starts_with("several pay from N = 65536"));
    }

    #[test]
    fn the_workload_goes_through_its_measurements() {
        for [n, steps, block] in WORKLOAD {
            let found = workload(n as usize);
            assert!((found[0] / steps - 1.0).abs() < 1e-9 && (found[1] / block - 1.0).abs() < 1e-9);
        }
        assert!(workload(1 << 20)[1] > 35_000.0 && workload(3000)[1] > 88.8 && workload(3000)[1] < 144.4);
    }

    #[test]
    fn numbers_of_parts_double_up_to_the_last() {
        assert_eq!((counts(1), counts(2), counts(6)), (vec![1], vec![1, 2], vec![1, 2, 4, 6]));
    }
}
