//! The same system in every set of units: whatever `[units]` says, masses, lengths, velocities and times of every model, reader
//! and setting are the same in grams, centimetres and seconds.

mod outputs;
mod readers;

use crate::program::Folder;
use std::path::Path;
use tisane::particles::{Particles, Vec3};
use tisane::units::names::{AU_CGS, DAY_CGS, G_CGS, GM_SUN_CGS, PC_CGS, YEAR_CGS};
use tisane::units::{Dimension, Units};
use tisane_run::assemble::{self, Setup};
use tisane_run::config::{Config, TEMPLATES};
use tisane_run::ensemble::Blueprint;

/// Units of mass, length, velocity and time in a configuration; an empty one is left out.
const UNITS: [[&str; 4]; 8] = [
    ["Msun", "pc", "km/s", "Myr"],
    ["kg", "m", "m/s", "s"],
    ["Msun", "km", "km/s", "day"],
    ["Msun", "au", "", "yr"],
    ["Msun", "au", "km/s", "yr"],
    ["Msun", "pc", "", "Myr"],
    ["Mjup", "kpc", "au/day", ""],
    ["g", "cm", "pc/Myr", "Gyr"],
];
const MSUN: f64 = GM_SUN_CGS / G_CGS;
const MYR: f64 = 1e6 * YEAR_CGS;
const KM_S: f64 = 1e5;

/// One set of units.
struct In {
    lines: String,
    units: Units,
}

impl In {
    fn new(names: [&str; 4]) -> Self {
        let keys = ["mass", "length", "velocity", "time"].into_iter().zip(names).filter(|(_, name)| !name.is_empty());
        let lines = keys.map(|(key, name)| format!("{key} = \"{name}\"\n")).collect::<String>();
        let lines = format!("[units]\n{lines}");
        let text = format!("run = {{ name = 'u', t_end = 1 }}\n[initial.solar-system]\n{lines}");
        Self { units: read(&text, Path::new("")).units(), lines }
    }

    fn all() -> impl Iterator<Item = Self> {
        UNITS.into_iter().map(Self::new)
    }

    /// A quantity in cgs as a number in these units.
    fn number(&self, cgs: f64, d: Dimension) -> f64 {
        cgs / self.units.cgs(d)
    }

    fn mass(&self, cgs: f64) -> String {
        format!("{:e}", self.number(cgs, Dimension::MASS))
    }

    fn length(&self, cgs: f64) -> String {
        format!("{:e}", self.number(cgs, Dimension::LENGTH))
    }

    fn velocity(&self, cgs: f64) -> String {
        format!("{:e}", self.number(cgs, Dimension::VELOCITY))
    }

    fn time(&self, cgs: f64) -> String {
        format!("{:e}", self.number(cgs, Dimension::TIME))
    }

    /// A configuration of a run from 2 to 3 Myr in steps of 1/8 Myr.
    fn config(&self, sections: &str) -> String {
        let [start, end, step] = [2.0, 3.0, 0.125].map(|time| self.time(time * MYR));
        format!(
            "[run]\nname = \"u\"\nt_start = {start}\nt_end = {end}\n{}{sections}[integrator.hermite4]\ndt_max = {step}\n\
             [output]\ninterval = {step}\n",
            self.lines
        )
    }
}

fn read(text: &str, base: &Path) -> Config {
    Config::from_str("u.toml", text, base, &[]).unwrap_or_else(|e| panic!("{e:?}\n{text}")).config
}

