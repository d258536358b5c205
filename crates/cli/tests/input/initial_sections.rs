//! Initial models as a configuration asks for them: number, mass, radius and virial ratio are what was written,
//! exactly; masses, binaries and the other sections do what they say; several clusters are where they should be.

use crate::statistics;

use statistics::energies;
use std::path::Path;
use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::structure::lagrangian_radius;
use tisane::initial::scaling;
use tisane::particles::{Particles, Vec3};
use tisane::time::Clock;
use tisane::units::digits;
use tisane_run::assemble::{self, Setup};
use tisane_run::config::Config;

const PHYSICAL: &str =
    "[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n[integrator.hermite4]\ndt_max = 1\n";

/// What a configuration with these sections gives, and its particles in its own units.
#[track_caller]
fn built(units: &str, initial: &str) -> (Setup, Particles) {
    let text = format!("[run]\nname = \"x\"\nt_end = 1\n{units}{initial}");
    let loaded = Config::from_str("x.toml", &text, Path::new(""), &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let resolved = loaded.config.resolved_toml().unwrap();
    let again =
        Config::from_str("y.toml", &resolved, Path::new("/"), &[]).unwrap_or_else(|e| panic!("{e}\n{resolved}"));
    assert_eq!(again.config, loaded.config, "{resolved}");
    let setup = assemble::prepare(loaded).unwrap();
    let (mut p, scale) = (setup.particles.clone(), setup.scale);
    scaling::rescale(&mut p, scale.mass, scale.length, scale.velocity);
    (setup, p)
}

const MODELS: [(&str, &str); 6] = [
    ("plummer", ""),
    ("king", "w0 = 7\n"),
    ("hernquist", ""),
    ("eff", "outer_slope = 2\n"),
    ("uniform-sphere", ""),
    ("fractal", "dimension = 2\n"),
];

#[test]
fn verify_every_model_has_the_radius_and_virial_ratio_that_are_written() {
    for (model, keys) in MODELS {
        for (radius, ratio) in [("virial_radius", 0.5), ("half_mass_radius", 0.2), ("virial_radius", 0.0)] {
            let initial = format!("[initial.{model}]\nn = 500\n{keys}mass = 3\n{radius} = 2\nvirial_ratio = {ratio}\n");
            let (setup, p) = built("", &initial);
            assert!(setup.warnings.is_empty(), "{model}: {:?}", setup.warnings);
            let (t, u) = energies(&p);
            assert!((t / -u - ratio).abs() < 1e-13, "{model}: Q {}", t / -u);
            assert!((p.total_mass() - 3.0).abs() < 1e-13);
            let found =
                if radius == "virial_radius" { -9.0 / (2.0 * u) } else { lagrangian_radius(&p, Vec3::zeros(), 0.5) };
            assert!((found / 2.0 - 1.0).abs() < 1e-12, "{model}: {radius} {found}");
            let c = Conserved::from_particles(&p, &p.pot);
            assert!(c.momentum.norm() < 1e-13 && c.centre_of_mass.norm() < 1e-13, "{model}: {c:?}");
            assert_eq!(p.id, (0..500).collect::<Vec<u64>>());
        }
    }
}

#[test]
fn verify_the_lengths_of_the_models_themselves() {
    // The median radius of each in its own length, from the enclosed mass.
    for (keys, median) in [
        ("[initial.plummer]\nmass_fraction = 1\nscale_radius = 3", 3.0 / (2f64.powf(2.0 / 3.0) - 1.0).sqrt()),
        // With all of its mass, stars at thousands of lengths would move the centre of mass.
        ("[initial.hernquist]\nmass_fraction = 0.9\nscale_radius = 3", 3.0 / (0.45f64.sqrt().recip() - 1.0)),
        (
            "[initial.eff]\nouter_slope = 4\ncut_off = 10000\nscale_radius = 3",
            3.0 / (2f64.powf(2.0 / 3.0) - 1.0).sqrt(),
        ),
        ("[initial.uniform-sphere]\nradius = 3", 3.0 / 2f64.cbrt()),
        ("[initial.fractal]\ndimension = 3\nradius = 3", 3.0 / 2f64.cbrt()),
        // King (1966): c = 1.255 at W0 = 6.
        ("[initial.king]\nw0 = 6\ntidal_radius = 3", 0.0),
    ] {
        let (setup, p) = built("", &format!("{keys}\nn = 4000\n"));
        let mut radii: Vec<f64> = p.pos.iter().map(Vec3::norm).collect();
        radii.sort_by(f64::total_cmp);
        if median > 0.0 {
            assert!((radii[2000] / median - 1.0).abs() < 0.06, "{keys}: {} {median}", radii[2000]);
        } else {
            let largest = radii[radii.len() - 1];
            assert!(largest < 3.05 && largest > 1.5, "{largest}");
            let about = |name: &str| -> f64 {
                let line = setup.about.iter().find(|(of, _)| of == name).unwrap();
                line.1.split(' ').next().unwrap().parse().unwrap()
            };
            assert!((about("edge of the model") - 3.0).abs() < 1e-6, "{:?}", setup.about);
            assert!((about("core radius") - 3.0 / 10f64.powf(1.255)).abs() < 1e-3, "{:?}", setup.about);
            let core = built("", "[initial.king]\nw0 = 6\ncore_radius = 1\nn = 4000\n").1;
            let ratio = core.pos[7].norm() / p.pos[7].norm();
            assert!((ratio - 10f64.powf(1.255) / 3.0).abs() < 1e-2, "{ratio}");
        }
        let (t, u) = energies(&p);
        let cold = keys.contains("uniform");
        assert!((t / -u - if cold { 0.0 } else { 0.5 }).abs() < 1e-12, "{keys}: {}", t / -u);
    }
}

#[test]
fn masses_have_the_number_or_the_sum_that_is_written() {
    let king = "[initial.king]\nw0 = 5\nhalf_mass_radius = 1\n";
    let masses = "[initial.masses]\nfunction = \"kroupa\"\n";
    let (_, p) = built(PHYSICAL, &format!("{king}n = 700\n{masses}"));
    assert_eq!(p.len(), 700);
    assert!(p.mass.iter().all(|m| (0.08..=100.0).contains(m)));
    let (setup, filled) = built(PHYSICAL, &format!("{king}mass = 500\n{masses}"));
    assert!((filled.total_mass() - 500.0).abs() <= 0.5 * filled.mass.iter().copied().fold(0.0, f64::max));
    assert_eq!(filled.mass[..100], p.mass[..100], "the first stars of the seed");
    assert!(setup.about.iter().any(|(name, value)| name == "masses" && value.starts_with("Kroupa (2001)")));
    let (_, scaled) = built("", &format!("{king}n = 700\nmass = 2\n{masses}"));
    assert!((scaled.total_mass() - 2.0).abs() < 1e-13);
    assert!((scaled.mass[3] / scaled.mass[9] / (p.mass[3] / p.mass[9]) - 1.0).abs() < 1e-13);
    // Limits are in Msun in any unit of mass.
    let kilograms = PHYSICAL.replace("Msun", "kg");
    let (_, p) = built(&kilograms, &format!("{king}n = 100\n{masses}m_min = 1\n"));
    assert!(p.mass.iter().all(|m| (1.988e30..=1.989e32).contains(m)), "{:?}", p.mass[0]);
}

#[test]
fn masses_from_a_file_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("masses.txt");
    std::fs::write(&path, "# in Msun\n1.5\n\n0.5\n 3e0 \n").unwrap();
    let initial = format!(
        "[initial.plummer]\nvirial_radius = 1\n[initial.masses]\nfunction = \"file\"\npath = \"{}\"\n",
        path.display()
    );
    let (setup, p) = built(PHYSICAL, &initial);
    assert_eq!(p.mass, [1.5, 0.5, 3.0]);
    assert_eq!(setup.config.initial.inputs(), [("initial.masses.path".to_owned(), path.as_path())]);
    for (text, expected) in [
        ("1\nx\n", "line 2: expected one mass above 0, found \"x\""),
        ("1\n-1\n", "line 2"),
        ("0\n", "line 1"),
        ("1 2\n", "line 1"),
        ("inf\n", "line 1"),
        ("# none\n", "no mass"),
    ] {
        std::fs::write(&path, text).unwrap();
        let text = format!("[run]\nname = \"x\"\nt_end = 1\n{PHYSICAL}{initial}");
        let loaded = Config::from_str("x.toml", &text, Path::new(""), &[]).unwrap();
        let message = assemble::prepare(loaded).err().unwrap().to_string();
        assert!(message.contains(expected) && message.contains("masses.txt"), "{message}");
    }
}

