//! Changes of the stars that the particles of the caller do not have yet.

use tisane_force::particles::Particles;

/// Changes of the stars that the particles of the caller do not have yet.
#[derive(Debug, Default)]
pub struct Changed {
    /// Stars with new ids, masses and radii.
    pub merged: Vec<(u32, u64, f64, f64)>,
    /// Stars that are gone, ascending, by their numbers before.
    pub gone: Vec<u32>,
}

impl Changed {
    /// Makes the changes in the particles.
    pub fn apply(self, p: &mut Particles) {
        for (star, id, mass, radius) in self.merged {
            let i = star as usize;
            (p.id[i], p.mass[i]) = (id, mass);
            p.radius.get_mut(i).into_iter().for_each(|of| *of = radius);
        }
        p.remove_rows(&self.gone.iter().map(|&star| star as usize).collect::<Vec<_>>());
    }
}
