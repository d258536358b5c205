//! State of a star at an age: which phase it is in, and what it becomes where the phase ends.

use crate::compact;
use crate::envelope::{envelope_share, with_thin_envelope};
use crate::giants::{l_min_he, l_zahb, r_agb, r_gb, r_min_he};
use crate::helium::{HeliumLandmarks, burnable_mass, giant_radius, l_hems, l_zhe, r_hems, r_zhe, t_hems};
use crate::landmarks::Landmarks;
use crate::main_sequence::degenerate_radius;
use crate::metallicity::Metallicity;
use crate::model::Model;
use crate::remnants::{Dying, ELECTRON_CAPTURE_CORE, Remnant, Supernova};
use crate::state::{Kind, State};
use libm::{cbrt, exp, log, pow};

/// State of a star, and the supernova that it had to become so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluated {
    /// The state.
    pub state: State,
    /// The supernova, if there was one.
    pub supernova: Option<Supernova>,
}

impl Evaluated {
    fn quiet(state: State) -> Self {
        Self { state, supernova: None }
    }
}

/// Time scales of a star's present life.
#[derive(Clone, Debug, PartialEq)]
pub enum Life {
    /// Types 0 to 6.
    Hydrogen(Box<Landmarks>),
    /// Types 7 to 9.
    Helium(Box<HeliumLandmarks>),
    /// Types 10 to 15.
    Remnant,
}

impl Life {
    /// Evaluates the time scales of a star of this type and effective mass, in solar masses.
    #[must_use]
    pub fn new(model: &Model, kind: Kind, effective_mass: f64) -> Self {
        if kind.is_remnant() {
            Self::Remnant
        } else if kind.is_helium_star() {
            Self::Helium(Box::new(HeliumLandmarks::new(effective_mass)))
        } else {
            Self::Hydrogen(Box::new(Landmarks::new(model.metallicity(), &model.options().remnants, effective_mass)))
        }
    }

    /// Returns true if these are the time scales of a star in this state.
    pub(crate) fn is_of(&self, star: &State) -> bool {
        match self {
            Self::Remnant => star.kind.is_remnant(),
            Self::Helium(marks) => star.kind.is_helium_star() && marks.m0 == star.effective_mass,
            Self::Hydrogen(marks) => {
                star.kind <= Kind::ThermallyPulsingGiant && marks.m0 == star.effective_mass.min(Landmarks::HEAVIEST)
            }
        }
    }

    /// Returns the state of a star that had the type of `star` just before, with its masses and age: where the phase
    /// has ended, the next type; where the envelope is lost, the naked core, with other masses and age. Luminosity and
    /// radius of `star` are not used, its core mass only in the Hertzsprung gap, where no core shrinks.
    #[must_use]
    pub fn evaluate(&self, model: &Model, star: &State) -> Evaluated {
        match self {
            Self::Hydrogen(marks) => hydrogen_star(model, marks, star),
            Self::Helium(marks) => helium_star(model, marks, star),
            Self::Remnant => Evaluated::quiet(dark_star(model, star.kind, star.mass, star.age)),
        }
    }
}

fn hydrogen_star(model: &Model, marks: &Landmarks, star: &State) -> Evaluated {
    let (t, m) = (star.age, star.mass);
    if t < marks.t_ms {
        return Evaluated::quiet(main_sequence(model.metallicity(), marks, star));
    }
    if t < marks.t_bgb {
        return before_ignition(model, marks, &hertzsprung_gap(model.metallicity(), marks, star));
    }
    if t < marks.t_hei {
        return before_ignition(model, marks, &giant_branch(model.metallicity(), marks, star));
    }
    if star.kind == Kind::GiantBranch && marks.is_below_flash() {
        // The flash: core helium burning begins, with the time scales of the present mass.
        let marks = Landmarks::new(model.metallicity(), &model.options().remnants, m);
        return core_helium_burning(model, &marks, &State { effective_mass: m, age: marks.t_hei, ..*star });
    }
    if t < marks.t_bagb {
        return core_helium_burning(model, marks, star);
    }
    if t < marks.t_du {
        early_asymptotic_giant(model, marks, star)
    } else {
        thermally_pulsing_giant(model, marks, star)
    }
}

