//! Sections on collisions of stars and on escapers.

use super::Config;
use super::error::Problem;
use super::validate::above;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tisane::encounters::{CollisionAction, Collisions, RadiusLaw, StarEvents};
use tisane::encounters::{EscapeAction, EscapeRadius, Escapes};
use tisane::particles::Particles;
use tisane::units::names::{G_CGS, GM_SUN_CGS, R_SUN_CGS};
use tisane::units::{Real, Scale};

/// Collisions of stars, in runs with encounters: what happens where the distance of two falls below the sum of their radii.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Collisions")]
pub struct CollisionSettings {
    /// What happens where two stars touch.
    pub action: CollisionAction,
    /// Source of the radii.
    pub radii: Radii,
    /// With fixed: the radius of all stars, above 0; unit: length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<Real>,
}

/// Source of the radii of the stars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Radii {
    /// The file of the particles.
    Input,
    /// Zero-age main sequence of solar metallicity, by the masses (Tout et al. 1996); in units by name.
    MainSequence,
    /// One radius for all.
    Fixed,
}

/// Escapers, in runs with encounters: stars of positive energy far from the centre of mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Escapers {
    /// What happens with a star that escapes.
    #[serde(default)]
    pub action: EscapeAction,
    /// Distance from the centre of mass beyond which a star of positive energy escapes, above 0; unit: length. Either this or
    /// `half_mass_radii`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<Real>,
    /// That distance in half-mass radii of the moment, above 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_mass_radii: Option<Real>,
}

/// Adds the mistakes of the two sections to `found`.
pub(super) fn validate(config: &Config, found: &mut Vec<Problem>) {
    let has_subsystems = config.subsystems().is_some();
    let needs = |section: &str| {
        let (key, problem) = match config.encounters {
            None => (section, format!("[{section}] needs [encounters], which resolves close encounters")),
            Some(_) => ("encounters.perturbation", format!("expected a number above 0, which [{section}] needs")),
        };
        Problem::new(key, problem).with_help("[encounters]\nperturbation = 1e-5")
    };
    if let Some(CollisionSettings { radii, radius, .. }) = &config.collisions {
        if !has_subsystems {
            found.push(needs("collisions"));
        }
        above(found, "collisions.radius", *radius, 0.0);
        match (radii, radius) {
            (Radii::Fixed, None) => {
                let problem = "missing key `radius` in [collisions]: radii = \"fixed\" needs it";
                found.push(Problem::new("collisions.radius", problem));
            }
            (Radii::Input | Radii::MainSequence, Some(_)) => {
                let problem = "a radius of all stars goes with radii = \"fixed\" only";
                found.push(Problem::new("collisions.radius", problem).against("collisions.radii"));
            }
            (Radii::MainSequence, _) if config.units().is_henon() => {
                let problem = "\"main-sequence\" needs units by name: the radii follow from masses in solar masses";
                let help = "[units] mass = \"Msun\", length = \"pc\", velocity = \"km/s\"; or radii = \"fixed\"";
                found.push(Problem::new("collisions.radii", problem).with_help(help));
            }
            _ => {}
        }
    }
    if let Some(escapers) = &config.escapers {
        if !has_subsystems {
            found.push(needs("escapers"));
        }
        validate_escapers(config, escapers, found);
    }
    for section in [config.collisions.as_ref().map(|_| "collisions"), config.escapers.as_ref().map(|_| "escapers")] {
        if let Some(section) = section.filter(|_| config.ensemble.is_some()) {
            let problem = format!("members of an ensemble cannot have [{section}] yet: it changes the number of stars");
            found.push(Problem::new(section, problem).against("ensemble"));
        }
    }
}

fn validate_escapers(config: &Config, escapers: &Escapers, found: &mut Vec<Problem>) {
    let Escapers { radius, half_mass_radii, .. } = escapers;
    above(found, "escapers.radius", *radius, 0.0);
    above(found, "escapers.half_mass_radii", *half_mass_radii, 0.0);
    let wrong = match (radius, half_mass_radii) {
        (Some(_), Some(_)) => Some(("escapers.half_mass_radii", "both")),
        (None, None) => Some(("escapers", "neither")),
        _ => None,
    };
    found.extend(wrong.map(|(key, number)| {
        let problem = format!("expected either `radius` or `half_mass_radii` in [escapers], found {number}");
        Problem::new(key, problem).with_help("[escapers]\nhalf_mass_radii = 20.0")
    }));
    if !config.external.is_empty() {
        let problem = "stars in an external field have no energy by which they escape: [escapers] needs a system alone";
        found.push(Problem::new("escapers", problem).against("external"));
    }
}

impl Config {
    /// Returns the treatment of collisions and escapers, in internal units.
    pub(super) fn star_events(&self, scale: &Scale) -> StarEvents {
        let collisions =
            self.collisions.as_ref().map(|it| Collisions { action: it.action, law: self.radius_law(scale, it.radii) });
        let escapes = self.escapers.as_ref().map(|it| {
            let radius = match (it.radius, it.half_mass_radii) {
                (_, Some(number)) => EscapeRadius::HalfMassRadii(number.get()),
                (radius, None) => EscapeRadius::Length(radius.map_or(f64::INFINITY, Real::get) / scale.length),
            };
            Escapes { action: it.action, radius }
        });
        StarEvents { collisions, escapes }
    }

    /// Returns true if collisions or escapers are looked for, so that the number of stars may fall.
    pub(crate) fn has_star_events(&self) -> bool {
        self.collisions.is_some() || self.escapers.is_some()
    }

    /// Returns true if a contact of two stars ends a session.
    pub(crate) fn stops_at_contact(&self) -> bool {
        self.collisions.as_ref().is_some_and(|it| it.action == CollisionAction::Stop)
    }

    fn radius_law(&self, scale: &Scale, radii: Radii) -> RadiusLaw {
        let units = self.units();
        match radii {
            Radii::Input | Radii::Fixed => RadiusLaw::Volume,
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
            (Radii::Input, _) => {}
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