/// Asserts that a cluster without a central body has the virial ratio 1/2 and the virial radius 1, with each binary as one body.
#[track_caller]
fn assert_in_equilibrium(setup: &Setup, p: &Particles) {
    let (mut mass, mut pos, mut vel) = (vec![], vec![], vec![]);
    for &i in &setup.binaries {
        let m = p.mass[i] + p.mass[i + 1];
        let mean = |of: &[Vec3]| (p.mass[i] * of[i] + p.mass[i + 1] * of[i + 1]) / m;
        mass.push(m);
        pos.push(mean(&p.pos));
        vel.push(mean(&p.vel));
    }
    let singles = 2 * setup.binaries.len();
    mass.extend(&p.mass[singles..]);
    pos.extend(&p.pos[singles..]);
    vel.extend(&p.vel[singles..]);
    let (t, u) = energies(&Particles::new(mass, pos, vel));
    let (g, all) = (setup.config.units().g(), p.total_mass());
    assert!((t / (-u * g) - 0.5).abs() < 1e-9, "Q {}", t / (-u * g));
    assert!((all * all / (2.0 * -u) - 1.0).abs() < 1e-9, "virial radius {}", all * all / (2.0 * -u));
}

#[test]
fn binaries_are_neighbours_in_id_and_the_cluster_is_in_equilibrium_without_their_inner_motion() {
    let initial = "[initial.king]\nw0 = 5\nvirial_radius = 1\nn = 900\n[initial.masses]\nfunction = \"kroupa\"\n\
        [initial.binaries]\nfraction = 0.5\nsemi_major_axis = \"uniform\"\na_min = 1e-5\na_max = 1e-4\neccentricity = \"uniform\"\n";
    let (setup, p) = built(PHYSICAL, initial);
    assert_eq!(p.len(), 900);
    assert_eq!(setup.binaries, (0..300).map(|k| 2 * k).collect::<Vec<_>>());
    let g = setup.config.units().g();
    for &i in &setup.binaries {
        let m = p.mass[i] + p.mass[i + 1];
        let apart = |of: &[Vec3]| (of[i + 1] - of[i]).norm();
        let a = 1.0 / (2.0 / apart(&p.pos) - apart(&p.vel).powi(2) / (g * m));
        assert!((0.99e-5..1.01e-4).contains(&a), "{a}");
        assert!(p.mass[i] >= p.mass[i + 1]);
    }
    assert_in_equilibrium(&setup, &p);
    assert!(setup.about.iter().any(|(name, value)| name == "binaries" && value.starts_with("300 of 600 systems")));
    // Binaries change no orbit but the number of systems, and no mass.
    let single = built(PHYSICAL, initial.split("[initial.binaries]").next().unwrap()).1;
    let sorted = |p: &Particles| {
        let mut bits: Vec<u64> = p.mass.iter().map(|m| m.to_bits()).collect();
        bits.sort_unstable();
        bits
    };
    assert_eq!(sorted(&p), sorted(&single));
}

