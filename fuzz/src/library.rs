//! Calls of the C library in any order with any numbers: none ends in a mistake of tisane, and what it returns is finite.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::{null, null_mut};
use tisane_capi::forces::{tisane_forces_close, tisane_forces_evaluate, tisane_forces_open};
use tisane_capi::forces::{tisane_forces_set, tisane_forces_set_some};
use tisane_capi::simulation::*;
use tisane_capi::status::tisane_last_error;
use tisane_capi::{Status, TisaneVectors};

/// Largest number of particles of a call.
const MAX: usize = 4;

const SETTINGS: [&str; 10] = [
    "force.threads=1",
    "softening.epsilon=0.1",
    "softening.epsilon=0",
    "integrator={multipoint={}}",
    "integrator={hermite4={dt_max=0.5}}",
    "integrator={leapfrog={dt=0.0625}}",
    "force.precision=mixed",
    "units={mass='Msun',length='pc',time='Myr'}",
    "integrator.hermite4.nue=1",
    "integrator={ahmad_cohen={neighbours=2}}",
];

/// Bytes as arguments; zeros once they are used up.
struct Arguments<'a>(&'a [u8]);

impl Arguments<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().map_or((0, self.0), |(first, rest)| (*first, rest));
        self.0 = rest;
        first
    }

    /// Mostly small numbers, and some that no array should hold.
    fn number(&mut self) -> f64 {
        match self.byte() {
            250 => f64::NAN,
            251 => f64::INFINITY,
            252 => -1e300,
            253 => 1e-300,
            254 => f64::from_bits(u64::from_le_bytes(std::array::from_fn(|_| self.byte()))),
            small => (f64::from(small) - 100.0) / 32.0,
        }
    }

    fn numbers<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| self.number())
    }

    /// A count that is mostly good, and sometimes negative.
    fn count(&mut self) -> i64 {
        i64::from(self.byte() % 16) % (MAX as i64 + 2) - 1
    }
}

fn rows(of: &mut [f64; 3 * MAX], left_out: bool) -> TisaneVectors {
    let at = of.as_mut_ptr();
    if left_out {
        return TisaneVectors { x: null_mut(), y: null_mut(), z: null_mut(), stride: 0 };
    }
    TisaneVectors { x: at, y: at.wrapping_add(1), z: at.wrapping_add(2), stride: 3 }
}

unsafe extern "C" fn a_few(_: f64, steps: u64, data: *mut c_void) -> c_int {
    // SAFETY: the number of steps at which this stops, which lives as long as the call.
    let until = unsafe { &*data.cast::<u64>() };
    c_int::from(steps < *until)
}

/// Expects a status that is no mistake of tisane; returns true for success.
fn told(status: Status) -> bool {
    // SAFETY: the text of this thread, before the next call.
    let text = unsafe { CStr::from_ptr(tisane_last_error()) };
    let good = matches!(status, Status::TISANE_OK | Status::TISANE_STOPPED);
    assert!(status != Status::TISANE_BUG, "{text:?}");
    assert!(good || !text.is_empty(), "{status:?} without a text");
    good
}

/// Calls of the library, one after the other.
pub fn library(bytes: &[u8]) {
    let mut arguments = Arguments(bytes);
    let (mut forces, mut simulation) = (0, 0);
    // SAFETY: every array has room for MAX vectors, more than a count asks for that is not refused.
    unsafe {
        told(tisane_forces_open(c"cpu".as_ptr(), null(), arguments.number(), &mut forces));
        assert!(told(tisane_simulation_new(c"force.threads = 1".as_ptr(), &mut simulation)));
        for _ in 0..24 {
            if arguments.0.is_empty() {
                break;
            }
            call(&mut arguments, forces, simulation);
        }
    }
    tisane_forces_close(forces);
    assert!(told(tisane_simulation_close(simulation)));
    assert!(!told(tisane_simulation_close(simulation)));
}

/// Makes one call.
unsafe fn call(arguments: &mut Arguments<'_>, forces: u64, simulation: u64) {
    let what = arguments.byte();
    let (n, left_out) = (arguments.count(), what & 64 != 0);
    let (mass, mut pos, mut vel) = (arguments.numbers::<MAX>(), arguments.numbers(), arguments.numbers());
    let id: [u64; MAX] = std::array::from_fn(|_| u64::from(arguments.byte() % 8));
    let (mut acc, mut pot) = ([0.0; 3 * MAX], [0.0; MAX]);
    let (pos, vel) = (rows(&mut pos, false), rows(&mut vel, left_out));
    let (out, none) = (rows(&mut acc, false), rows(&mut [0.0; 3 * MAX], true));
    let id_or_null = if left_out { null() } else { id.as_ptr() };
    // SAFETY: as of the caller.
    unsafe {
        match what % 16 {
            0 => {
                told(tisane_forces_set(forces, n, mass.as_ptr(), pos, vel));
            }
            1 => {
                told(tisane_forces_set_some(forces, n, id.as_ptr(), mass.as_ptr(), pos, vel));
            }
            2 => {
                if told(tisane_forces_evaluate(forces, n, id_or_null, pos, vel, out, none, pot.as_mut_ptr())) {
                    assert!(acc.iter().chain(&pot).all(|x| x.is_finite()));
                }
            }
            3 | 4 => {
                let all = rows(&mut acc, left_out);
                told(tisane_simulation_add(simulation, n, id_or_null, mass.as_ptr(), pos, pos, null_mut()));
                told(tisane_simulation_change(simulation, n, id.as_ptr(), null(), all, vel));
            }
            5 => {
                told(tisane_simulation_remove(simulation, n.min(2), id.as_ptr()));
            }
            6 => {
                let setting = CString::new(SETTINGS[usize::from(arguments.byte()) % SETTINGS.len()]).expect("no zeros");
                told(tisane_simulation_set(simulation, setting.as_ptr()));
            }
            7..=10 => {
                let mut measured = TisaneMeasured::default();
                tisane_simulation_measure(simulation, &mut measured);
                let mut until = measured.block_steps + 20;
                let data = (&raw mut until).cast();
                told(tisane_simulation_integrate(simulation, arguments.number().abs(), Some(a_few), data));
            }
            11 => {
                told(tisane_simulation_field_at(simulation, n, pos, vel, out, none, pot.as_mut_ptr()));
            }
            12 => {
                let mut measured = TisaneMeasured::default();
                if told(tisane_simulation_measure(simulation, &mut measured)) {
                    assert!(measured.kinetic_energy >= 0.0, "{measured:?}");
                }
            }
            _ => {
                let mut there = 0;
                assert!(told(tisane_simulation_count(simulation, &mut there)));
                if there <= MAX as i64
                    && told(tisane_simulation_particles(simulation, there, null_mut(), null_mut(), out, none))
                {
                    assert!(acc.iter().all(|x| x.is_finite()), "{acc:?}");
                }
            }
        }
    }
}
