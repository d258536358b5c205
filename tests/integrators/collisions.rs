//! Promises on collisions and escapes: found where the orbit says, momentum and energy kept, the same bits for any division of
//! the steps, any number of threads, and from a state that is kept.

use crate::kinds::{Kind, each};
use crate::subsystems::limits;
use tisane::diagnostics::conserved::Conserved;
use tisane::encounters::{
    CollisionAction, Collisions, Encounters, EscapeAction, EscapeRadius, Escapes, RadiusLaw, StarEvents,
};
use tisane::force::{FieldEngine, ForceEngine, precision::Precision, reference};
use tisane::initial::plummer;
use tisane::integrator::Integrator as _;
use tisane::particles::{Particles, Vec3};
use tisane::subsystems::Subsystems as _;
use tisane::subsystems::{Collision, Detail, Event, Removed};
use tisane::time::{Clock, Time};

pub const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 / 16.0 };
pub const MERGE: CollisionAction = CollisionAction::Merge;
pub const RECORD: CollisionAction = CollisionAction::Record;

/// Escapers beyond a distance, which are taken out.
pub fn beyond(length: f64) -> Option<Escapes> {
    Some(Escapes { action: EscapeAction::Remove, radius: EscapeRadius::Length(length) })
}

pub fn encounters_on((kind, nu): (Kind, f64), action: Option<CollisionAction>, escapes: Option<Escapes>) -> Encounters {
    let collisions = action.map(|action| Collisions { action, law: RadiusLaw::Volume });
    Encounters::new(kind.build(CLOCK, nu, limits()), 1e-6, CLOCK).with_star_events(StarEvents { collisions, escapes })
}

pub fn engine() -> Box<dyn FieldEngine> {
    reference::engine(Precision::F64, 0.0, CLOCK)
}

fn conserved(it: &mut Encounters, p: &Particles, f: &mut dyn ForceEngine, now: Time) -> Conserved {
    let field = it.field(p, now, f, true).unwrap();
    Conserved::from_particles(p, &field.pot)
}

/// End of an integration: particles, what was told, and energy, momentum and angular momentum at the begin and at the end.
pub struct Done {
    pub p: Particles,
    pub events: Vec<Event>,
    sums: [Conserved; 2],
}