#[test]
fn eigenevolution_settles_masses_before_the_cluster_is_scaled() {
    let birth = "[initial.king]\nw0 = 5\nvirial_radius = 1\nn = 1200\n[initial.masses]\nfunction = \"kroupa\"\nm_max = 20\n\
        [initial.segregation]\ndegree = 0.5\n[initial.binaries]\nfraction = 1\nsemi_major_axis = \"kroupa\"\na_max = 5e-6\n";
    let initial = format!("{birth}eigenevolution = true\n");
    let ((_, before), (setup, p)) = (built(PHYSICAL, birth), built(PHYSICAL, &initial));
    assert_eq!(p.len(), 1200);
    assert_in_equilibrium(&setup, &p);
    let centre = Conserved::from_particles(&p, &p.pot);
    assert!(centre.centre_of_mass.norm() < 1e-12 && centre.momentum.norm() / centre.mass < 1e-12, "{centre:?}");
    // A heavier star keeps its mass, a lighter one gains up to that.
    for &i in &setup.binaries {
        assert_eq!(p.mass[i].to_bits(), before.mass[i].to_bits());
        assert!((before.mass[i + 1]..=p.mass[i]).contains(&p.mass[i + 1]));
    }
    let about = |name: &str| &setup.about.iter().find(|(it, _)| it == name).unwrap().1;
    let gained = p.total_mass() - before.total_mass();
    assert!(gained > 0.05 * before.total_mass());
    let share = format!("secondaries gained {} Msun ({:.2} %)", digits(gained), 100.0 * gained / before.total_mass());
    assert!(about("eigenevolution").starts_with(&share), "{share}: {}", about("eigenevolution"));
    assert!(about("masses").ends_with(&format!("sum {} Msun", digits(p.total_mass()))), "{}", about("masses"));
    // In other units these are the same stars, but for rounding.
    let small = "[units]\nmass = \"kg\"\nlength = \"au\"\nvelocity = \"km/s\"\n[integrator.hermite4]\ndt_max = 1\n";
    let of_small = initial
        .replace("a_max = 5e-6", "a_max = 1.031324031235482")
        .replace("radius = 1", "radius = 206264.80624709636");
    let (other, q) = built(small, &of_small);
    let kg = q.total_mass() / p.total_mass();
    assert!(p.mass.iter().zip(&q.mass).all(|(a, b)| (b / a / kg - 1.0).abs() < 1e-9), "{kg}");
    let counts = |setup: &Setup| {
        let text = &setup.about.iter().find(|(it, _)| it == "eigenevolution").unwrap().1;
        text.split_once(';').unwrap().1.to_owned()
    };
    assert_eq!(counts(&other), counts(&setup));
    // Stars of one mass gain nothing, and a mass that is filled with stars is that at birth.
    let equal = initial.replace("[initial.masses]\nfunction = \"kroupa\"\nm_max = 20\n", "mass = 1000\n");
    assert!(built(PHYSICAL, &equal.replace("n = 1200\n", "n = 100\n")).1.mass.iter().all(|m| *m == 10.0));
    let filled = initial.replace("n = 1200\n", "mass = 600\n");
    let born = built(PHYSICAL, &filled.replace("eigenevolution = true", "")).1.total_mass();
    assert!((born - 600.0).abs() < 20.0 && built(PHYSICAL, &filled).1.total_mass() > 1.05 * born);
}

