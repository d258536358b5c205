//! Linear tide on a circular orbit, in axes that do not turn.

use super::rotating::{ACROSS, ALONG};
use crate::force::external::field::ExternalField;
use crate::force::external::formula::FieldSource;
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};
use std::f64::consts::PI;

settings::keys! {
    /// Tide of a galaxy on a cluster whose centre, `position`, moves on a circle, to first order in the distance d from it,
    /// in axes that do not turn: φ = −½ [(3Ω² − κ²) d_R² − Ω² d_φ² − ν² z²], d_R and d_φ along the axes of the orbit, which
    /// turn with Ω. In axes that turn these are Hill's equations. Either `omega`, `kappa` and `nu`, or `oort_a`, `oort_b` and
    /// `density`, or `radius`.
    TideSettings, "ExternalTide", {
        /// Angular velocity Ω of the orbit; unit: velocity / length.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        omega: Option<Real>,
        /// Epicycle frequency κ, 0 or more; unit: velocity / length.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        kappa: Option<Real>,
        /// Frequency ν of the motion across the plane, 0 or more; unit: velocity / length.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        nu: Option<Real>,
        /// Oort's constant A; unit: velocity / length. Ω = A − B, κ² = −4 B (A − B).
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        oort_a: Option<Real>,
        /// Oort's constant B; unit: velocity / length.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        oort_b: Option<Real>,
        /// Density ρ of the galaxy, 0 or more, with Oort's constants: ν² = 4πGρ + 2 (A² − B²); unit: mass / length³.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        density: Option<Real>,
        /// Radius of the orbit in the other fields, above 0; unit: length. They give Ω, κ and ν there, at t = 0, and do not
        /// act otherwise.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        radius: Option<Real>,
        /// Angle between the axis x and the direction from the galaxy's centre at t = 0, in degrees; default: 0.
        #[cfg_attr(feature = "serde", serde(default = "crate::force::external::values::zero"))]
        angle: Real,
    }
}

/// Squares of the frequencies of an orbit, and its angular velocity, in internal units.
struct Frequencies {
    omega: f64,
    kappa2: f64,
    nu2: f64,
}

/// The ways to give the frequencies.
const WAYS: &str = "omega, kappa and nu; or oort_a, oort_b and density; or radius";