fn main_sequence(z: &Metallicity, marks: &Landmarks, star: &State) -> State {
    let (zero, end) = ((marks.l_zams, marks.r_zams), (marks.l_tms, marks.r_tms));
    let (luminosity, radius) = marks.shape.at(star.age / marks.t_ms, star.age, marks.t_hook, zero, end);
    let state = State { kind: Kind::MainSequence, core_mass: 0.0, luminosity, radius, ..*star };
    if marks.m0 < z.m_hook() - 0.3 {
        let radius = radius.max(degenerate_radius(&z.c, marks.m0));
        State { kind: Kind::LowMassMainSequence, radius, ..state }
    } else {
        state
    }
}

/// State in the Hertzsprung gap (equations 26 to 30), before what a thin envelope changes.
fn hertzsprung_gap(z: &Metallicity, marks: &Landmarks, star: &State) -> State {
    let tau = (star.age - marks.t_ms) / (marks.t_bgb - marks.t_ms);
    let power = pow(marks.m0, 5.25);
    let begin = (1.586 + power) / (2.434 + 1.02 * power);
    let core_mass = (((1.0 - tau) * begin + tau) * marks.mc_bgb).max(star.core_mass);
    let luminosity = marks.l_tms * pow(marks.l_ehg() / marks.l_tms, tau);
    let radius = marks.r_tms * pow(end_of_gap_radius(z, marks, star.mass) / marks.r_tms, tau);
    State { kind: Kind::HertzsprungGap, core_mass, luminosity, radius, ..*star }
}

/// Returns the radius at the end of the Hertzsprung gap: R_EHG (equation 27 and below).
fn end_of_gap_radius(z: &Metallicity, marks: &Landmarks, m: f64) -> f64 {
    if marks.is_below_fgb() {
        r_gb(&z.c, m, marks.l_bgb)
    } else if z.blue_share(marks.m0) == 0.0 {
        r_agb(&z.c, m, marks.l_hei)
    } else {
        ignition_radius(z, marks, m, r_min_he(&z.c, marks.m0))
    }
}

/// Returns the radius at the ignition of helium of a star above M_FGB, whose least radius is `least` (equation 50).
fn ignition_radius(z: &Metallicity, marks: &Landmarks, m: f64, least: f64) -> f64 {
    if marks.m0 > 12.0 {
        return least.min(r_agb(&z.c, m, marks.l_hei));
    }
    let exponent = log(marks.m0 / 12.0) / log(z.m_fgb() / 12.0);
    least * pow(r_gb(&z.c, m, marks.l_hei) / least, exponent)
}

/// State on the first giant branch (equations 45 and 46), before what a thin envelope changes.
fn giant_branch(z: &Metallicity, marks: &Landmarks, star: &State) -> State {
    let core = marks.giant_branch.core(star.age);
    let luminosity = marks.relation.luminosity(core);
    let core_mass = if marks.is_below_flash() {
        core
    } else {
        marks.mc_bgb + (marks.mc_hei - marks.mc_bgb) * (star.age - marks.t_bgb) / (marks.t_hei - marks.t_bgb)
    };
    let radius = r_gb(&z.c, star.mass, luminosity);
    State { kind: Kind::GiantBranch, core_mass, luminosity, radius, ..*star }
}

/// Finishes a star whose core is helium that does not burn yet: types 2 and 3.
fn before_ignition(model: &Model, marks: &Landmarks, star: &State) -> Evaluated {
    let (z, m, core) = (model.metallicity(), star.mass, star.core_mass);
    if core >= m {
        return if marks.is_below_flash() {
            Evaluated::quiet(dark_star(model, Kind::HeliumWhiteDwarf, m, 0.0))
        } else {
            naked_core(model, star, m, 0.0)
        };
    }
    let bare = if marks.is_below_flash() { cold(z, Kind::HeliumWhiteDwarf, core) } else { (l_zhe(core), r_zhe(core)) };
    Evaluated::quiet(enveloped(star, bare))
}