impl Done {
    pub fn collisions(&self) -> Vec<Collision> {
        let of = |event: &Event| match &event.detail {
            Detail::Collision(collision) => Some(**collision),
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }

    pub fn removed(&self) -> Removed {
        let mut sum = Removed::default();
        for event in &self.events {
            match &event.detail {
                Detail::Collision(it) => it.merged.into_iter().for_each(|merged| sum += merged.removed),
                Detail::Escape(escape) => sum += escape.removed,
                Detail::None => {}
            }
        }
        sum
    }

    /// Errors of energy, momentum and angular momentum, with what was taken out of the system.
    pub fn errors(&self) -> [f64; 3] {
        let ([before, after], removed) = (&self.sums, self.removed());
        [
            after.energy() + removed.energy - before.energy(),
            (after.momentum + removed.momentum - before.momentum).norm(),
            (after.angular_momentum + removed.angular_momentum - before.angular_momentum).norm(),
        ]
    }
}

/// Integrates over a number of dt_max in calls of up to `max` block steps; resumes in a new integrator before each if asked for.
pub fn run(
    start: &Particles,
    events: (Option<CollisionAction>, Option<Escapes>),
    periods: u64,
    calls: (u64, bool),
) -> Done {
    run_on((Kind::Hermite4, 0.01), start, events, periods, calls)
}

/// Does so with steps by `nu`.
pub fn run_with(
    nu: f64,
    start: &Particles,
    events: (Option<CollisionAction>, Option<Escapes>),
    periods: u64,
    calls: (u64, bool),
) -> Done {
    run_on((Kind::Hermite4, nu), start, events, periods, calls)
}

/// Does so with a scheme, and steps by `nu`.
pub fn run_on(
    scheme: (Kind, f64),
    start: &Particles,
    (action, escapes): (Option<CollisionAction>, Option<Escapes>),
    periods: u64,
    (max, resumes): (u64, bool),
) -> Done {
    let (mut p, until) = (start.clone(), Time::from_dt_max(periods));
    let (mut it, mut f) = (encounters_on(scheme, action, escapes), engine());
    it.start(&mut p, &mut *f).unwrap();
    let before = conserved(&mut it, &p, &mut *f, Time::default());
    let mut events = Vec::new();
    loop {
        let done = it.advance(&mut p, &mut *f, until, max).unwrap();
        let found = it.take_events().into_iter();
        events.extend(found.filter(|event| event.detail != Detail::None));
        if done.now == until {
            let after = conserved(&mut it, &p, &mut *f, until);
            return Done { p, events, sums: [before, after] };
        }
        if resumes {
            (it, f) = (encounters_on(scheme, action, escapes), engine());
            it.resume(&p, done.now, &mut *f).unwrap();
        }
    }
}

pub const WHOLE: (u64, bool) = (u64::MAX, false);

/// Two stars on an orbit with semi-major axis 1 and pericentre 0.01, from its apocentre, and a third one far away.
fn pair(radii: [f64; 2]) -> Particles {
    let (m, e) = ([0.75, 0.25], 0.99f64);
    let (x, v) = (Vec3::x() * (1.0 + e), Vec3::y() * ((1.0 - e) / (1.0 + e)).sqrt());
    let pos = vec![x * -0.25, x * 0.75, Vec3::z() * 300.0];
    let vel = vec![v * -0.25, v * 0.75, Vec3::x() * 0.01];
    let mut p = Particles::new(vec![m[0], m[1], 0.125], pos, vel);
    p.id = vec![7, 3, 5];
    p.radius = vec![radii[0], radii[1], 0.001];
    p
}

#[test]
fn stars_touch_if_the_pericentre_is_within_their_radii() {
    each(|kind| {
        let outside = run_on((kind, 0.01), &pair([0.004, 0.00599]), (Some(MERGE), None), 80, WHOLE);
        assert!(outside.collisions().is_empty() && outside.p.len() == 3);
        let inside = run_on((kind, 0.01), &pair([0.004, 0.00601]), (Some(MERGE), None), 80, WHOLE);
        let [it] = inside.collisions()[..] else { panic!("{:?}", inside.events) };
        let merged = it.merged.unwrap();
        assert_eq!((it.id, it.mass, it.radius, merged.id), ([7, 3], [0.75, 0.25], [0.004, 0.00601], 7));
        assert!((merged.radius / (0.004f64.powi(3) + 0.00601f64.powi(3)).cbrt() - 1.0).abs() < 1e-14, "{merged:?}");
        // Half of the period, less the way from the contact to the pericentre.
        assert!((it.pericentre - 0.01).abs() < 1e-8 && it.time < std::f64::consts::PI, "{it:?}");
        assert!(std::f64::consts::PI - it.time < 1e-3, "{it:?}");
        assert!(it.centre[0].norm() < 1e-3 && it.centre[1].norm() < 1e-3, "{it:?}");
        let [x, v] = it.relative;
        assert!((x.norm() - 0.01001).abs() < 1e-8 && x.dot(&v) < 0.0, "{it:?}");
        assert_eq!((inside.p.id.clone(), inside.p.mass.clone()), (vec![7, 5], vec![1.0, 0.125]));
        let [energy, momentum, spin] = inside.errors();
        // The tide of the third star is neglected.
        assert!(energy.abs() < 1e-8 && momentum < 1e-15 && spin < 1e-12, "{energy:e} {momentum:e} {spin:e}");
        assert!((merged.removed.energy + 0.75 * 0.25 * 0.5).abs() < 1e-6, "{merged:?}");
    });
}

/// The two of equal masses keep the lower id, in the row of the first.
#[test]
fn stars_that_fall_head_on_merge() {
    each(|kind| {
        let pos = [[0.5, 0.0, 0.0], [30.0, 0.0, 0.0], [-0.5, 1e-7, 0.0]].map(Vec3::from);
        let vel = vec![Vec3::z() * 5e-5, Vec3::zeros(), Vec3::z() * -5e-5];
        let mut p = Particles::new(vec![0.5, 1e-3, 0.5], pos.to_vec(), vel);
        (p.id, p.radius) = (vec![9, 4, 2], vec![1e-5, 0.0, 1e-5]);
        let done = run_on((kind, 0.01), &p, (Some(MERGE), None), 80, WHOLE);
        assert_eq!((&done.p.id, done.collisions().len()), (&vec![2, 4], 1));
        assert!(done.p.vel[0].norm() < 1e-4 && done.p.radius[0] == 1.2599210498948732e-5, "{:?}", done.p);
        let [energy, momentum, _] = done.errors();
        // The third star's tide of 1e-7 is neglected.
        assert!(energy.abs() < 1e-6 && momentum < 1e-15, "{energy:e} {momentum:e}");
    });
}

/// A triple, followed in the mean over both orbits, whose inner eccentricity grows until the two stars touch.
#[test]
fn an_inner_pair_touches_where_its_orbit_has_turned() {
    each(|kind| {
        let (a, turn) = (0.04, 70f64.to_radians());
        let side = Vec3::new(0.0, turn.cos(), turn.sin()) * (0.42 * (0.5f64 / a).sqrt());
        let (centre, drift, x) = (Vec3::x() * -0.5, Vec3::y() * 0.5, Vec3::x() * (a * 0.5));
        let pos = vec![centre + x, centre - x, -centre, Vec3::x() * 1000.0];
        let vel = vec![drift + side, drift - side, -drift, Vec3::zeros()];
        let mut p = Particles::new(vec![0.25, 0.25, 0.5, 1e-6], pos, vel);
        p.radius = vec![3e-3, 3e-3, 1e-3, 0.0];
        for action in [RECORD, MERGE] {
            let done = run_on((kind, 0.01), &p, (Some(action), None), 4800, (40, false));
            let [it] = done.collisions()[..] else { panic!("{:?}", done.events) };
            // The pericentre begins at 0.02, and is 0.006 after a good half of a cycle; one step turns the orbit little.
            assert!((it.pericentre - 6e-3).abs() < 1e-4, "{it:?}");
            let seen = CLOCK.time(done.events[0].time);
            assert!(it.time > 100.0 && it.time <= seen && seen - it.time <= CLOCK.dt_max, "{it:?} {seen}");
            assert_eq!(done.p.len(), if action == MERGE { 3 } else { 4 });
            let [energy, momentum, _] = done.errors();
            assert!(energy.abs() < 1e-6 && momentum < 1e-14, "{energy:e} {momentum:e}");
        }
    });
}

/// Two stars are left, and become one.
#[test]
fn a_last_pair_becomes_one_star() {
    each(|kind| {
        let mut p = pair([0.01, 0.01]);
        p.remove_rows(&[2]);
        let done = run_on((kind, 0.01), &p, (Some(MERGE), None), 80, WHOLE);
        assert_eq!((done.p.id.len(), done.p.mass[0], done.collisions().len()), (1, 1.0, 1));
        assert!(done.errors()[0].abs() < 1e-12, "{:?}", done.errors());
    });
}

/// Sixty stars with binaries, of radii with which some merge, and some that escape.
fn cluster() -> Particles {
    let units = plummer::sample(48, 11, 0.99);
    let (mut mass, mut pos, mut vel) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..48 {
        let (m, x, v) = (units.mass[i], units.pos[i], units.vel[i]);
        let (a, e) = (1e-3 * 10f64.powf(i as f64 / 12.0), 0.02 * i as f64);
        let (r, u) = (a * (1.0 + e), (m * (1.0 - e) / (a * (1.0 + e))).sqrt());
        let (turn, is_binary) = (0.7 * i as f64, i < 12);
        let dx = Vec3::new(turn.cos(), turn.sin() * 0.6, turn.sin() * 0.8) * r;
        let dv = Vec3::new(-turn.sin(), turn.cos() * 0.6, turn.cos() * 0.8) * u;
        for share in if is_binary { &[-0.25f64, 0.75][..] } else { &[0.0] } {
            mass.push(if is_binary { m * (1.0 - share.abs()) } else { m });
            pos.push(x + dx * *share);
            vel.push(v + dv * *share);
        }
    }
    let mut p = Particles::new(mass, pos, vel);
    p.radius = (0..p.len()).map(|i| 1e-3 * (1.0 + 0.1 * i as f64)).collect();
    // Some are too fast to stay.
    p.vel.iter_mut().skip(50).step_by(3).for_each(|v| *v *= 4.0);
    p
}

#[test]
fn mergers_have_the_same_bits_for_calls_threads_and_resuming() {
    each(|kind| {
        let start = cluster();
        let want = run_on((kind, 0.01), &start, (Some(MERGE), beyond(1.5)), 32, WHOLE);
        let escapes = want.events.iter().filter(|event| matches!(event.detail, Detail::Escape(_))).count();
        assert!(want.collisions().len() > 3 && escapes > 0, "{} {escapes}", want.collisions().len());
        for (max, resumes) in [(7, false), (5, true), (1, true)] {
            let found = run_on((kind, 0.01), &start, (Some(MERGE), beyond(1.5)), 32, (max, resumes));
            assert!(found.p == want.p && found.events == want.events, "{max} {resumes}");
        }
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| run_on((kind, 0.01), &start, (Some(MERGE), beyond(1.5)), 32, WHOLE));
            assert!(found.p == want.p && found.events == want.events, "{threads} threads");
        }
        let [energy, momentum, spin] = want.errors();
        assert!(energy.abs() < 2e-6 && momentum < 1e-6 && spin < 1e-6, "{energy:e} {momentum:e} {spin:e}");
        assert!(want.removed().energy.abs() > 5e-4, "{:?}", want.removed());
        assert_eq!(want.p.len() + want.collisions().len() + escaped(&want), start.len());
    });
}

