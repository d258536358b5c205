//! Collisions and escapers of a run, and the radii of its stars.

use super::collisions::{CollisionSettings, Radii};
use super::configuration::Config;
use super::error::Problem;
use tisane::encounters::{CollisionAction, Collisions, EscapeAction, EscapeRadius, Escapes, RadiusLaw, StarEvents};
use tisane::particles::Particles;
use tisane::units::names::{G_CGS, GM_SUN_CGS, R_SUN_CGS};
use tisane::units::{Real, Scale};
use tisane_io::fields::TideColumns;

/// Distance beyond which stars escape in a tide, in tidal radii: that of NBODY6.
const TIDAL_RADII: Real = tisane::real!(2.0);

impl Config {
    /// Returns the treatment of collisions and escapers, in internal units.
    pub(super) fn star_events(&self, scale: &Scale) -> StarEvents {
        let collisions =
            self.collisions.as_ref().map(|it| Collisions { action: it.action, law: self.radius_law(scale, it.radii) });
        let in_tide = self.tide_columns() != TideColumns::None;
        let escapes = self.escapers.as_ref().map(|it| {
            let radius = match (it.radius, it.half_mass_radii) {
                _ if in_tide => EscapeRadius::TidalRadii(it.tidal_radii.unwrap_or(TIDAL_RADII).get()),
                (_, Some(number)) => EscapeRadius::HalfMassRadii(number.get()),
                (radius, None) => EscapeRadius::Length(radius.map_or(f64::INFINITY, Real::get) / scale.length),
            };
            let default = if in_tide { EscapeAction::Record } else { EscapeAction::Remove };
            Escapes { action: it.action.unwrap_or(default), radius }
        });
        StarEvents { collisions, escapes }
    }

    /// Describes what happens with stars that touch, and with those that leave.
    #[must_use]
    pub fn describe_star_events(&self) -> [String; 2] {
        let StarEvents { collisions, escapes } = self.star_events(&Scale::IDENTITY);
        let of_contacts = match collisions.map(|it| it.action) {
            None => "not looked for: stars are points",
            Some(CollisionAction::Stop) => "stars that touch end the run",
            Some(CollisionAction::Record) => "stars that touch are recorded, and go on as points",
            Some(CollisionAction::Merge) => "stars that touch become one",
        };
        let of_escapers = escapes.map_or("none is taken out".into(), |it| {
            let what = match it.action {
                EscapeAction::Remove => "taken out",
                EscapeAction::Record => "recorded, and go on",
            };
            let place = match it.radius {
                EscapeRadius::TidalRadii(number) => format!("{number} tidal radii"),
                EscapeRadius::HalfMassRadii(number) => format!("{number} half-mass radii"),
                EscapeRadius::Length(radius) => format!("{radius} {}", self.units().length.name),
            };
            format!("stars beyond {place} with the energy to leave are {what}")
        });
        [of_contacts.into(), of_escapers]
    }

    /// Returns true if collisions or escapers are looked for, so that the number of stars may fall.
    pub(crate) fn has_star_events(&self) -> bool {
        self.collisions.is_some() || self.escapers.is_some()
    }

    /// Returns a mistake for each section on collisions or escapers where there are no subsystems, which these need.
    pub(crate) fn missing_subsystems(&self) -> Vec<Problem> {
        if self.subsystems().is_some() {
            return Vec::new();
        }
        let sections = [("collisions", self.collisions.is_some()), ("escapers", self.escapers.is_some())];
        let mistake = |section: &str| {
            let (key, problem) = match self.encounters {
                None => {
                    let by_default =
                        "which resolves close encounters: only a cluster without softening has it by default";
                    (section, format!("[{section}] needs [encounters], {by_default}"))
                }
                Some(_) => ("encounters.perturbation", format!("expected a number above 0, which [{section}] needs")),
            };
            Problem::new(key, problem).with_help("[encounters]\nperturbation = 1e-5")
        };
        sections.into_iter().filter(|(_, is_there)| *is_there).map(|(section, _)| mistake(section)).collect()
    }

    /// Returns true if a contact of two stars ends a session.
    pub(crate) fn stops_at_contact(&self) -> bool {
        self.collisions.as_ref().is_some_and(|it| it.action == CollisionAction::Stop)
    }

    fn radius_law(&self, scale: &Scale, radii: Radii) -> RadiusLaw {
        let units = self.units();
        match radii {
            // Of a star that evolves until the next multiple of dt_max.
            Radii::Input | Radii::Fixed | Radii::Evolution => RadiusLaw::Volume,
            Radii::MainSequence => RadiusLaw::MainSequence {
                mass: scale.mass * units.mass.cgs / (GM_SUN_CGS / G_CGS),
                length: scale.length * units.length.cgs / R_SUN_CGS,
            },
        }
    }

    /// Gives particles, in internal units, the radii of this configuration; none without collisions.
    ///
    /// # Errors
    /// A [`Problem`] where the particles of the input have no radii, or two touch at the start.
    pub(crate) fn set_radii(&self, p: &mut Particles, scale: &Scale) -> Result<(), Problem> {
        let Some(CollisionSettings { radii, radius, .. }) = &self.collisions else {
            p.radius.clear();
            return Ok(());
        };
        let law = self.radius_law(scale, *radii);
        match (radii, radius) {
            (Radii::Input, _) if p.radius.is_empty() => {
                let problem = "the particles have no radii";
                return Err(Problem::new("collisions.radii", problem).with_help(
                    "files of tisane and AMUSE, named datasets and comma-separated text (a column radius) can have them; \"main-sequence\" and \
                     \"fixed\" do without",
                ));
            }
            (Radii::Input | Radii::Evolution, _) => {}
            (Radii::MainSequence, _) => p.radius = p.mass.iter().filter_map(|&mass| law.radius(mass)).collect(),
            (Radii::Fixed, radius) => {
                p.radius = vec![radius.map_or(0.0, Real::get) / scale.length; p.len()];
            }
        }
        let Some((i, j)) = tisane::initial::overlapping_pair(p) else { return Ok(()) };
        let distance = (p.pos[j] - p.pos[i]).norm() * scale.length;
        let [a, b] = [i, j].map(|k| p.radius[k] * scale.length);
        let unit = self.units().length.name;
        let problem = format!(
            "particles {} and {} touch at the start: they are {distance:e} {unit} apart, and their radii are {a:e} and {b:e} \
             {unit}",
            p.id[i], p.id[j]
        );
        Err(Problem::new("collisions.radii", problem)
            .with_help("make one star of the two in the input, or set smaller radii"))
    }
}
