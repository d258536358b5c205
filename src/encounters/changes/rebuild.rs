//! Change of the bodies: subsystems that form, and parts of subsystems that go on by themselves.

use crate::encounters::Encounters;
use crate::encounters::forces::bodies::{Bodies, FirstState, motion_of};
use crate::encounters::forces::regions::Regions;
use crate::encounters::membership::change::Change;
use crate::encounters::membership::coupled_engine::CoupledEngine;
use crate::encounters::motion::evolved::Evolved;
use crate::encounters::motion::member::{Few, Member, Placed, placed, stars};
use crate::encounters::motion::subsystem::Subsystem;
use crate::few_body::Motion;
use crate::integrator::{RowChange, Succession};
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Body that begins.
#[derive(Debug)]
pub struct NewBody {
    /// Its lowest star.
    first: u32,
    state: FirstState,
    /// Its subsystem.
    few: Option<Few>,
}

/// Member of a new subsystem, and where it comes from: the motion that knows it, by a number, and its place there.
type Part<'a> = (Placed<Member>, Option<(&'a Motion, usize)>);

/// Returns the body of some members, which stand relative to the state `centre`.
fn combined(mut parts: Vec<Part<'_>>, centre: (Vec3, Vec3), now: Time) -> NewBody {
    parts.sort_unstable_by_key(|part| part.0.of.first());
    let mass: Vec<f64> = parts.iter().map(|part| part.0.mass).collect();
    let total: f64 = mass.iter().sum();
    let mean = |of: fn(&Placed<Member>) -> Vec3| {
        parts.iter().fold(Vec3::zeros(), |sum, part| sum + of(&part.0) * part.0.mass) / total
    };
    let means = [mean(|member| member.pos), mean(|member| member.vel)];
    let (pos, vel) = (centre.0 + means[0], centre.1 + means[1]);
    let rest = [(centre.0 - pos) + means[0], (centre.1 - vel) + means[1]];
    let first = parts[0].0.of.first();
    if let [(Placed { of, .. }, _)] = &parts[..] {
        let few = of.inner().cloned();
        return NewBody { first, state: FirstState { mass: total, pos, vel, rest }, few };
    }
    // Differences inside of a motion come from its own vectors, which have more digits than positions.
    let difference = |two: &[Part<'_>]| match (&two[0], &two[1]) {
        ((_, Some((motion, i))), (_, Some((other, j)))) if std::ptr::eq(*motion, *other) => motion.vectors(*i, *j),
        ((a, _), (b, _)) => (b.pos - a.pos, b.vel - a.vel),
    };
    let (x, v): (Vec<Vec3>, Vec<Vec3>) = parts.windows(2).map(difference).unzip();
    let motion = Motion::from_vectors(&mass, &x, &v);
    let members = parts.into_iter().map(|part| part.0.of).collect();
    let state = FirstState { mass: total, pos, vel, rest };
    NewBody { first, state, few: Some(Few { members, motion, time: now }) }
}

/// Returns the members of a motion as parts.
fn parts<'a>(members: &[Member], motion: &'a Motion) -> Vec<Part<'a>> {
    placed(members, motion).into_iter().enumerate().map(|(k, member)| (member, Some((motion, k)))).collect()
}