/// Number of stars that escaped.
pub fn escaped(done: &Done) -> usize {
    let of = |event: &Event| match &event.detail {
        Detail::Escape(escape) => escape.stars.len(),
        _ => 0,
    };
    done.events.iter().map(of).sum()
}

#[test]
fn a_record_changes_no_orbit_and_names_each_contact_once() {
    let start = cluster();
    let found = run(&start, (Some(RECORD), None), 32, WHOLE);
    let collisions = found.collisions();
    assert!(collisions.len() > 3 && collisions.iter().all(|it| it.merged.is_none()), "{}", collisions.len());
    let again = run(&start, (Some(RECORD), None), 32, (5, true));
    assert_eq!(again.p, found.p);
    assert_eq!(again.events, found.events);
    // A pair on an orbit inside of the radii touches all the time.
    let orbits = run(&pair([0.01, 0.01]), (Some(RECORD), None), 400, WHOLE);
    let alone = run(&pair([0.01, 0.01]), (None, None), 400, WHOLE);
    assert_eq!((orbits.collisions().len(), orbits.p.pos), (1, alone.p.pos));
}

/// Burrau's problem: two of the three pass each other within 0.01 at 15.83 for the first time.
#[test]
fn two_of_three_bodies_merge() {
    each(|kind| {
        let pos = [[1.0, 3.0, 0.0], [-2.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 1e4]].map(Vec3::from);
        let mut p = Particles::new(vec![3.0, 4.0, 5.0, 1e-3], pos.to_vec(), vec![Vec3::zeros(); 4]);
        p.radius = vec![0.005, 0.005, 0.005, 0.0];
        let done = run_on((kind, 0.01), &p, (Some(MERGE), None), 16 * 20, WHOLE);
        let collisions = done.collisions();
        let first = collisions[0];
        assert!(done.p.len() < 4 && done.p.total_mass() == 12.001, "{collisions:?}");
        assert!(first.relative[0].norm() <= 0.01 + 1e-9, "{first:?}");
        // The errors are those of the time before, but for what is neglected.
        let before = run_on((kind, 0.01), &p, (None, None), 16 * 20, WHOLE).errors();
        for (found, want) in done.errors().into_iter().zip(before) {
            assert!((found - want).abs() < 1e-10, "{found:e} {want:e}");
        }
        assert_eq!(run_on((kind, 0.01), &p, (Some(MERGE), None), 16 * 20, (3, true)).p, done.p);
    });
}

