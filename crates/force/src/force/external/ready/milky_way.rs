//! Models of the Milky Way: sums of other fields.

use super::exponential_disc::{Vertical, discs};
use super::hernquist::sphere;
use super::miyamoto_nagai::disc;
use super::nfw::halo;
use super::power_law::cut_off;
use crate::force::external::field::{ExternalField, FieldSum};
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::formula::gamma::gamma_p;
use crate::particles::Vec3;
use crate::units::{Quantity, Real, Units};

settings::keys! {
    /// Milky Way of Bovy (2015, ApJS 216, 29): a bulge with a density r^(−1.8) cut off at 1.9 kpc, a Miyamoto-Nagai disc of
    /// 3 and 0.28 kpc, an NFW halo of 16 kpc, which give 5, 60 and 35 % of the squared speed of a circular orbit at 8 kpc.
    Mw2014Settings, "ExternalMw2014", {
        /// Radius at which the speed is `v0`, above 0; unit: length; all lengths of the model follow it; in units by name the
        /// default is 8 kpc.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        r0: Option<Real>,
        /// Speed of the circular orbit at `r0`, above 0; unit: velocity; in units by name the default is 220 km/s.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        v0: Option<Real>,
    }
}

settings::keys! {
    /// Milky Way of gala (Price-Whelan 2017, JOSS 2, 388; MilkyWayPotential2022): an exponential disc of 4.7717·10¹⁰ Msun
    /// with 2.6 and 0.3 kpc, Hernquist spheres of 5·10⁹ and 1.8142·10⁹ Msun with 1 and 0.0688867 kpc, an NFW halo of
    /// 5.5427·10¹¹ Msun with 15.626 kpc. For units by name.
    Mw2022Settings, "ExternalMw2022", {}
}

/// Returns a quantity with a unit, such as `8 kpc`, in internal units.
fn physical(text: &str, to: FieldUnits<'_>) -> f64 {
    Quantity::parse(text).map_or(f64::NAN, |quantity| quantity.internal(to.units, to.scale))
}

impl FieldSettings for Mw2014Settings {
    fn section(&self) -> &'static str {
        "external.mw-2014"
    }

    fn check(&self, units: &Units, found: &mut Vec<Mistake>) {
        for (key, value, name) in [("r0", self.r0, "8 kpc"), ("v0", self.v0, "220 km/s")] {
            match value {
                Some(value) => values::positive(found, key, value),
                None if units.is_henon() => {
                    let problem = format!("missing key `{key}`: N-body units do not tell what {name} are");
                    found.push(Mistake::new(key, problem));
                }
                None => {}
            }
        }
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let or = |value: Option<Real>, unit: &str, name: &str| {
            value.map_or_else(|| name.to_owned(), |value| format!("{value} {unit}"))
        };
        let v0 = or(self.v0, &units.velocity.name, "220 km/s");
        let r0 = or(self.r0, &units.length.name, "8 kpc");
        format!("Milky Way of Bovy (2015) {place}, {v0} at {r0}")
    }

    fn references(&self) -> &'static [&'static str] {
        &["Bovy2015", "MiyamotoNagai1975", "NavarroFrenkWhite1997"]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let r0 = self.r0.map_or_else(|| physical("8 kpc", to), |r0| to.length(r0));
        let v0 = self.v0.map_or_else(|| physical("220 km/s", to), |v0| to.velocity(v0));
        // M(r0) = share · v0² r0; lengths in units of r0.
        let mass = |share: f64, within: f64| share * (v0 * v0) * r0 / within;
        let [slope, cut_off_radius, a, b, scale] = [1.8, 1.9 / 8.0, 3.0 / 8.0, 0.28 / 8.0, 16.0 / 8.0];
        let bulge = gamma_p(0.5 * (3.0 - slope), 1.0 / (cut_off_radius * cut_off_radius));
        let distance = 1.0 + (a + b) * (a + b);
        let of_disc = 1.0 / (distance * distance.sqrt());
        let y = 1.0 / scale;
        let of_halo = libm::log1p(y) - y / (1.0 + y);
        let parts = [
            cut_off(mass(0.05, bulge), slope, cut_off_radius * r0),
            disc(mass(0.6, of_disc), a * r0, b * r0),
            halo(mass(0.35, of_halo), scale * r0),
        ];
        let fields = parts.iter().map(|source| settings::compiled(source, at)).collect::<Result<_, _>>()?;
        Ok(Box::new(FieldSum(fields)))
    }
}