impl TideSettings {
    /// Returns the keys that are written, by their groups.
    fn given(&self) -> [[Option<(&'static str, Real)>; 3]; 3] {
        let of = |key, value: Option<Real>| value.map(|value| (key, value));
        [
            [of("omega", self.omega), of("kappa", self.kappa), of("nu", self.nu)],
            [of("oort_a", self.oort_a), of("oort_b", self.oort_b), of("density", self.density)],
            [of("radius", self.radius), None, None],
        ]
    }

    /// Returns the frequencies that the section gives.
    fn frequencies(&self, to: FieldUnits<'_>) -> Option<Frequencies> {
        if let (Some(omega), Some(kappa), Some(nu)) = (self.omega, self.kappa, self.nu) {
            let [omega, kappa, nu] = [omega, kappa, nu].map(|it| to.frequency(it));
            return Some(Frequencies { omega, kappa2: kappa * kappa, nu2: nu * nu });
        }
        let [a, b] = [to.frequency(self.oort_a?), to.frequency(self.oort_b?)];
        let nu2 = 4.0 * PI * to.density(self.density?) + 2.0 * (a * a - b * b);
        Some(Frequencies { omega: a - b, kappa2: -4.0 * b * (a - b), nu2 })
    }

    /// Returns the tide of other fields at full strength, in internal units, on a circle of the radius, with its centre at
    /// `at_centre`; [`None`] without a radius.
    ///
    /// # Errors
    /// [`Mistake`] where the fields have no circular orbit.
    pub(crate) fn of_others(
        &self,
        others: &dyn ExternalField,
        (to, at_centre): (FieldUnits<'_>, Vec3),
    ) -> Option<Result<Box<dyn ExternalField>, Mistake>> {
        let radius = self.radius?;
        let r = to.length(radius);
        let at = r * Vec3::x();
        let omega2 = -others.acc(at, 0.0).x / r;
        let [xx, _, _, _, _, zz] = others.tide(at, 0.0);
        if !(omega2 > 0.0 && xx.is_finite() && zz.is_finite()) {
            let problem = format!("the other fields have no circular orbit at {radius}: they do not attract there");
            return Some(Err(Mistake::new("radius", problem)));
        }
        // −∂²φ/∂R² = 3Ω² − κ², −∂²φ/∂z² = −ν²
        Some(self.field(&Frequencies { omega: omega2.sqrt(), kappa2: 3.0 * omega2 - xx, nu2: -zz }, at_centre))
    }

    fn field(&self, of: &Frequencies, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let parameters = [
            ("outwards", 3.0 * (of.omega * of.omega) - of.kappa2),
            ("omega", of.omega),
            ("nu2", of.nu2),
            ("angle", self.angle.get().to_radians()),
        ];
        let source = FieldSource::new("-(outwards*u^2 - omega^2*w^2 - nu2*z^2)/2", &parameters);
        settings::compiled(&source.with_parts(&[ALONG, ACROSS]), at)
    }
}

impl FieldSettings for TideSettings {
    fn section(&self) -> &'static str {
        "external.tide"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        let given = self.given().map(|group| group.into_iter().flatten().collect::<Vec<_>>());
        let groups: Vec<_> = given.iter().filter(|group| !group.is_empty()).collect();
        let complete = (given[0].len() == 3) || (given[1].len() == 3) || !given[2].is_empty();
        match groups[..] {
            [_] if complete => {}
            [_, second, ..] => found.push(Mistake::new(second[0].0, format!("too much at once: expected only {WAYS}"))),
            _ => found.push(Mistake::new("", format!("missing keys: expected {WAYS}"))),
        }
        for (key, value) in given.into_iter().flatten().filter(|(key, _)| matches!(*key, "kappa" | "nu" | "density")) {
            values::not_negative(found, key, value);
        }
        if let Some(radius) = self.radius {
            values::positive(found, "radius", radius);
        }
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let unit = values::frequency_unit(units);
        let given = self.given().into_iter().flatten().flatten().map(|(key, value)| match key {
            "radius" => format!(", of the other fields at {value} {}", units.length.name),
            "density" => format!(", {key} {value} {}/{}^3", units.mass.name, units.length.name),
            _ => format!(", {key} {value} {unit}"),
        });
        format!("tide on a circular orbit {place}{}", given.collect::<String>())
    }

    fn references(&self) -> &'static [&'static str] {
        &["BinneyTremaine2008"]
    }

    fn depends_on_time(&self, _: &Units) -> bool {
        self.omega.is_none_or(|omega| omega.get() != 0.0)
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        match self.frequencies(to) {
            Some(of) => self.field(&of, at),
            None => Err(Mistake::new("", format!("missing keys: expected {WAYS}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::plummer::Plummer;
    use crate::force::external::ready::by_hand::{close, field};
    use crate::force::external::tables::NoTables;
    use crate::real;
    use crate::units::Scale;

    fn none() -> TideSettings {
        TideSettings {
            omega: None,
            kappa: None,
            nu: None,
            oort_a: None,
            oort_b: None,
            density: None,
            radius: None,
            angle: real!(0.0),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        }
    }

    #[test]
    fn the_tensor_turns_with_the_orbit() {
        let settings =
            TideSettings { omega: Some(real!(2.0)), kappa: Some(real!(3.0)), nu: Some(real!(5.0)), ..none() };
        let field = field(&settings);
        // 3Ω² − κ² = 3, −Ω² = −4, −ν² = −25
        let expected = [[3.0, 0.0, 0.0, -4.0, 0.0, -25.0], [-4.0, 0.0, 0.0, 3.0, 0.0, -25.0]];
        for (t, expected) in [0.0, PI / 4.0].into_iter().zip(expected) {
            for (found, expected) in field.tide(Vec3::new(7.0, -1.0, 2.0), t).into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-13, "{found} is not {expected}");
            }
        }
    }

    #[test]
    fn oort_constants_are_the_frequencies_of_nbody6() {
        // Ω = A − B = 3, κ² = −4 B (A − B) = 12, ν² = 4πρ + 2 (A² − B²)
        let (a, b, rho) = (real!(2.0), real!(-1.0), real!(0.25));
        let oort = field(&TideSettings { oort_a: Some(a), oort_b: Some(b), density: Some(rho), ..none() });
        let found = oort.tide(Vec3::zeros(), 0.0);
        close(found[0], 15.0);
        close(found[3], -9.0);
        close(found[5], -(PI + 6.0));
    }

    #[test]
    fn the_tide_of_a_point_mass_is_that_of_its_field() {
        let others = Plummer { mass: 8.0, position: Vec3::zeros(), scale_radius: 0.0 };
        let settings = TideSettings { radius: Some(real!(2.0)), ..none() };
        let units = Units::henon();
        let to = FieldUnits { units: &units, scale: &Scale::IDENTITY, tables: &NoTables };
        let tide = settings.of_others(&others, (to, Vec3::zeros())).expect("a radius").expect("a circle");
        // Ω² = 1: T = 2, −1, −1.
        let found = tide.tide(Vec3::zeros(), 0.0);
        close(found[0], 2.0);
        close(found[3], -1.0);
        close(found[5], -1.0);
        let repels = Plummer { mass: -8.0, ..others };
        assert!(settings.of_others(&repels, (to, Vec3::zeros())).expect("a radius").is_err());
    }

    #[test]
    fn one_way_is_given_and_whole() {
        let mistakes = |settings: TideSettings| {
            let settings: &dyn FieldSettings = &settings;
            settings.mistakes(&Units::henon()).into_iter().map(|it| it.key).collect::<Vec<_>>()
        };
        let one = Some(real!(1.0));
        assert_eq!(mistakes(none()), [""]);
        assert_eq!(mistakes(TideSettings { omega: one, kappa: one, ..none() }), [""]);
        assert_eq!(mistakes(TideSettings { omega: one, kappa: one, nu: one, radius: one, ..none() }), ["radius"]);
        assert_eq!(
            mistakes(TideSettings { oort_a: one, oort_b: one, density: Some(real!(-1.0)), ..none() }),
            ["density"]
        );
        assert!(mistakes(TideSettings { radius: one, ..none() }).is_empty());
    }
}