/// A cluster of 40 stars, and a pair that leaves it at once.
pub fn with_leavers() -> Particles {
    let (mut p, away) = (plummer::sample(40, 5, 0.9), Vec3::new(2.0, 1.0, 0.0));
    for side in [-0.5, 0.5] {
        p.mass.push(0.01);
        p.pos.push(away + Vec3::z() * (1e-4 * side));
        p.vel.push(away * 1.5 + Vec3::x() * (side * 12.0));
    }
    Particles::new(p.mass, p.pos, p.vel)
}

/// The bound ones stay.
#[test]
fn escapers_take_their_energy_along() {
    each(|kind| {
        let (p, n) = (with_leavers(), 40);
        let done = run_on((kind, 0.01), &p, (None, beyond(8.0)), 64, (u64::MAX, true));
        assert_eq!((done.p.len(), escaped(&done)), (n, 2));
        let Detail::Escape(escape) = &done.events[0].detail else { panic!("{:?}", done.events) };
        assert_eq!(escape.stars.iter().map(|star| star.id).collect::<Vec<_>>(), [40, 41]);
        assert!(escape.energy > 0.0 && escape.stars[0].pos.norm() > 8.0, "{escape:?}");
        let stays = run_on((kind, 0.01), &p, (None, beyond(80.0)), 64, WHOLE);
        assert_eq!(stays.p.len(), n + 2);
        let before = stays.errors();
        // The orbits part, and with them the close passages that set the errors.
        for (found, want) in done.errors().into_iter().zip(before) {
            assert!(found.abs() < 4.0 * want.abs(), "{found:e} {want:e}");
        }
    });
}