/// State during core helium burning (equations 61 to 67).
fn core_helium_burning(model: &Model, marks: &Landmarks, star: &State) -> Evaluated {
    let (c, m) = (&model.metallicity().c, star.mass);
    let tau = (star.age - marks.t_hei) / marks.t_he;
    let core = marks.mc_hei + (marks.mc_bagb - marks.mc_hei) * tau;
    if core >= m {
        return naked_core(model, star, m, tau * t_hems(m));
    }
    let HeliumLoop { tau_x, tau_y, l_x, r_x, r_min } = helium_loop(model.metallicity(), marks, m, core);
    let xi = (r_min / r_x).clamp(0.4, 2.5);
    let r_min = r_min.min(r_x);
    let luminosity_at = |tau: f64| {
        if tau >= tau_x {
            l_x * pow(marks.l_bagb / l_x, pow((tau - tau_x) / (1.0 - tau_x), xi))
        } else {
            l_x * pow(marks.l_hei / l_x, pow((tau_x - tau) / tau_x, 3.0))
        }
    };
    let luminosity = luminosity_at(tau);
    let radius = if tau < tau_x {
        r_gb(c, m, luminosity)
    } else if tau_y < 1.0 && tau >= tau_y {
        r_agb(c, m, luminosity)
    } else {
        let root = |ratio: f64| cbrt(log(ratio).max(0.0));
        let share = (tau - tau_x) / (tau_y - tau_x);
        let end = r_agb(c, m, luminosity_at(tau_y));
        let psi = root(end / r_min) * share - root(r_x / r_min) * (1.0 - share);
        r_min * exp(pow(psi.abs(), 3.0))
    };
    let state = State { kind: Kind::CoreHeliumBurning, core_mass: core, luminosity, radius, ..*star };
    Evaluated::quiet(enveloped(&state, (l_hems(core, tau), r_hems(core, tau))))
}

/// Ends of the blue part of core helium burning, as shares of its length, with luminosity and radius at its begin and
/// its least radius.
struct HeliumLoop {
    tau_x: f64,
    tau_y: f64,
    l_x: f64,
    r_x: f64,
    r_min: f64,
}

fn helium_loop(z: &Metallicity, marks: &Landmarks, m: f64, core: f64) -> HeliumLoop {
    let (c, m0) = (&z.c, marks.m0);
    if marks.is_below_flash() {
        let l_x = l_zahb(c, m0, marks.mc_hei);
        let r_min = r_gb(c, m, l_x) * pow(z.c_r, m0 / c.m_hef);
        HeliumLoop { tau_x: 0.0, tau_y: 1.0, l_x, r_x: z.r_zahb(m, core), r_min }
    } else if marks.is_below_fgb() {
        let l_x = l_min_he(c, m0);
        let tau_x = 1.0 - z.blue_share(m0);
        HeliumLoop { tau_x, tau_y: 1.0, l_x, r_x: r_gb(c, m, l_x), r_min: r_min_he(c, m) }
    } else {
        let r_min = r_min_he(c, m0).min(r_agb(c, m, marks.l_hei));
        let r_x = ignition_radius(z, marks, m, r_min);
        HeliumLoop { tau_x: 0.0, tau_y: z.blue_share(m0), l_x: marks.l_hei, r_x, r_min }
    }
}

/// State on the early asymptotic giant branch (section 5.4).
fn early_asymptotic_giant(model: &Model, marks: &Landmarks, star: &State) -> Evaluated {
    let (m, core) = (star.mass, marks.early_agb.core(star.age));
    if m <= marks.mc_bagb {
        let helium = marks.mc_bagb;
        let bare = HeliumLandmarks::new(helium);
        let age = bare.clock.time(core).max(bare.t_hems);
        let kind = Kind::HeliumHertzsprungGap;
        return helium_star(model, &bare, &State { kind, effective_mass: helium, mass: helium, age, ..*star });
    }
    if core >= marks.mc_sn {
        return dead(model, death(model, marks, marks.mc_sn, m));
    }
    let luminosity = marks.relation.luminosity(core);
    let radius = r_agb(&model.metallicity().c, m, luminosity);
    let kind = Kind::EarlyAsymptoticGiant;
    let state = State { kind, core_mass: marks.mc_bagb, luminosity, radius, ..*star };
    let bare = HeliumLandmarks::new(marks.mc_bagb);
    let share = 3.0 * (star.age - marks.t_bagb) / (marks.t_n(kind, m) - marks.t_bagb);
    let l_core = bare.relation.luminosity(core);
    let l_core = if share < 1.0 { bare.l_the * pow(l_core / bare.l_the, share) } else { l_core };
    let (r_core, _) = giant_radius(marks.mc_bagb, l_core, bare.l_the);
    Evaluated::quiet(enveloped(&state, (l_core, r_core)))
}