impl FieldSettings for Mw2022Settings {
    fn section(&self) -> &'static str {
        "external.mw-2022"
    }

    fn check(&self, units: &Units, found: &mut Vec<Mistake>) {
        if units.is_henon() {
            found.push(Mistake::new("", "this model has masses in Msun and lengths in kpc: it needs units by name"));
        }
    }

    fn describe(&self, _: &Units, place: &str) -> String {
        format!("Milky Way of gala (2022) {place}")
    }

    fn references(&self) -> &'static [&'static str] {
        &["PriceWhelan2017", "Smith2015", "Hernquist1990", "NavarroFrenkWhite1997"]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let physical = |text| physical(text, to);
        let parts = [
            sphere(physical("5e9 Msun"), physical("1 kpc")),
            sphere(physical("1.8142e9 Msun"), physical("0.0688867 kpc")),
            halo(physical("5.5427e11 Msun"), physical("15.626 kpc")),
        ];
        let disc = [physical("4.7717e10 Msun"), physical("2.6 kpc"), physical("0.3 kpc")];
        let mut fields = vec![discs(disc, Vertical::Sech2, at)?];
        for source in &parts {
            fields.push(settings::compiled(source, at)?);
        }
        Ok(Box::new(FieldSum(fields)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::tables::NoTables;
    use crate::units::names::{LengthUnit, MassUnit, VelocityUnit};
    use crate::units::{Rates, Scale};
    use crate::{force::external::ready::by_hand, real};

    /// Returns v_c, Ω, κ, ν on a circle in the plane, and the Jacobi radius of 1000 Msun in pc; in km/s and kpc.
    fn circle(field: &dyn ExternalField, r: f64, g: f64) -> [f64; 5] {
        let at = r * Vec3::x();
        let omega2 = -field.acc(at, 0.0).x / r;
        let [xx, _, _, _, _, zz] = field.tide(at, 0.0);
        let radius = (g * 1000.0 / (xx + omega2)).cbrt() * 1000.0;
        [omega2.sqrt() * r, omega2.sqrt(), (3.0 * omega2 - xx).sqrt(), (-zz).sqrt(), radius]
    }

    #[test]
    fn circular_orbits_are_those_of_the_papers() {
        let velocity = Rates::Velocity(VelocityUnit::KilometrePerSecond);
        let units = Units::named(MassUnit::Msun, LengthUnit::Kiloparsec, velocity);
        // Internal velocities are those of the user where the mass in one unit is 1/G.
        let g = units.g();
        let scale = Scale { mass: 1.0 / g, length: 1.0, velocity: 1.0, time: 1.0 };
        let to = FieldUnits { units: &units, scale: &scale, tables: &NoTables };
        let none = [real!(0.0); 3];
        let bovy: &dyn FieldSettings =
            &Mw2014Settings { r0: None, v0: None, position: none, motion: None, variation: None };
        let gala: &dyn FieldSettings = &Mw2022Settings { position: none, motion: None, variation: None };
        let [bovy, gala] = [bovy, gala].map(|settings| settings.build(to).expect("a field"));
        // Computed with 40 digits from the formulas.
        for (field, r, expected) in [
            (&bovy, 8.0, [220.0, 27.5, 36.876_390_32, 74.952_365_83, 13.720_53]),
            (&bovy, 8.5, [218.611_613_4, 25.719_013_34, 34.358_295_24, 69.401_862_27, 14.317_61]),
            (&bovy, 4.0, [222.695_996_2, 55.673_999_05, 82.712_909_31, 160.631_272_8, 9.181_384]),
            (&gala, 8.0, [229.546_131, 28.693_266_38, 39.783_463_87, 86.290_555_22, 13.598_16]),
            (&gala, 20.0, [211.715_125_8, 10.585_756_29, 14.287_278_95, 18.810_919_29, 26.021_19]),
        ] {
            let found = circle(&**field, r, g);
            for (k, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                // Masses in Msun: G, of which the last digits differ between tables of constants.
                let tolerance = if k == 4 { 1e-6 } else { 1e-9 };
                assert!((found / expected - 1.0).abs() < tolerance, "{k} at {r} kpc: {found} is not {expected}");
            }
        }
    }

    #[test]
    fn hénon_units_need_what_they_do_not_tell() {
        let missing: &dyn FieldSettings = &Mw2014Settings {
            r0: None,
            v0: Some(real!(1.0)),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        assert_eq!(missing.mistakes(&Units::henon()).len(), 1);
        let given = Mw2014Settings {
            r0: Some(real!(1.0)),
            v0: Some(real!(2.0)),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        let field = by_hand::field(&given);
        by_hand::close(field.acc(Vec3::y(), 0.0).y, -4.0);
        let gala: &dyn FieldSettings = &Mw2022Settings { position: [real!(0.0); 3], motion: None, variation: None };
        assert_eq!(gala.mistakes(&Units::henon()).len(), 1);
    }
}