#[test]
fn a_recorded_escape_changes_no_orbit_and_is_named_once() {
    each(|kind| {
        let p = with_leavers();
        let record = |radius| Some(Escapes { action: EscapeAction::Record, radius });
        let alone = run_on((kind, 0.01), &p, (None, None), 64, WHOLE);
        let removed = run_on((kind, 0.01), &p, (None, beyond(4.0)), 64, WHOLE);
        let found = run_on((kind, 0.01), &p, (None, record(EscapeRadius::Length(4.0))), 64, WHOLE);
        assert_eq!((found.p.pos.clone(), found.p.vel.clone()), (alone.p.pos, alone.p.vel));
        assert_eq!((found.removed(), escaped(&found)), (Removed::default(), escaped(&removed)));
        let Detail::Escape(escape) = &found.events[0].detail else { panic!("{:?}", found.events) };
        assert_eq!(escape.stars.iter().map(|star| star.id).collect::<Vec<_>>(), [40, 41]);
        let again = run_on((kind, 0.01), &p, (None, record(EscapeRadius::Length(4.0))), 64, (5, true));
        assert!(again.p == found.p && again.events == found.events, "resumed");
        // The half-mass radius of this sphere is some 0.8.
        let wide = run_on((kind, 0.01), &p, (None, record(EscapeRadius::HalfMassRadii(5.0))), 64, WHOLE);
        let times = [&wide, &found].map(|done| done.events[0].time);
        assert!(wide.events[0].detail != found.events[0].detail || times[0] != times[1]);
        let Detail::Escape(escape) = &wide.events[0].detail else { panic!("{:?}", wide.events) };
        let distance = escape.stars[0].pos.norm();
        assert!((3.0..5.5).contains(&distance), "{distance}");
        let far = run_on((kind, 0.01), &p, (None, record(EscapeRadius::HalfMassRadii(50.0))), 64, WHOLE);
        assert_eq!(escaped(&far), 0);
    });
}