/// State on the thermally pulsing asymptotic giant branch (section 5.4).
fn thermally_pulsing_giant(model: &Model, marks: &Landmarks, star: &State) -> Evaluated {
    let m = star.mass;
    let grown = marks.pulsing_agb.core(star.age);
    let core = grown - marks.dredge_up * (grown - marks.mc_du);
    // After the end of the clock the core without dredge-up is infinite.
    if grown.is_infinite() || core >= m.min(marks.mc_sn) {
        return dead(model, death(model, marks, m.min(marks.mc_sn), m));
    }
    let luminosity = marks.relation.luminosity(grown);
    let radius = r_agb(&model.metallicity().c, m, luminosity);
    let state = State { kind: Kind::ThermallyPulsingGiant, core_mass: core, luminosity, radius, ..*star };
    Evaluated::quiet(enveloped(&state, cold(model.metallicity(), Kind::CarbonOxygenWhiteDwarf, core)))
}

/// State of a naked helium star (section 6.1).
fn helium_star(model: &Model, marks: &HeliumLandmarks, star: &State) -> Evaluated {
    let (t, m) = (star.age, star.mass);
    if t < marks.t_hems {
        if m < model.metallicity().mc_hef_hei {
            return Evaluated::quiet(dark_star(model, Kind::HeliumWhiteDwarf, m, 0.0));
        }
        let tau = t / marks.t_hems;
        let (luminosity, radius) = (l_hems(marks.m0, tau), r_hems(m, tau));
        return Evaluated::quiet(State { kind: Kind::HeliumMainSequence, core_mass: 0.0, luminosity, radius, ..*star });
    }
    let (core, last) = (marks.clock.core(t), marks.last_core(m));
    if core >= last {
        let dying = Dying { core: last, helium: marks.m0, mass: m, is_helium_star: true };
        return dead(model, model.options().remnants.of(&dying));
    }
    let l = marks.relation.luminosity(core);
    let (r, is_deep) = giant_radius(m, l, marks.l_the);
    let kind = if is_deep { Kind::HeliumGiantBranch } else { Kind::HeliumHertzsprungGap };
    let burnable = burnable_mass(m);
    let bare = cold(model.metallicity(), Kind::CarbonOxygenWhiteDwarf, core);
    let (luminosity, radius) = with_thin_envelope(5.0 * (burnable - core) / burnable, m, (l, r), bare);
    Evaluated::quiet(State { kind, core_mass: core, luminosity, radius, ..*star })
}

/// Returns the burning helium core of a star that has lost its envelope, `age` after the begin of that burning.
fn naked_core(model: &Model, star: &State, mass: f64, age: f64) -> Evaluated {
    let state = State { kind: Kind::HeliumMainSequence, effective_mass: mass, mass, age, ..*star };
    helium_star(model, &HeliumLandmarks::new(mass), &state)
}

/// Returns the remnant of a giant of types 5 and 6 whose core of carbon and oxygen has reached its end.
fn death(model: &Model, marks: &Landmarks, core: f64, mass: f64) -> Remnant {
    if marks.captures_electrons && core >= ELECTRON_CAPTURE_CORE {
        Remnant::of_electron_capture()
    } else {
        model.options().remnants.of(&Dying { core, helium: marks.mc_bagb, mass, is_helium_star: false })
    }
}

fn dead(model: &Model, remnant: Remnant) -> Evaluated {
    Evaluated { state: dark_star(model, remnant.kind, remnant.mass, 0.0), supernova: remnant.supernova }
}

/// Returns a remnant of this mass and age.
pub(crate) fn dark_star(model: &Model, kind: Kind, mass: f64, age: f64) -> State {
    let (luminosity, radius) =
        (compact::luminosity(kind, mass, age, model.metallicity().z()), compact::radius(kind, mass));
    State { kind, effective_mass: mass, mass, core_mass: mass, age, luminosity, radius }
}

/// Luminosity and radius of a bare core that is a new white dwarf.
fn cold(z: &Metallicity, kind: Kind, core: f64) -> (f64, f64) {
    (compact::luminosity(kind, core, 0.0, z.z()), compact::radius(kind, core))
}

/// Returns a hydrogen giant whose luminosity and radius approach those of its core where the envelope is thin.
fn enveloped(star: &State, bare: (f64, f64)) -> State {
    let Some(mu) = envelope_share(star.kind, star.mass, star.core_mass, star.luminosity) else { return *star };
    let (luminosity, radius) = with_thin_envelope(mu, star.mass, (star.luminosity, star.radius), bare);
    State { luminosity, radius, ..*star }
}