#[test]
fn stars_that_touch_on_every_orbit_are_told_with_the_key() {
    let text = format!(
        "[run]\nname = \"x\"\nt_end = 1\n{PHYSICAL}[initial.plummer]\nn = 10\nmass = 10\nvirial_radius = 1\n\
         [initial.binaries]\nfraction = 1\na_min = 1e-9\na_max = 1e-8\neigenevolution = true\n"
    );
    let loaded = Config::from_str("x.toml", &text, Path::new(""), &[]).unwrap();
    let message = assemble::prepare(loaded).err().unwrap().to_string();
    let expected = "initial.binaries.eigenevolution: stars of 1.00 and 1.00 Msun touch on every orbit";
    assert!(message.contains(&format!("x.toml:18: {expected}")), "{message}");
}

#[test]
fn regress_a_cluster_with_everything_never_changes() {
    let initial = "[initial.king]\nw0 = 5\nhalf_mass_radius = 1\nn = 60\nseed = 3\n[initial.masses]\nfunction = \"maschberger\"\n\
        [initial.binaries]\nfraction = 0.3\nsemi_major_axis = \"kroupa\"\npairing = \"uniform-ratio\"\npairing_above = 0.5\n\
        [initial.segregation]\ndegree = 0.7\n[initial.rotation]\nflip = 0.5\nsolid_body = 0.1\n[initial.central]\nmass = 10\n";
    let (setup, p) = built(PHYSICAL, initial);
    assert_eq!((p.len(), p.mass[60]), (61, 10.0));
    assert_eq!(
        setup.particles.state_sha256(&Clock { start: 0.0, dt_max: 1.0 }),
        "2d85a1171b94b488fa3bbeeebc3a261e9e6161164a8b74a4ac432b9a735e32aa"
    );
    let again = built(PHYSICAL, initial).1;
    assert_eq!(again, p);
}

