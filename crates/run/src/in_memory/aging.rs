//! How stars age in a simulation in memory, and what a program may change of them.

use super::change::places;
use super::stars::Stars;
use super::started::Started;
use super::{InMemory, Phase};
use crate::evolution::births::{Birth, Newborn};
use crate::star_columns::{AGE, METALLICITY};
use tisane::error::{Error, Result};
use tisane_io::checkpoint::RunState;
use tisane_io::fields::StellarRow;
use tisane_io::stellar_columns::StarState;

impl InMemory {
    /// Returns the stars at the present time.
    ///
    /// # Errors
    /// [`Error::Input`] if stars do not age, which needs the section `[stellar_evolution]`; otherwise as [`InMemory::start`].
    pub fn stars(&mut self) -> Result<Stars> {
        self.check_ages()?;
        let units = self.units();
        let (started, threads, _) = self.started()?;
        let stars = threads.run(|| Ok(started.stars()))?;
        Ok(Stars::new(&stars, &units))
    }

    /// Returns the changes of type since the start, or since the state was loaded, in the units of the configuration.
    ///
    /// # Errors
    /// As [`InMemory::stars`].
    pub fn star_events(&mut self) -> Result<Vec<StellarRow>> {
        self.check_ages()?;
        Ok(self.started()?.0.star_events.clone())
    }

    fn check_ages(&self) -> Result<()> {
        match self.config().stellar_evolution {
            Some(_) => Ok(()),
            None => Err(Error::input("stellar_evolution", "stars do not age: there is no section [stellar_evolution]")
                .with_help("set it before the start: stellar_evolution.metallicity=0.02")),
        }
    }

    /// Returns true if the simulation has started, and stars age in it.
    pub(super) fn ages(&self) -> bool {
        matches!(self.phase, Phase::Started(_)) && self.config().stellar_evolution.is_some()
    }

    /// Refuses masses of stars that age, other than the present ones: after the start they are those of the tracks.
    pub(super) fn check_masses(&self, id: &[u64], mass: &[f64]) -> Result<()> {
        let Phase::Started(started) = &self.phase else { return Ok(()) };
        if !self.ages() {
            return Ok(());
        }
        let (p, unit) = (started.particles(), started.system.state.scale.mass);
        let index = places(p, id)?;
        let other = index.into_iter().zip(mass).find(|(row, mass)| p.mass[*row] * unit != **mass);
        let Some((row, mass)) = other else { return Ok(()) };
        let problem =
            format!("id {}: mass is {mass:?}: the star has {:?}, by its track", p.id[row], p.mass[row] * unit);
        let help = "masses of stars that age can be set before the start only; remove the star, and add another one";
        Err(Error::input("particles", problem).with_help(help))
    }
}

impl Started {
    /// Returns the stars at the present time, in solar units and Myr; none where they do not age.
    pub(super) fn stars(&mut self) -> Vec<StarState> {
        let at = self.present();
        let evolution = self.system.engines.evolution.as_ref();
        evolution.map(|evolution| evolution.stars_at(self.particles(), at)).unwrap_or_default()
    }

    /// Returns stars that begin at the present time, with masses at birth in the unit of the program, and columns of which some may be their
    /// ages and metallicities; none where stars do not age.
    ///
    /// # Errors
    /// [`Error::Input`] for a mass that no star has.
    pub(super) fn newborn(&self, id: &[u64], mass: &[f64], columns: &[(&str, &[f64])]) -> Result<Vec<Newborn>> {
        let Some(evolution) = &self.system.engines.evolution else { return Ok(Vec::new()) };
        let (at, unit) = (self.present(), self.system.state.scale.mass);
        let one = |row: usize| {
            let own = |name: &str| columns.iter().find(|(of, _)| *of == name).map(|(_, values)| values[row]);
            let birth = Birth { mass: mass[row] / unit, age: own(AGE), metallicity: own(METALLICITY) };
            let born = evolution.born(id[row], &birth, at);
            born.map_err(|error| Error::input("particles", format!("id {}: {error}", id[row])))
        };
        (0..id.len()).map(one).collect()
    }

    /// Returns the present time, in internal units.
    fn present(&self) -> f64 {
        self.system.state.clock.time(self.until)
    }

    /// Takes down the changes of type since the last call.
    pub(super) fn take_star_events(&mut self) {
        let new = std::mem::take(&mut self.system.type_changes);
        if let Some(evolution) = &self.system.engines.evolution {
            let RunState { clock, scale, .. } = &self.system.state;
            let rows = evolution.rows(&new, clock, scale).into_iter();
            // Times are in the unit of the program already.
            self.star_events.extend(rows.map(|row| StellarRow {
                initial_mass: row.initial_mass * scale.mass,
                mass_before: row.mass_before * scale.mass,
                mass: row.mass * scale.mass,
                core_mass: row.core_mass * scale.mass,
                radius: row.radius * scale.length,
                kick: row.kick * scale.velocity,
                ..row
            }));
        }
    }
}