fn prepared(text: &str, base: &Path) -> Setup {
    let loaded = Config::from_str("u.toml", text, base, &[]).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    assemble::prepare(loaded).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

/// What a run begins with, in cgs.
struct Physical {
    particles: Particles,
    /// Start, longest step, length.
    times: [f64; 3],
    epsilon: f64,
}

impl Physical {
    fn of(set: &Setup) -> Self {
        let (units, scale, mut particles) = (set.config.units(), set.scale, set.particles.clone());
        let by = |d: Dimension| scale.factor(d) * units.cgs(d);
        let [mass, length, velocity, time] =
            [Dimension::MASS, Dimension::LENGTH, Dimension::VELOCITY, Dimension::TIME].map(by);
        tisane::initial::scaling::rescale(&mut particles, mass, length, velocity);
        let step = set.clock.dt_max * time;
        Self {
            particles,
            times: [set.clock.start * time, step, step * set.steps_to_end as f64],
            epsilon: set.epsilon() * length,
        }
    }

    /// Asserts that this is the same system, within rounding.
    #[track_caller]
    fn is(&self, other: &Self, what: &str) {
        let (p, q) = (&self.particles, &other.particles);
        assert_eq!((p.len(), &p.id), (q.len(), &q.id), "{what}");
        numbers_agree(&p.mass, &q.mass, &format!("{what}: masses"));
        numbers_agree(&p.radius, &q.radius, &format!("{what}: radii"));
        vectors_agree(&p.pos, &q.pos, &format!("{what}: positions"));
        vectors_agree(&p.vel, &q.vel, &format!("{what}: velocities"));
        numbers_agree(&self.times, &other.times, &format!("{what}: times"));
        numbers_agree(&[self.epsilon], &[other.epsilon], &format!("{what}: softening"));
    }
}

#[track_caller]
fn numbers_agree(a: &[f64], b: &[f64], what: &str) {
    let size = a.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
    let off = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(a.len() == b.len() && off <= 1e-11 * size, "{what}: off by {off:e} of {size:e}");
}

#[track_caller]
fn vectors_agree(a: &[Vec3], b: &[Vec3], what: &str) {
    let flat = |of: &[Vec3]| of.iter().flat_map(|v| [v.x, v.y, v.z]).collect::<Vec<f64>>();
    numbers_agree(&flat(a), &flat(b), what);
}

/// Stars of a sampled model with all that it can have.
fn sampled(to: &In, model: &str, keys: &str) -> String {
    let (radius, central) = (to.length(0.8 * PC_CGS), to.mass(30.0 * MSUN));
    format!(
        "[initial.{model}]\nn = 60\nhalf_mass_radius = {radius}\n{keys}[initial.masses]\nfunction = \"kroupa\"\n\
         [initial.binaries]\nfraction = 0.3\nsemi_major_axis = \"kroupa\"\na_max = {}\npairing = \"ordered\"\n\
         [initial.rotation]\nflip = 0.5\nsolid_body = 0.1\n[initial.central]\nmass = {central}\n",
        to.length(2000.0 * AU_CGS)
    )
}

/// The sections of a model, and the files that it reads, by their names; [`None`] for one that has no size.
fn model(name: &str, to: &In, folder: &Folder) -> Option<String> {
    let equal = |keys: &str| format!("n = 40\nmass = {}\n{keys}", to.mass(50.0 * MSUN));
    Some(match name {
        "plummer" => format!("[initial.plummer]\n{}", equal(&format!("virial_radius = {}\n", to.length(PC_CGS)))),
        "king" => sampled(to, name, "w0 = 6\n"),
        "hernquist" => sampled(to, name, ""),
        "eff" => sampled(to, name, "outer_slope = 3\n"),
        "uniform-sphere" => {
            format!(
                "[initial.uniform-sphere]\n{}",
                equal(&format!("radius = {}\nvirial_ratio = 0\n", to.length(PC_CGS)))
            )
        }
        "fractal" => sampled(to, name, "dimension = 2\n"),
        "clusters" => {
            let one = |seed: u32| {
                let of_stars = format!("n = 20\nseed = {seed}\nmass = {}\n", to.mass(9.0 * MSUN));
                format!("plummer = {{ {} virial_radius = {} }}\n", of_stars.replace('\n', ", "), to.length(PC_CGS))
            };
            let [x, v] = [to.length(7.0 * PC_CGS), to.velocity(1.5 * KM_S)];
            format!(
                "[[initial.clusters]]\n{}[[initial.clusters]]\nposition = [{x}, 0, 0]\nvelocity = [0, {v}, 0]\n{}",
                one(1),
                one(2)
            )
        }
        "file" => {
            // A file without units has the numbers of [units].
            let [m, x, v] = [to.mass(MSUN), to.length(PC_CGS), to.velocity(KM_S)];
            folder.write("p.csv", format!("m,x,y,z,vx,vy,vz\n{m},0,0,0,0,0,0\n{m},{x},0,0,0,{v},0\n"));
            "[initial.file]\npath = \"p.csv\"\n".into()
        }
        "elements" => {
            let [a, t, m] = [to.length(900.0 * AU_CGS), to.time(1.9 * MYR), to.mass(0.2 * MSUN)];
            let table = format!("a,e,i,node,pericentre,t_pericentre,m\n{a},0.7,30,40,50,{t},{m}\n");
            folder.write("e.csv", table);
            format!("[initial.elements]\npath = \"e.csv\"\ncentral_mass = {}\n", to.mass(MSUN))
        }
        "two-body" => format!(
            "[initial.two-body]\nm1 = {0}\nm2 = {0}\nsemi_major_axis = {1}\neccentricity = 0.3\n",
            to.mass(MSUN),
            to.length(AU_CGS)
        ),
        "binary-single" => format!(
            "[initial.binary-single]\nm1 = {0}\nm2 = {0}\nm3 = {0}\nsemi_major_axis = {1}\nvelocity = 0.5\n",
            to.mass(MSUN),
            to.length(AU_CGS)
        ),
        "solar-system" => "[initial.solar-system]\n".into(),
        "figure-eight" | "pythagorean" => return None,
        other => panic!("the model {other} is not in this test: write it here"),
    })
}

#[test]
fn verify_every_model_is_the_same_system_in_all_units() {
    let folder = Folder::new("");
    let base = folder.path("run.toml");
    let base = base.parent().unwrap();
    for (name, _) in TEMPLATES {
        let mut first: Option<Physical> = None;
        for to in In::all() {
            let sections = model(name, &to, &folder);
            let Some(sections) = sections else {
                let text = to.config(&format!("[initial.{name}]\n"));
                let error = Config::from_str("u.toml", &text, base, &[]).unwrap_err().to_string();
                assert!(error.contains("defined for G = 1"), "{name}: {error}");
                continue;
            };
            let here = Physical::of(&prepared(&to.config(&sections), base));
            let first = first.get_or_insert_with(|| Physical::of(&prepared(&to.config(&sections), base)));
            here.is(first, &format!("{name} in {}", to.units.describe()));
        }
    }
}

#[test]
fn verify_the_planets_have_their_masses_and_orbits_in_all_units() {
    for to in In::all() {
        let set = prepared(&to.config("[initial.solar-system]\n"), Path::new(""));
        let p = Physical::of(&set).particles;
        assert!((p.total_mass() / MSUN - 1.001_34).abs() < 1e-5, "{}", to.units.describe());
        let (x, v, mu) = (p.pos[1] - p.pos[0], p.vel[1] - p.vel[0], G_CGS * (p.mass[0] + p.mass[1]));
        let a = 1.0 / (2.0 / x.norm() - v.norm_squared() / mu);
        let period = std::f64::consts::TAU * (a.powi(3) / mu).sqrt();
        assert!((a / AU_CGS - 0.387_099_27).abs() < 1e-9, "{}: {a:e}", to.units.describe());
        assert!((period / DAY_CGS - 87.97).abs() < 0.01, "{}: {period:e}", to.units.describe());
    }
}

#[test]
fn verify_times_of_pericentre_are_the_same_orbits_in_all_units() {
    // Bodies about a black hole, 1.4 and 60 orbits from their pericentres: Kepler's equation, n = √(G (M + m) / a³).
    let table = "a,e,i,node,pericentre,t_pericentre,m\n0.126,0.884,134.7,226.5,64.98,2002.32,14.0\n0.05,0.1,10,20,30,2001,1.0\n";
    for (velocity, folder) in [("", Folder::new("")), ("velocity = \"km/s\"\n", Folder::new(""))] {
        folder.write("e.csv", table);
        let text = format!(
            "[run]\nname = \"e\"\nt_start = 2000.0\nt_end = 2000.2\n[units]\nmass = \"Msun\"\nlength = \"au\"\n{velocity}\
             time = \"yr\"\n[initial.elements]\npath = \"e.csv\"\ncentral_mass = 4.31e6\ndistance = 8330.0\n"
        );
        let p = Physical::of(&prepared(&text, folder.path("e.csv").parent().unwrap())).particles;
        for (k, distance) in [(1, 1_222.667_694_05), (2, 419.142_857_47)] {
            let found = p.pos[k].norm() / AU_CGS;
            assert!((found - distance).abs() < 1e-6, "{velocity}: {found}");
        }
    }
}

#[test]
fn verify_settings_are_the_same_in_all_units() {
    let place = Vec3::new(0.3, -0.2, 0.1) * PC_CGS;
    let mut first: Option<[f64; 4]> = None;
    for to in In::all() {
        let stars = model("plummer", &to, &Folder::new("")).unwrap();
        let [m, x, b] = [to.mass(1e4 * MSUN), to.length(20.0 * PC_CGS), to.length(0.5 * PC_CGS)];
        let fields = format!(
            "[external.point-mass]\nmass = {m}\nposition = [{x}, 0, 0]\nsoftening = {b}\n[external.plummer]\nmass = {m}\n\
             scale_radius = {b}\nposition = [0, {x}, 0]\n[softening]\nepsilon = {}\n",
            to.length(0.01 * PC_CGS)
        );
        let set = prepared(&to.config(&(stars.clone() + &fields)), Path::new(""));
        let (units, scale) = (set.config.units(), set.scale);
        let by = |d: Dimension| scale.factor(d) * units.cgs(d);
        let field = set.external_field().unwrap().unwrap();
        let potential = field.pot(place / by(Dimension::LENGTH), set.clock.start) * by(Dimension::POTENTIAL);
        // A law with a named length, and G.
        let law = "[force.law]\npotential = \"-G*m_i*m_j/sqrt(s^2 + b^2)\"\nparameters.b = \"0.02 pc\"\n";
        let with_law = prepared(&to.config(&(stars + law)), Path::new(""));
        let energy = with_law.in_own_frames(&with_law.binaries().unwrap()).unwrap()[0].potential;
        let energy = energy * with_law.scale.factor(Dimension::ENERGY) * units.cgs(Dimension::ENERGY);
        let found = [potential, energy, set.epsilon() * by(Dimension::LENGTH), set.clock.dt_max * by(Dimension::TIME)];
        let first = first.get_or_insert(found);
        for (a, b) in found.iter().zip(first) {
            assert!((a / *b - 1.0).abs() < 1e-11, "{}: {a:e} {b:e}", to.units.describe());
        }
    }
}

#[test]
fn verify_members_of_ensembles_are_the_same_in_all_units() {
    let mut first: Option<Vec<Physical>> = None;
    for to in In::all() {
        let [near, far] = [30.0, 60.0].map(|a| to.length(a * AU_CGS));
        let sections = model("two-body", &to, &Folder::new("")).unwrap();
        let text = to.config(&format!(
            "{sections}[ensemble.vary]\n\"initial.two-body.semi_major_axis\" = [{near}, {far}]\n\"run.t_end\" = [{}, {}]\n",
            to.time(3.0 * MYR),
            to.time(4.0 * MYR)
        ));
        let loaded = Config::from_str("u.toml", &text, Path::new(""), &[]).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        let blueprint = Blueprint::new(&loaded, Path::new("")).unwrap();
        let members = (0..4).map(|k| Physical::of(&assemble::prepare(blueprint.member(k).unwrap()).unwrap()));
        let members: Vec<Physical> = members.collect();
        for (k, (here, first)) in members.iter().zip(first.iter().flatten()).enumerate() {
            here.is(first, &format!("member {k} in {}", to.units.describe()));
        }
        first.get_or_insert(members);
    }
    // Their tables have one unit a column.
    let text = "run = { name = 'e', t_end = 1 }\n[initial.solar-system]\n[units]\nmass = 'Msun'\nlength = 'au'\ntime = 'yr'\n\
                [ensemble]\nvary = { 'units.length' = ['au', 'km'] }\n";
    let error = Config::from_str("u.toml", text, Path::new(""), &[]).unwrap_err().to_string();
    assert!(error.contains("units.length is common to all members"), "{error}");
}