#[test]
fn verify_rotation_and_a_central_body_leave_virial_ratio_and_radius_exact() {
    let initial = "[initial.plummer]\nn = 800\n[initial.rotation]\nsolid_body = 0.3\n[initial.central]\nmass = 0.1\n";
    let (_, p) = built("", initial);
    let (t, u) = energies(&p);
    assert!((t / -u - 0.5).abs() < 1e-13 && (1.1 * 1.1 / (-2.0 * u) - 1.0).abs() < 1e-12, "{t} {u}");
    let inertia: f64 = (0..801).map(|i| p.mass[i] * (p.pos[i][0].powi(2) + p.pos[i][1].powi(2))).sum();
    let l = Conserved::from_particles(&p, &p.pot).angular_momentum[2];
    assert!((l * l / (2.0 * inertia) / t - 0.3).abs() < 1e-12, "{}", l * l / (2.0 * inertia) / t);
    // The body is in the centre of the model, the centre of mass of all at the origin: they differ as the sample
    // scatters.
    assert!(p.mass[800] == 0.1 && p.pos[800].norm() < 0.1 && p.vel[800].norm() < 0.1, "{:?}", p.pos[800]);
    let c = Conserved::from_particles(&p, &p.pot);
    assert!(c.momentum.norm() < 1e-13 && c.centre_of_mass.norm() < 1e-13, "{c:?}");
}

#[test]
fn clusters_are_where_they_should_be() {
    let one = "[initial.plummer]\nn = 200\nmass = 2\nseed = 2\n";
    let list = "[[initial.clusters]]\nposition = [1, 2, 3]\n[initial.clusters.king]\nw0 = 3\nn = 100\nvirial_radius = 0.5\n\
        [[initial.clusters]]\nvelocity = [0, -1, 0]\n[initial.clusters.plummer]\nn = 200\nmass = 2\n";
    let (setup, p) = built("", list);
    let (_, alone) = built("", one);
    assert_eq!(p.len(), 300);
    assert_eq!(p.id, (0..300).collect::<Vec<u64>>());
    assert_eq!(p.pos[100..], alone.pos[..], "the seed of the second is 2");
    assert_eq!(p.vel[205], alone.vel[105] - Vec3::y());
    let king = Particles::new(p.mass[..100].to_vec(), p.pos[..100].to_vec(), p.vel[..100].to_vec());
    let centre = Conserved::from_particles(&king, &king.pot).centre_of_mass;
    assert!((0..3).all(|k| (centre[k] - [1.0, 2.0, 3.0][k]).abs() < 1e-13), "{centre:?}");
    assert!(setup.about.iter().any(|(name, value)| name == "cluster 1" && value.starts_with("King model, W0 = 3")));
    assert!(setup.warnings.is_empty(), "{:?}", setup.warnings);
    let twins = list.replace("mass = 2\n", "seed = 1\n").replace("king]\nw0 = 3", "plummer]");
    assert!(built("", &twins).0.warnings[0].contains("clusters 1 and 2 are plummer samples of the same seed 1"));
}

