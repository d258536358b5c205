//! Promise: particles that begin, end and are disturbed between block steps leave every scheme its error; lists stay right; and
//! neither threads nor a resume change a bit.

use crate::common::energy;
use crate::kinds::{KINDS, Kind};
use tisane::force::cpu::{CpuEngine, Width};
use tisane::force::mode::F64;
use tisane::force::neighbours::{NeighbourForces, NeighbourTargets};
use tisane::force::precision::Precision;
use tisane::force::{Block, ForceEngine, Forces};
use tisane::initial::plummer;
use tisane::integrator::ahmad_cohen;
use tisane::integrator::hermite4::Limits;
use tisane::integrator::{RowChange, Steps, Succession};
use tisane::particles::{Particles, Vec3};
use tisane::states::neighbours::Neighbours;
use tisane::time::{Clock, Level, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 / 8.0 };
const EPSILON: f64 = 1.0 / 64.0;

fn build(kind: Kind) -> Box<dyn Steps> {
    kind.build(CLOCK, 0.01, Limits { floor: Level::DEEPEST, ..Limits::new(Precision::F64) })
}

fn engine() -> CpuEngine<F64> {
    CpuEngine::new(EPSILON, CLOCK, Width::choose().unwrap())
}

/// System in motion.
struct Run {
    p: Particles,
    engine: CpuEngine<F64>,
    scheme: Box<dyn Steps>,
    /// Pairs that were one particle, those that parted last at the end.
    pairs: Vec<[usize; 2]>,
    /// Distance at which they part.
    apart: f64,
    /// Number of lists that had one of two particles which became one.
    divided: usize,
    empty: Vec<u32>,
    /// What changes did to the energy.
    gained: f64,
    steps: u64,
    now: Time,
}

impl Run {
    fn new(kind: Kind, n: usize, seed: u64) -> Self {
        let (mut p, mut engine, mut scheme) = (plummer::sample(n, seed, 0.999), engine(), build(kind));
        scheme.start(&mut p, &mut engine).unwrap();
        let (pairs, empty, now) = (Vec::new(), Vec::new(), Time::default());
        Self { p, engine, scheme, pairs, apart: 1e-6, divided: 0, empty, gained: 0.0, steps: 0, now }
    }

    /// Goes on from the state alone, as after a pause.
    fn resumed(self, kind: Kind) -> Self {
        let (mut engine, mut scheme) = (engine(), build(kind));
        scheme.resume(&self.p, self.now, &mut engine).unwrap();
        scheme.set_empty(&self.empty);
        Self { engine, scheme, ..self }
    }

    /// Takes a block step; returns false if it would pass `until`.
    fn step(&mut self, until: Time) -> bool {
        let done = self.scheme.advance(&mut self.p, &mut self.engine, until, 1).unwrap();
        self.steps += done.particle_steps;
        if done.block_steps > 0 {
            self.now = done.now;
        }
        done.block_steps > 0
    }

    /// Takes particles to the present.
    fn synchronise(&mut self, rows: impl Iterator<Item = usize>) {
        let late: Vec<u32> = rows.filter(|&i| self.p.time[i] < self.now).map(|i| i as u32).collect();
        if !late.is_empty() {
            self.scheme.synchronise(&mut self.p, &mut self.engine, late, self.now).unwrap();
        }
    }

    fn has_particle(&self, row: usize) -> bool {
        self.empty.binary_search(&(row as u32)).is_err()
    }

    /// State at the present without the rows that are empty.
    fn present(&mut self) -> Particles {
        let mut all = self.scheme.synchronised(&self.p, self.now, &mut self.engine).unwrap();
        all.remove_rows(&self.empty.iter().map(|&i| i as usize).collect::<Vec<_>>());
        all
    }

    fn admit(&mut self, ended: &[usize], begun: &[usize], before: &[f64]) {
        let rows = |of: &[usize]| of.iter().map(|&i| i as u32).collect::<Vec<_>>();
        let succession = Succession {
            ended: rows(ended).into_iter().zip(before.iter().copied()).collect(),
            begun: begun.iter().map(|&i| (i as u32, self.p.mass[i])).collect(),
        };
        let emptied = rows(ended).into_iter().filter(|&i| !begun.contains(&(i as usize))).collect();
        let change = RowChange { begun: rows(begun), emptied, successions: vec![succession] };
        self.scheme.admit(&mut self.p, &mut self.engine, &change, self.now).unwrap();
        self.empty.retain(|row| !change.begun.contains(row));
        self.empty.extend(change.emptied);
        self.empty.sort_unstable();
        self.scheme.set_empty(&self.empty);
    }

