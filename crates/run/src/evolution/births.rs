//! Stars that begin: at the start of a run, and where a program adds them.

use super::Evolution;
use crate::star_columns::{AGE, METALLICITY};
use rayon::prelude::*;
use tisane::particles::{EvolvingStar, Particles};
use tisane_stellar::{Error, Star, State};

/// What a star is at birth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Birth {
    /// Mass, in internal units.
    pub mass: f64,
    /// Age of its own where it begins, in the user's unit of time.
    pub age: Option<f64>,
    /// Metallicity of its own.
    pub metallicity: Option<f64>,
}

/// Star that begins, with what its particle gets, in internal units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newborn {
    pub star: EvolvingStar,
    /// Its present mass.
    pub mass: f64,
    /// Its present radius.
    pub radius: f64,
}

impl Evolution {
    /// Puts stars on their tracks at the start of a run: those of a snapshot or a program, which are the first ones, go on. Others have the ages and
    /// metallicities of their columns, or those of the settings, and their masses are those at birth: they get their masses at the `start`,
    /// in internal units.
    ///
    /// # Errors
    /// The id of the first star whose mass is out of range, with the error.
    pub(crate) fn begin(&self, p: &mut Particles, start: f64) -> Result<(), (u64, Error)> {
        let now = start * self.myr;
        let known = std::mem::take(&mut p.stars);
        let [ages, metallicities] = [AGE, METALLICITY].map(|name| p.column(name));
        let own = |column: Option<&[f64]>, row: usize| column.map(|values| values[row]).filter(|value| !value.is_nan());
        let star = |row: usize| {
            let id = p.id[row];
            let found = match known.get(row) {
                Some(star) if star.seen.is_finite() => Ok(self.under_way(star, now)),
                Some(star) => self.resumed(id, star, now),
                None => {
                    let (age, metallicity) = (own(ages, row), own(metallicities, row));
                    self.begun(id, &Birth { mass: p.mass[row], age, metallicity }, now)
                }
            };
            found.map_err(|error| (id, error))
        };
        let found: Vec<Result<Newborn, (u64, Error)>> = (0..p.len()).into_par_iter().map(star).collect();
        let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
        for (row, new) in found.iter().enumerate().skip(known.len()) {
            p.mass[row] = new.mass;
        }
        if self.has_radii {
            p.radius = found.iter().map(|new| new.radius).collect();
        }
        p.stars = found.into_iter().map(|new| new.star).collect();
        Ok(())
    }

    /// Returns a star of a program at a time in Myr, with the changes that its orbit has not had yet.
    fn under_way(&self, star: &EvolvingStar, now: f64) -> Newborn {
        let State { mass, radius, .. } = self.state_at(star, now);
        Newborn { star: *star, mass: mass / self.msun, radius: radius / self.rsun }
    }

    /// Returns a star of a snapshot at a time in Myr.
    fn resumed(&self, id: u64, star: &EvolvingStar, now: f64) -> Result<Newborn, Error> {
        let EvolvingStar { track: Star { birth_mass, state, supernovae, .. }, metallicity, .. } = star;
        let model = self.model_of(*metallicity);
        let mut track = Star::resume(&model, id, *birth_mass, now, state)?;
        track.supernovae = *supernovae;
        track.advance_to(&model, now, &mut Vec::new());
        let star = EvolvingStar { track, seen: now, fills_lobe: false, metallicity: *metallicity, kick: [0.0; 3] };
        Ok(Newborn {
            star,
            mass: track.mass_at(now) / self.msun,
            radius: track.state_at(&model, now).radius / self.rsun,
        })
    }

    /// Returns a star that begins at a time in internal units.
    ///
    /// # Errors
    /// If its mass or metallicity is out of range.
    pub(crate) fn born(&self, id: u64, birth: &Birth, at: f64) -> Result<Newborn, Error> {
        self.begun(id, birth, at * self.myr)
    }

    /// Returns a star that begins at a time in Myr.
    fn begun(&self, id: u64, birth: &Birth, now: f64) -> Result<Newborn, Error> {
        let Birth { mass, metallicity, .. } = *birth;
        metallicity.map(|z| self.model.at_metallicity(z)).transpose()?;
        let model = self.model_of(metallicity);
        let age = birth.age.map_or(self.age, |age| age / self.user_time * self.myr);
        let mut track = Star::new(&model, id, mass * self.msun, now - age)?;
        track.advance_to(&model, now, &mut Vec::new());
        let star = EvolvingStar { track, seen: now, fills_lobe: false, metallicity, kick: [0.0; 3] };
        // Without an age the mass stays as it was written.
        let mass = if age > 0.0 { track.mass_at(now) / self.msun } else { mass };
        Ok(Newborn { star, mass, radius: track.state_at(&model, now).radius / self.rsun })
    }
}