#[test]
fn verify_two_clusters_are_on_their_orbit() {
    let (q, e, d) = (1.0, 0.8, 6.0);
    let initial = format!(
        "[initial.orbit]\npericentre = {q}\neccentricity = {e}\nseparation = {d}\n\
         [[initial.clusters]]\n[initial.clusters.plummer]\nn = 300\nmass = 3\n\
         [[initial.clusters]]\n[initial.clusters.two-body]\nm1 = 0.5\nsemi_major_axis = 0.01\n"
    );
    let (_, p) = built("", &initial);
    let whole = Conserved::from_particles(&p, &p.pot);
    assert!(whole.momentum.norm() < 1e-13 && whole.centre_of_mass.norm() < 1e-13, "{whole:?}");
    let part = |range: std::ops::Range<usize>| {
        let p = Particles::new(p.mass[range.clone()].to_vec(), p.pos[range.clone()].to_vec(), p.vel[range].to_vec());
        let c = Conserved::from_particles(&p, &p.pot);
        (c.centre_of_mass, c.momentum.map(|x| x / c.mass))
    };
    let ((x1, v1), (x2, v2)) = (part(0..300), part(300..302));
    let (x, v) = (x2 - x1, v2 - v1);
    let mu = 4.0;
    assert!((x.norm() - d).abs() < 1e-12 && v[0] < 0.0, "{x:?} {v:?}");
    let energy = v.norm().powi(2) / 2.0 - mu / x.norm();
    assert!((energy + mu * (1.0 - e) / (2.0 * q)).abs() < 1e-12, "{energy}");
}

#[test]
fn verify_an_encounter_of_a_binary_with_a_single_star_is_as_written() {
    let (setup, p) = built("", "[initial.binary-single]\nvelocity = 2\n");
    assert_eq!((p.mass.as_slice(), setup.binaries.as_slice()), ([0.5; 3].as_slice(), [0].as_slice()));
    let config = setup.config.resolved_toml().unwrap();
    for line in ["impact_parameter = 2.6", "seed = 1", "tidal_tolerance = 1e-5", "eccentricity = \"circular\""] {
        assert!(config.contains(line), "{line}:\n{config}");
    }
    let about = |name: &str| setup.about.iter().find(|(of, _)| of == name).map(|(_, value)| &**value).unwrap();
    assert!(about("critical velocity").starts_with("0.866025"), "{:?}", setup.about);
    assert!(about("distance at the start").starts_with("66.94"), "{:?}", setup.about);
    // Total energy: of the binary, −1/8, and of the motion at infinity, (m1 m2/(2 a)) v² = 4/8; nothing is lost on the way but
    // the tides' share of the energy.
    let (t, u) = energies(&p);
    assert!((t + u - 0.375).abs() < 1e-5, "{}", t + u);
    let (_, other) = built("", "[initial.binary-single]\nvelocity = 2\nseed = 2\n");
    assert_ne!(p.pos, other.pos);
    let masses = "m1 = 10\nm2 = 5\nm3 = 1\nsemi_major_axis = 1e-4\n";
    let keys = format!("[initial.binary-single]\n{masses}velocity = 0.5\neccentricity = \"fixed\"\ne = 0.5\n");
    let (setup, p) = built(PHYSICAL, &keys);
    assert!((p.total_mass() - 16.0).abs() < 1e-12);
    assert!(setup.config.resolved_toml().unwrap().contains("impact_parameter = 8.9"));
    let text = format!("[run]\nname = \"x\"\nt_end = 1\n{PHYSICAL}[initial.binary-single]\nvelocity = 1\nm1 = 1\n");
    let Err(message) = Config::from_str("x.toml", &text, Path::new(""), &[]) else { panic!("masses are missing") };
    assert!(message.to_string().contains("m2"), "{message}");
}