    /// Makes one of two particles, in the row of the first.
    fn merge(&mut self, rows: [usize; 2]) {
        let [i, j] = rows;
        self.synchronise(rows.into_iter());
        let lists = &self.p.states.get::<Neighbours>().lists;
        let has = |list: &[u32], row: usize| list.binary_search(&(row as u32)).is_ok();
        let others = lists.iter().enumerate().filter(|(owner, _)| !rows.contains(owner));
        self.divided += others.filter(|(_, list)| has(list, i) != has(list, j)).count();
        let p = &mut self.p;
        let (before, share) = ([p.mass[i], p.mass[j]], p.mass[j] / (p.mass[i] + p.mass[j]));
        p.pos[i] = p.pos[i] * (1.0 - share) + p.pos[j] * share;
        p.vel[i] = p.vel[i] * (1.0 - share) + p.vel[j] * share;
        p.mass[i] += p.mass[j];
        (p.mass[j], p.pos[j], p.step[j]) = (0.0, Vec3::new(1e9, 0.0, 0.0), Level::default());
        (p.vel[j], p.acc[j], p.jerk[j], p.pot[j]) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros(), 0.0);
        self.admit(&rows, &[i], &before);
    }

    /// Makes two of one, of which the second takes a row that is empty, or a new one at the end.
    fn split(&mut self, i: usize, towards: Vec3) {
        self.synchronise(std::iter::once(i));
        let p = &mut self.p;
        let j = self.empty.first().map_or(p.len(), |&row| row as usize);
        if j == p.len() {
            p.id.push(j as u64);
            [&mut p.mass, &mut p.pot].into_iter().for_each(|column| column.push(0.0));
            [&mut p.pos, &mut p.vel, &mut p.acc, &mut p.jerk].into_iter().for_each(|column| column.push(Vec3::zeros()));
            p.time.push(self.now);
            p.step.push(Level::default());
        }
        let (before, apart) = (p.mass[i], towards * self.apart);
        (p.mass[i], p.mass[j]) = (0.75 * before, 0.25 * before);
        (p.pos[i], p.pos[j]) = (p.pos[i] - apart * 0.25, p.pos[i] + apart * 0.75);
        (p.vel[j], p.time[j]) = (p.vel[i], self.now);
        self.admit(&[i], &[i.min(j), i.max(j)], &[before]);
        self.pairs.push([i, j]);
    }

    /// Changes something after a block step: splits a particle of the block, makes one of those that parted last, or disturbs a
    /// few.
    fn change(&mut self, turn: usize) {
        let block: Vec<usize> = self.scheme.block().iter().map(|&i| i as usize).collect();
        let before = energy(&self.present(), EPSILON);
        let is_disturbed = turn % 4 == 3;
        match (turn % 4, self.pairs.pop()) {
            (2, Some(pair)) => self.merge(pair),
            (3, last) => {
                self.pairs.extend(last);
                let some: Vec<usize> = (0..self.p.len()).step_by(37).filter(|&i| self.has_particle(i)).collect();
                self.synchronise(some.iter().copied());
                let index = some.iter().map(|&i| i as u32).collect();
                self.scheme.evaluate_again(&mut self.p, &mut self.engine, index, self.now).unwrap();
            }
            (_, last) => {
                self.pairs.extend(last);
                self.split(block[turn % block.len()], [Vec3::x(), Vec3::y(), Vec3::z()][turn % 3]);
            }
        }
        // The same forces again give no energy.
        if !is_disturbed {
            self.gained += energy(&self.present(), EPSILON) - before;
        }
    }

    /// Goes on to `end`, with changes after every so many block steps.
    fn run(&mut self, end: Time, every: usize) {
        let mut turn = 0;
        for k in 1.. {
            if !self.step(end) {
                break;
            }
            if k % every == 0 {
                self.change(turn);
                turn += 1;
            }
        }
    }

    /// Largest error of the force by the lists and the regular parts as they are, relative to the whole force.
    fn error_of_lists(&mut self) -> f64 {
        let all = self.scheme.synchronised(&self.p, self.now, &mut self.engine).unwrap();
        let of = self.p.states.get::<Neighbours>();
        let index: Vec<u32> = (0..self.p.len() as u32).filter(|&i| self.has_particle(i as usize)).collect();
        assert!(index.iter().all(|&i| of.lists[i as usize].iter().all(|&j| self.has_particle(j as usize))));
        let mut at_once = all.clone();
        for i in 0..at_once.len() {
            (at_once.time[i], at_once.acc[i], at_once.jerk[i]) = (self.now, Vec3::zeros(), Vec3::zeros());
        }
        let (mut engine, block) = (engine(), Block::from_particles(&at_once, index));
        engine.load(&at_once).unwrap();
        let mut whole = Forces::default();
        engine.evaluate(self.now, block.view(), &mut whole).unwrap();
        let lists: Vec<&[u32]> = block.index.iter().map(|&i| &of.lists[i as usize][..]).collect();
        let (now, targets) = (self.now, block.view());
        let task = NeighbourTargets { now, targets, lists: &lists, regular: &[], radius: &[], max: usize::MAX };
        let mut parts = NeighbourForces::default();
        engine.evaluate_neighbours(&task, &mut parts).unwrap();
        let derivatives = &of.regular_history.derivatives;
        let error = |(k, &i): (usize, &u32)| {
            let (i, mut regular) = (i as usize, Vec3::zeros());
            let s = CLOCK.between(of.regular_time[i], self.now);
            for (order, column) in derivatives.iter().enumerate().rev() {
                regular = (regular + column[i]) * (s / (order + 2) as f64);
            }
            let regular = of.regular_acc[i] + (of.regular_jerk[i] + regular) * s;
            (parts.irregular.acc[k] + regular - whole.acc[k]).norm() / whole.acc[k].norm()
        };
        block.index.iter().enumerate().map(error).fold(0.0, f64::max)
    }
}