/// Moves a member by the state of another.
fn moved(mut part: Part<'_>, (pos, vel): (Vec3, Vec3)) -> Part<'_> {
    part.0.pos += pos;
    part.0.vel += vel;
    part
}

/// Mass and place of members.
fn points(parts: &[Part<'_>]) -> Vec<(f64, Vec3)> {
    parts.iter().map(|part| (part.0.mass, part.0.pos)).collect()
}

/// Mass and place of the stars of members at `now`.
fn single(parts: &[Part<'_>], clock: &Clock, now: Time) -> Result<Vec<(f64, Vec3)>> {
    let mut found = Vec::new();
    for (member, _) in parts {
        match &member.of {
            Member::Star(_) => found.push((member.mass, member.pos)),
            Member::Inner(few) => {
                let few = few.at(clock, now.max(few.time))?;
                let inside = stars(&few.members, &few.motion, clock, now)?;
                found.extend(inside.into_iter().map(|star| (star.mass, member.pos + star.pos)));
            }
        }
    }
    Ok(found)
}

/// Makes a subsystem, if it is to be one member, an inner one beside others. Those that already are inner ones did not feel the
/// others before, and take up nothing.
fn close(parts: &mut [Part<'_>], others: &[(f64, Vec3)]) {
    if let [(Placed { of: Member::Inner(few), pos, .. }, _)] = parts {
        **few = few.as_ref().clone().closed(relative(others, *pos));
    }
}

/// Makes an inner subsystem, if it is alone, one of its own.
fn open(parts: &mut [Part<'_>], others: &[(f64, Vec3)], clock: &Clock, now: Time) -> Result<()> {
    if let [(Placed { of: Member::Inner(few), pos, .. }, _)] = parts {
        **few = few.opened(clock, now, relative(others, *pos))?;
    }
    Ok(())
}

fn relative(others: &[(f64, Vec3)], from: Vec3) -> impl Iterator<Item = (f64, Vec3)> + Clone {
    others.iter().map(move |(mass, pos)| (*mass, pos - from))
}

impl Encounters {
    /// Returns the body that two bodies become; those that are `closed` stay one member each.
    fn joined(&self, bodies: [usize; 2], closed: [bool; 2], now: Time) -> Result<NewBody> {
        let p = &self.particles;
        let centre = (p.pos[bodies[0]], p.vel[bodies[0]]);
        let members = |(body, closed): (usize, bool)| {
            let star = self.hierarchy.bodies.stars[body];
            let state = self.hierarchy.bodies.with_rest(body, (p.pos[body] - centre.0, p.vel[body] - centre.1));
            let whole = |of: Member| vec![(Placed { of, mass: p.mass[body], pos: state.0, vel: state.1 }, None)];
            match self.hierarchy.of_star(star) {
                None => whole(Member::Star(star)),
                Some(subsystem) if closed => whole(Member::Inner(Box::new(subsystem.few()))),
                Some(subsystem) => {
                    parts(&subsystem.members, &subsystem.motion).into_iter().map(|part| moved(part, state)).collect()
                }
            }
        };
        let [mut a, mut b] = [0, 1].map(|k| members((bodies[k], closed[k])));
        // One after the other, so that all pairs of stars count once.
        close(&mut a, &points(&b));
        close(&mut b, &single(&a, &self.clock, now)?);
        a.extend(b);
        Ok(combined(a, centre, now))
    }

    /// Returns the body that two bodies become of which two stars become one.
    fn united(&self, bodies: [usize; 2], [first, second]: [u32; 2], now: Time) -> Result<NewBody> {
        let p = &self.particles;
        let centre = (p.pos[bodies[0]], p.vel[bodies[0]]);
        let mut all: Vec<Part<'_>> = Vec::new();
        for body in bodies {
            let state = (p.pos[body] - centre.0, p.vel[body] - centre.1);
            let star = self.hierarchy.bodies.stars[body];
            let is_one = |member: &Member| matches!(member, Member::Star(star) if [first, second].contains(star));
            match self.hierarchy.of_star(star) {
                None => {
                    let (pos, vel) = state;
                    all.push((Placed { of: Member::Star(star), mass: p.mass[body], pos, vel }, None));
                }
                Some(subsystem) if subsystem.members.iter().any(is_one) => {
                    all.extend(parts(&subsystem.members, &subsystem.motion).into_iter().map(|part| moved(part, state)));
                }
                Some(subsystem) => {
                    let inside = stars(&subsystem.members, &subsystem.motion, &self.clock, now)?;
                    let part =
                        |it: Placed<u32>| Placed { of: Member::Star(it.of), mass: it.mass, pos: it.pos, vel: it.vel };
                    all.extend(inside.into_iter().map(|star| moved((part(star), None), state)));
                }
            }
        }
        let take = |all: &mut Vec<Part<'_>>, star: u32| {
            let place = all.iter().position(|part| matches!(part.0.of, Member::Star(it) if it == star));
            place.map(|place| all.remove(place).0)
        };
        if let (Some(a), Some(b)) = (take(&mut all, first), take(&mut all, second)) {
            let mass = a.mass + b.mass;
            let share = if mass > 0.0 { b.mass / mass } else { 0.5 };
            let (pos, vel) = (a.pos + (b.pos - a.pos) * share, a.vel + (b.vel - a.vel) * share);
            if all.is_empty() {
                let state = FirstState::rounded(mass, centre.0 + pos, centre.1 + vel);
                return Ok(NewBody { first, state, few: None });
            }
            all.push((Placed { of: a.of, mass, pos, vel }, None));
        }
        Ok(combined(all, centre, now))
    }

    /// Returns the bodies that a change of the subsystem of one body leads to.
    fn changed(&self, body: usize, subsystem: &Subsystem, change: &Change, now: Time) -> Result<Vec<NewBody>> {
        let (centre, clock) = ((self.particles.pos[body], self.particles.vel[body]), &self.clock);
        let all = parts(&subsystem.members, &subsystem.motion);
        let divided = |is_first: &dyn Fn(usize) -> bool| {
            let (a, b): (Vec<_>, Vec<_>) = all.into_iter().enumerate().partition(|(k, _)| is_first(*k));
            let bare = |parts: Vec<(usize, _)>| parts.into_iter().map(|part| part.1).collect::<Vec<Part<'_>>>();
            (bare(a), bare(b))
        };
        Ok(match change {
            Change::Join(..) | Change::Unite(..) => Vec::new(),
            Change::Evolve(_, evolved) => {
                let Evolved { few, mass, shift: [pos, vel], .. } = &**evolved;
                let state = FirstState::rounded(*mass, centre.0 + pos, centre.1 + vel);
                vec![NewBody { first: subsystem.stars[0], state, few: Some(few.clone()) }]
            }
            Change::Merge(_) => {
                let (first, mass) = (subsystem.stars[0], self.particles.mass[body]);
                vec![NewBody { first, state: FirstState::rounded(mass, centre.0, centre.1), few: None }]
            }
            Change::Split(_, first) => {
                let (mut a, mut b) = divided(&|k| first.contains(&k));
                open(&mut a, &points(&b), clock, now)?;
                open(&mut b, &single(&a, clock, now)?, clock, now)?;
                vec![combined(a, centre, now), combined(b, centre, now)]
            }
            Change::Open(_, member) => {
                let (outer, mut rest) = divided(&|k| k == *member);
                let [(outer, _)] = &outer[..] else { return Ok(Vec::new()) };
                let Some(few) = outer.of.inner() else { return Ok(Vec::new()) };
                let few = few.opened(clock, now, relative(&points(&rest), outer.pos))?;
                let inside = parts(&few.members, &few.motion);
                rest.extend(inside.into_iter().map(|part| moved(part, (outer.pos, outer.vel))));
                vec![combined(rest, centre, now)]
            }
            Change::Close(_, two) => {
                let (inside, mut rest) = divided(&|k| two.contains(&k));
                let inner = combined(inside, (Vec3::zeros(), Vec3::zeros()), now);
                let NewBody { state: FirstState { mass, pos, vel, .. }, few: Some(few), .. } = inner else {
                    return Ok(Vec::new());
                };
                let few = few.closed(relative(&points(&rest), pos));
                rest.push((Placed { of: Member::Inner(Box::new(few)), mass, pos, vel }, None));
                vec![combined(rest, centre, now)]
            }
        })
    }

    /// Applies changes, of which no two share a body, to bodies that stand at `now`.
    pub(crate) fn rebuild(&mut self, now: Time, changes: &[Change]) -> Result<Rebuilt> {
        let mut all = Vec::with_capacity(changes.len());
        for change in changes {
            all.push(match change {
                Change::Join(bodies, closed) => vec![self.joined(*bodies, *closed, now)?],
                Change::Unite(bodies, touched) => vec![self.united(*bodies, touched.stars, now)?],
                _ => {
                    let body = change.bodies()[0];
                    let subsystem = self.hierarchy.of_star(self.hierarchy.bodies.stars[body]);
                    subsystem.map_or(Ok(Vec::new()), |subsystem| self.changed(body, subsystem, change, now))?
                }
            });
        }
        let mut rebuilt = Rebuilt::default();
        let mut ended = Vec::new();
        for change in changes {
            let rows = change.bodies().iter().map(|&body| (body as u32, self.particles.mass[body])).collect();
            rebuilt.rows.successions.push(Succession { ended: rows, begun: Vec::new() });
            ended.extend_from_slice(change.bodies());
            for &body in change.bodies() {
                self.hierarchy.end_body(self.hierarchy.bodies.stars[body]);
                self.hierarchy.bodies.end(body, now);
            }
        }
        for (new, succession) in all.into_iter().zip(&mut rebuilt.rows.successions) {
            rebuilt.begun.push(new.iter().map(|body| body.first).collect());
            for NewBody { first, state, few } in new {
                let row = self.hierarchy.bodies.begin(first, self.ids[first as usize], &state, now);
                succession.begun.push((row as u32, state.mass));
                if let Some(few) = few {
                    self.hierarchy.begin_subsystem(Subsystem::new(few.at(&self.clock, now)?, 0.0));
                }
                rebuilt.rows.begun.push(row as u32);
            }
        }
        rebuilt.rows.begun.sort_unstable();
        let is_left = |body: &usize| rebuilt.rows.begun.binary_search(&(*body as u32)).is_err();
        rebuilt.rows.emptied = ended.into_iter().filter(is_left).map(|body| body as u32).collect();
        rebuilt.rows.emptied.sort_unstable();
        for row in rebuilt.rows.begun.iter().chain(&rebuilt.rows.emptied).map(|&row| row as usize) {
            self.hierarchy.bodies.copy_row(row, &mut self.particles);
            self.positions.moved(&[row as u32]);
            self.regions.changed(&self.particles, &self.clock, row);
        }
        Ok(rebuilt)
    }

    /// Puts the rows of the bodies in order at `now`, if they are not, and leaves out empty ones.
    pub(crate) fn order_rows(&mut self, f: &mut dyn ForceEngine, now: Time) -> Result<()> {
        if self.hierarchy.bodies.in_order() && !self.scheme.works_by_lists() {
            return Ok(());
        }
        self.set_in_order(now);
        let mut coupled = CoupledEngine { engine: f, hierarchy: &mut self.hierarchy };
        self.scheme.resume(&self.particles, now, &mut coupled)
    }

    /// Puts the rows of the bodies in order at `now`, and leaves out empty ones, before anyone knows them. The order is that of their
    /// stars; where a scheme works by lists of neighbours, that of their places, so that what a list names is side by side in memory.
    pub(crate) fn set_in_order(&mut self, now: Time) {
        let rows = if self.scheme.works_by_lists() {
            Regions::rows_by_place(&self.particles, &self.hierarchy.bodies.stars, &self.clock, now)
        } else {
            self.hierarchy.bodies.ordered_rows()
        };
        self.particles.select_rows(&rows);
        let Bodies { stars, sizes, rests, .. } = std::mem::take(&mut self.hierarchy.bodies);
        let stars = rows.iter().map(|&row| stars[row as usize]).collect();
        let mut bodies = Bodies::new(motion_of(&self.particles), stars, self.ids.len()).with_sizes(sizes);
        bodies.rests = rows.iter().filter_map(|&row| rests.get(row as usize).copied()).collect();
        self.hierarchy.bodies = bodies;
        self.forget_places();
    }
}

/// What changes of the bodies have led to.
#[derive(Debug, Default)]
pub(crate) struct Rebuilt {
    /// Bodies that begin by each change, by their lowest stars.
    pub begun: Vec<Vec<u32>>,
    /// The rows that changed.
    pub rows: RowChange,
}
