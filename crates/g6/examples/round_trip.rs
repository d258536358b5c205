//! Measures a round trip of a block step through the library, against the engine alone.
//!
//!     cargo run --release -p tisane-g6 --example round_trip [SOURCES [TARGETS [REPETITIONS]]]
//!
//! A round trip sets the time, stores as many sources as there are targets, and asks for the forces on those. The engine
//! alone updates the same sources and evaluates the same block. `TISANE_DEVICE` and `TISANE_PRECISION` choose for both.
#![allow(unsafe_code, reason = "the functions of the library take pointers")]

use g6::ffi::{
    Vector, g6_close, g6_open, g6_set_j_particle, g6_set_ti, g6calc_firsthalf, g6calc_lasthalf, g6calc_lasthalf2,
};
use g6::settings::Settings;
use std::ptr::null;
use std::time::Instant;
use tisane::force::{Block, Forces};
use tisane::initial::plummer;
use tisane::particles::Particles;
use tisane::time::{Clock, Time};

const ID: i32 = 0;
const EPS2: f64 = 1e-6;
const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 / 8.0 };

/// The library, as a client uses it.
struct Library {
    index: Vec<i32>,
    x: Vec<Vector>,
    v: Vec<Vector>,
    acc: Vec<Vector>,
    jerk: Vec<Vector>,
    pot: Vec<f64>,
    nnb: Vec<i32>,
}

fn store(p: &Particles, i: usize, t: f64) {
    let zero = [0.0; 3];
    let (x, v) = (p.pos[i].into(), p.vel[i].into());
    let code = unsafe { g6_set_j_particle(ID, i as i32, i as i32, t, 0.0, p.mass[i], &zero, &zero, &zero, &v, &x) };
    assert_eq!(code, 0);
}

impl Library {
    fn new(block: &Block) -> Self {
        let n = block.len();
        Self {
            index: block.index.iter().map(|&i| i as i32).collect(),
            x: block.pos.iter().map(|&x| x.into()).collect(),
            v: block.vel.iter().map(|&v| v.into()).collect(),
            acc: vec![[0.0; 3]; n],
            jerk: vec![[0.0; 3]; n],
            pot: vec![0.0; n],
            nnb: vec![0; n],
        }
    }

    fn round_trip(&mut self, p: &Particles, now: Time, nearest: bool) {
        let (nj, ni) = (p.len() as i32, self.index.len() as i32);
        let t = CLOCK.time(now);
        let (index, x, v) = (self.index.as_ptr(), self.x.as_ptr(), self.v.as_ptr());
        let (acc, jerk, pot) = (self.acc.as_mut_ptr(), self.jerk.as_mut_ptr(), self.pot.as_mut_ptr());
        self.index.iter().for_each(|&i| store(p, i as usize, t));
        let code = unsafe {
            g6_set_ti(ID, t);
            g6calc_firsthalf(ID, nj, ni, index, x, v, null(), null(), null(), EPS2, null());
            if nearest {
                g6calc_lasthalf2(ID, nj, ni, index, x, v, EPS2, null(), acc, jerk, pot, self.nnb.as_mut_ptr())
            } else {
                g6calc_lasthalf(ID, nj, ni, index, x, v, EPS2, null(), acc, jerk, pot)
            }
        };
        assert_eq!(code, 0);
    }
}

fn microseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> tisane::Result<()> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let number = |k: usize, default: usize| numbers.get(k).copied().unwrap_or(default);
    let (n, m, repetitions) = (number(0, 16384), number(1, 64), number(2, 300).max(1));
    let p = plummer::sample(n, 1, 0.999);
    let block = Block::from_particles(&p, (0..m).map(|k| (k * n / m) as u32).collect());
    if unsafe { g6_open(ID) } != 0 {
        std::process::exit(2);
    }
    let settings = Settings::from_environment().expect("the settings that were opened");
    let mut engine = settings.kind.open(settings.precision, EPS2.sqrt(), CLOCK, settings.device)?;
    engine.load(&p)?;
    (0..n).for_each(|i| store(&p, i, 0.0));

    let mut library = Library::new(&block);
    let mut out = Forces::default();
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for step in 0..repetitions + 20 {
        let now = Time(step as u64);
        let alone = microseconds(|| {
            let done = engine.update(&p, &block.index).and_then(|()| engine.evaluate(now, block.view(), &mut out));
            done.expect("forces");
        });
        let through = microseconds(|| library.round_trip(&p, now, false));
        let nearest = microseconds(|| library.round_trip(&p, now, true));
        // The first ones warm up.
        if step >= 20 {
            times.iter_mut().zip([alone, through, nearest]).for_each(|(all, time)| all.push(time));
        }
    }
    unsafe { g6_close(ID) };
    let [alone, through, nearest] = times.map(median);
    println!("{n} sources, {m} targets, {}, median of {repetitions}", settings.describe());
    println!("engine alone               {alone:8.1} us");
    println!("g6calc_lasthalf            {through:8.1} us   {:.3}", through / alone);
    println!("g6calc_lasthalf2 (nearest) {nearest:8.1} us   {:.3}", nearest / alone);
    Ok(())
}