/// Relative error of the energy at the end, beyond what changes did to it.
fn error(kind: Kind, seed: u64, every: usize) -> (f64, u64) {
    let mut run = Run::new(kind, 256, seed);
    let first = energy(&run.p, EPSILON);
    run.run(Time::from_dt_max(8), every);
    let last = energy(&run.present(), EPSILON);
    ((last - first - run.gained).abs() / first.abs(), run.steps)
}

#[test]
fn verify_changes_leave_the_error_of_every_scheme() {
    for kind in KINDS {
        let mean = |every| {
            let all: Vec<(f64, u64)> = (1..=5).map(|seed| error(kind, seed, every)).collect();
            let steps = all.iter().map(|of| of.1).sum::<u64>() / 5;
            (all.iter().map(|of| of.0 * of.0).sum::<f64>().sqrt() / 5f64.sqrt(), steps)
        };
        let (plain, changing) = (mean(usize::MAX), mean(16));
        println!("{kind:?}: {:.1e} in {} steps, with changes {:.1e} in {}", plain.0, plain.1, changing.0, changing.1);
        assert!(changing.0 < 4.0 * plain.0, "{kind:?}");
    }
}

#[test]
fn lists_stay_those_of_the_force() {
    for order in [ahmad_cohen::Order::Four, ahmad_cohen::Order::Six] {
        let of = |every| {
            let (mut run, mut largest) = (Run::new(Kind::AhmadCohen(order), 300, 4), 0.0f64);
            run.apart = 0.01;
            for k in 1..800 {
                assert!(run.step(Time(u64::MAX)));
                if k % every == 0 {
                    run.change(k / every);
                    largest = largest.max(run.error_of_lists());
                }
                if every == usize::MAX && k % 8 == 0 {
                    largest = largest.max(run.error_of_lists());
                }
            }
            (largest, run.divided)
        };
        let [(plain, _), (changing, divided)] = [of(usize::MAX), of(4)];
        println!("{order:?}: {plain:.1e}, with changes {changing:.1e}; {divided} lists had one of two");
        assert!(divided > 5, "{divided}");
        assert!(changing < 2.0 * plain, "{order:?}");
    }
}

#[test]
fn neither_threads_nor_a_resume_change_a_bit() {
    for kind in KINDS {
        let of = |threads, resumes: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut run = Run::new(kind, 200, 3);
                for turn in 0..24 {
                    (0..5).for_each(|_| assert!(run.step(Time(u64::MAX))));
                    run.change(turn);
                    if resumes {
                        run = run.resumed(kind);
                    }
                }
                (0..40).for_each(|_| assert!(run.step(Time(u64::MAX))));
                (run.p.state_sha256(&CLOCK), run.p)
            })
        };
        let one = of(1, false);
        assert!(of(2, false) == one, "{kind:?}: two threads");
        assert!(of(1, true) == one, "{kind:?}: resumed");
    }
}
