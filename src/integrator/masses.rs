//! Masses of all particles, and what step criteria know of the system by them.

use tisane_force::exact_sum::ExactSum;
use tisane_force::force::noise::Noise;

/// Masses of all rows. Their sum is exact, so that it is the same whatever has changed before.
#[derive(Debug, Default)]
pub(super) struct Masses {
    of_rows: Vec<f64>,
    total: ExactSum,
    /// Mass that none is above.
    max: f64,
}

impl Masses {
    /// Creates them from those of all rows.
    pub fn new(mass: &[f64]) -> Self {
        let mut masses = Self::default();
        masses.of_rows.resize(mass.len(), 0.0);
        (0..mass.len()).for_each(|i| masses.set(i, mass[i]));
        masses
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.of_rows.len()
    }

    /// Takes note of rows that have changed, of which those at the end may be new.
    pub fn change(&mut self, mass: &[f64], rows: &[u32]) {
        self.of_rows.resize(mass.len(), 0.0);
        rows.iter().map(|&i| i as usize).for_each(|i| self.set(i, mass[i]));
    }

    fn set(&mut self, i: usize, mass: f64) {
        self.total.subtract(std::mem::replace(&mut self.of_rows[i], mass));
        self.total.add(mass);
        self.max = self.max.max(mass);
    }

    /// Returns the scales of the accelerations, for this rounding error. It looks for the heaviest particle only where one may
    /// have more than half of all mass.
    pub fn noise(&self, relative: f64) -> Noise {
        let total = self.total.value();
        let mass = if self.max > 0.5 * total { &self.of_rows[..] } else { &[] };
        Noise::new(relative, mass, total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_leave_what_a_fresh_look_finds() {
        let mut mass: Vec<f64> = (0..100).map(|i| 1.0 / (3.0 + f64::from(i))).collect();
        let mut masses = Masses::new(&mass);
        let mut change = |mass: &[f64], rows: &[u32]| {
            masses.change(mass, rows);
            assert_eq!((masses.len(), masses.noise(1e-7)), (mass.len(), Masses::new(mass).noise(1e-7)));
            assert_eq!(
                masses.noise(1e-7),
                Noise::new(1e-7, mass, tisane_force::compensated_sum::sum(mass.iter().copied()))
            );
        };
        (mass[3], mass[90]) = (mass[3] + mass[90], 0.0);
        change(&mass, &[3, 90]);
        mass.push(1e3);
        change(&mass, &[100]);
        // With less mass in all, another may be the heaviest.
        (mass[100], mass[99]) = (0.0, 1e2);
        change(&mass, &[99, 100]);
        mass[99] = 0.0;
        change(&mass, &[99]);
    }
}
