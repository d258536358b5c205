//! The exported functions: pointers in, error codes out. Everything unsafe of this crate is here.
//!
//! Every function exists in two forms: C passes numbers by value, Fortran passes their addresses and appends an
//! underscore to the name. Neither form calls the other by name: a program may define its own C forms, as ph4 does, and
//! those must not be entered from here.
//!
//! # Safety
//! Of every function: a pointer is null or points to as many numbers as `include/g6.h` says. A null pointer where numbers
//! are needed is an error.

mod pointers;

use crate::cluster::{Cluster, Targets};
use crate::failure::{Code, Failure, Result};
use crate::registry;
use crate::settings::{GRAPE_PIPES, MAX_TARGETS, Settings, verbose};
use crate::sources::{NO_IDENTITY, Source};
pub use pointers::{Argument, Vector};
use pointers::{copied, store, store_vectors, vector, vectors};
use std::ffi::{c_double, c_float, c_int};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tisane::force::Forces;
use tisane::particles::{Vec3, components};

/// Runs the body of an exported function; returns its value, or the negative code of its error or panic.
fn guarded(name: &str, work: impl FnOnce() -> Result<c_int>) -> c_int {
    let panicked = |_| Err(Failure::new(Code::Internal, "a mistake in this library"));
    match catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked) {
        Ok(value) => value,
        Err(failure) => {
            // A wrong setting is always reported: in many headers `g6_open` returns nothing.
            if failure.code == Code::Setting || verbose() {
                say(format_args!("{name}: {failure}"));
            }
            failure.code as c_int
        }
    }
}

/// Prints a line; a closed standard error is no error.
fn say(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "tisane: {line}");
}

/// Declares exported functions in both forms, each with the function that does the work.
macro_rules! exported {
    ($($(#[$doc:meta])* fn $c:ident | $fortran:ident($($a:ident: $t:ty),*) = $work:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// See [the module](self).
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $c($($a: $t),*) -> c_int {
            // SAFETY: the contract of the module.
            #[allow(unused_unsafe, reason = "not every function takes pointers")]
            guarded(stringify!($c), || unsafe { ($work)($($a),*) })
        }

        $(#[$doc])*
        /// The Fortran form.
        ///
        /// # Safety
        /// See [the module](self).
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $fortran($($a: <$t as Argument>::InFortran),*) -> c_int {
            // SAFETY: the contract of the module.
            #[allow(unused_unsafe, reason = "not every function takes pointers")]
            guarded(stringify!($fortran), || unsafe { ($work)($(<$t as Argument>::read($a)?),*) })
        }
    )*};
}

exported! {
    /// Opens a cluster, as the environment says, in place of one that is open under this number.
    fn g6_open | g6_open_(id: c_int) = open;
    /// Closes a cluster.
    fn g6_close | g6_close_(id: c_int) = |id| registry::remove(id).map(|()| 0);
    /// Forgets the last call; the sources stay.
    fn g6_reset | g6_reset_(id: c_int) = reset;
    /// Does as `g6_reset`.
    fn g6_reset_fofpga | g6_reset_fofpga_(id: c_int) = reset;
    /// Does as `g6_reset`.
    fn g6_reinitialize | g6_reinitialize_(id: c_int) = reset;
    /// Returns the number of targets that clients send in one call.
    fn g6_npipes | g6_npipes_() = pipes;
    /// Does as `g6_npipes`.
    fn g6_get_number_of_pipelines | g6_get_number_of_pipelines_() = pipes;
    /// Sets the time of the calls that follow.
    fn g6_set_ti | g6_set_ti_(id: c_int, ti: c_double) = |id, ti| registry::with(id, |c| c.set_time(ti)).map(|()| 0);
    /// Stores a source at an address.
    fn g6_set_j_particle | g6_set_j_particle_(id: c_int, address: c_int, index: c_int, tj: c_double, dtj: c_double,
        mass: c_double, k18: *const Vector, j6: *const Vector, a2: *const Vector, v: *const Vector, x: *const Vector)
        = |id, address, identity, time, _, mass, k18, j6, a2, v, x|
            set_source(id, address, identity, time, mass, [k18, j6, a2, v, x]);
    /// Evaluates the forces that one of the functions `g6calc_lasthalf…` returns.
    fn g6calc_firsthalf | g6calc_firsthalf_(id: c_int, nj: c_int, ni: c_int, index: *const c_int, xi: *const Vector,
        vi: *const Vector, aold: *const Vector, jold: *const Vector, phiold: *const c_double, eps2: c_double,
        h2: *const c_double)
        = |id, nj, ni, index, xi, vi, _, _, _, eps2, h2| first_half(id, (nj, ni), index, [xi, vi], eps2, h2);
    /// Makes the neighbour lists of the last call. Returns 1 if one of them is longer than this library keeps.
    fn g6_read_neighbour_list | g6_read_neighbour_list_(id: c_int) = read_lists;
    /// Does as `g6_read_neighbour_list`.
    fn g6_read_neighbour_list_old | g6_read_neighbour_list_old_(id: c_int) = read_lists;
    /// Returns the neighbour list of one target of the last call. Returns 1 if it is longer than `maxlength`.
    fn g6_get_neighbour_list | g6_get_neighbour_list_(id: c_int, ipipe: c_int, maxlength: c_int, n: *mut c_int,
        list: *mut c_int) = get_list;
    /// Does nothing: lists are always sorted.
    fn g6_set_neighbour_list_sort_mode | g6_set_neighbour_list_sort_mode_(mode: c_int) = |_| Ok(0);
    /// Returns 1: lists are always sorted.
    fn g6_get_neighbour_list_sort_mode | g6_get_neighbour_list_sort_mode_() = || Ok(1);
    /// Does nothing: no sum overflows.
    fn g6_set_overflow_flag_test_mode | g6_set_overflow_flag_test_mode_(acc: c_int, jerk: c_int, pot: c_int)
        = |_, _, _| Ok(0);
    /// Does nothing: sources are always buffered.
    fn g6_initialize_jp_buffer | g6_initialize_jp_buffer_(id: c_int, size: c_int) = |_, _| Ok(0);
    /// Does nothing: every call sends the sources that changed.
    fn g6_flush_jp_buffer | g6_flush_jp_buffer_(id: c_int) = |_| Ok(0);
    /// Does nothing: memory grows with the addresses.
    fn g6_setup_njdata | g6_setup_njdata_(id: c_int, nj: c_int) = |_, _| Ok(0);
    /// Does nothing. In Phantom-GRAPE it writes a file.
    fn g6_dump | g6_dump_(t: c_double, n: c_int, m: *const c_double, x: *const Vector, v: *const Vector)
        = |_, _, _, _, _| Ok(0);
    /// Does nothing. In Phantom-GRAPE it writes a file.
    fn g6_debugfunc | g6_debugfunc_(number: c_int) = |_| Ok(0);
    /// Does nothing. In Phantom-GRAPE it writes a file.
    fn g6_debugfunc_double | g6_debugfunc_double_(number: c_double) = |_| Ok(0);
    /// Does nothing: there are no units. Declared without its argument, which is an int in some programs and a double in
    /// others.
    fn g6_set_tunit | g6_set_tunit_() = || Ok(0);
    /// Does nothing, as `g6_set_tunit`.
    fn g6_set_xunit | g6_set_xunit_() = || Ok(0);
}

/// Where a second half stores the forces.
struct ForceColumns {
    acc: *mut Vector,
    jerk: *mut Vector,
    pot: *mut c_double,
}

/// What a second half returns besides the forces.
#[derive(Default)]
struct Neighbours {
    /// Where it stores the identities of the nearest sources.
    nearest: Option<*mut c_int>,
    /// Where it stores their distances.
    distance: Option<*mut c_float>,
    /// Flag that it makes the neighbour lists.
    lists: bool,
}

/// Declares the second halves, each with what it returns besides the forces.
macro_rules! second_halves {
    ($($(#[$doc:meta])* $c:ident | $fortran:ident($($a:ident: $t:ty),*) = $more:expr;)*) => {exported! {$(
        $(#[$doc])*
        fn $c | $fortran(id: c_int, nj: c_int, ni: c_int, index: *const c_int, xi: *const Vector, vi: *const Vector,
            eps2: c_double, h2: *const c_double, acc: *mut Vector, jerk: *mut Vector, pot: *mut c_double $(, $a: $t)*)
            = |id, _, ni, _, _, _, _, _, acc, jerk, pot $(, $a)*| last_half(id, ni, ForceColumns { acc, jerk, pot }, $more);
    )*}};
}

second_halves! {
    /// Returns the forces.
    g6calc_lasthalf | g6calc_lasthalf_() = Neighbours::default();
    /// Returns the forces and the identities of the nearest sources.
    g6calc_lasthalf2 | g6calc_lasthalf2_(nnb: *mut c_int) = Neighbours { nearest: Some(nnb), ..Neighbours::default() };
    /// Returns the forces, the identities of the nearest sources, and their distances.
    g6calc_lasthalf2p | g6calc_lasthalf2p_(nnb: *mut c_int, rnnb: *mut c_float)
        = Neighbours { nearest: Some(nnb), distance: Some(rnnb), lists: false };
    /// Returns the forces, and makes the neighbour lists.
    g6calc_lasthalfn | g6calc_lasthalfn_() = Neighbours { lists: true, ..Neighbours::default() };
    /// Returns the forces and the identities of the nearest sources, and makes the neighbour lists.
    g6calc_lasthalf2n | g6calc_lasthalf2n_(nnb: *mut c_int)
        = Neighbours { nearest: Some(nnb), distance: None, lists: true };
    /// Returns the forces, the identities of the nearest sources and their distances, and makes the neighbour lists.
    g6calc_lasthalf2np | g6calc_lasthalf2np_(nnb: *mut c_int, rnnb: *mut c_float)
        = Neighbours { nearest: Some(nnb), distance: Some(rnnb), lists: true };
}

fn open(id: c_int) -> Result<c_int> {
    let settings = Settings::from_environment();
    registry::insert(id, settings.clone().and_then(Cluster::open))?;
    if verbose() {
        say(format_args!("cluster {id}: {}", settings?.describe()));
    }
    Ok(0)
}

fn reset(id: c_int) -> Result<c_int> {
    registry::with(id, |cluster| {
        cluster.reset();
        Ok(0)
    })
}

fn pipes() -> Result<c_int> {
    // Clients allocate this number of targets: it must be one, and `g6_open` reports a wrong setting.
    Ok(Settings::from_environment().map_or(GRAPE_PIPES, |settings| settings.pipes) as c_int)
}

/// Returns a number of targets as a length.
fn length(ni: c_int) -> Result<usize> {
    let problem = || Failure::argument(format!("ni = {ni}: expected 0 to {MAX_TARGETS}"));
    usize::try_from(ni).ok().filter(|&n| n <= MAX_TARGETS).ok_or_else(problem)
}

unsafe fn set_source(
    id: c_int,
    address: c_int,
    identity: c_int,
    time: c_double,
    mass: c_double,
    pointers: [*const Vector; 5],
) -> Result<c_int> {
    let mut read = [Vec3::zeros(); 5];
    for (to, from) in read.iter_mut().zip(pointers) {
        // SAFETY: the contract of the module.
        *to = unsafe { vector(from) }?;
    }
    let [snap18, jerk6, acc2, vel, pos] = read;
    let source = Source { identity, time, mass, snap18, jerk6, acc2, vel, pos };
    registry::with(id, |cluster| cluster.set_source(address, source)).map(|()| 0)
}

unsafe fn first_half(
    id: c_int,
    (nj, ni): (c_int, c_int),
    index: *const c_int,
    [xi, vi]: [*const Vector; 2],
    eps2: c_double,
    h2: *const c_double,
) -> Result<c_int> {
    let read = || {
        let n = length(ni)?;
        // SAFETY: the contract of the module. Only neighbour lists need h2.
        unsafe {
            let h2 = if h2.is_null() { vec![0.0; n] } else { copied(h2, n)? };
            Ok(Targets { identity: copied(index, n)?, pos: vectors(xi, n)?, vel: vectors(vi, n)?, h2, eps2 })
        }
    };
    registry::with(id, |cluster| cluster.begin(nj, read())).map(|()| 0)
}

unsafe fn last_half(
    id: c_int,
    ni: c_int,
    ForceColumns { acc, jerk, pot }: ForceColumns,
    Neighbours { nearest: nnb, distance, lists }: Neighbours,
) -> Result<c_int> {
    let n = length(ni)?;
    let done = registry::with(id, |cluster| {
        let forces = cluster.forces(n)?;
        // SAFETY: the contract of the module.
        unsafe {
            store_vectors(&forces.acc, acc)?;
            store_vectors(&forces.jerk, jerk)?;
            store(&forces.pot, pot)?;
        }
        if let Some(nnb) = nnb {
            let nearest = cluster.nearest()?;
            // SAFETY: the contract of the module.
            unsafe { store(&nearest.iter().map(|found| found.identity).collect::<Vec<_>>(), nnb) }?;
            if let Some(to) = distance {
                // SAFETY: the contract of the module.
                unsafe { store(&nearest.iter().map(|found| found.distance as f32).collect::<Vec<_>>(), to) }?;
            }
        }
        if lists {
            cluster.make_lists()?;
        }
        Ok(is_finite(cluster.forces(n)?))
    });
    match done {
        Ok(true) => Ok(0),
        Ok(false) => {
            let problem =
                "a force is not finite: two particles at one place without softening, or too close for the mode";
            Err(Failure::new(Code::Number, problem))
        }
        Err(failure) => {
            // Many clients do not look at the error code: nothing that looks like a force must be left for them.
            let nothing = vec![Vec3::repeat(f64::NAN); n];
            // SAFETY: the contract of the module. A null pointer may be what the failure is about.
            unsafe {
                let _ = store_vectors(&nothing, acc);
                let _ = store_vectors(&nothing, jerk);
                let _ = store(&vec![f64::NAN; n], pot);
                let _ = nnb.map(|nnb| store(&vec![NO_IDENTITY; n], nnb));
            }
            Err(failure)
        }
    }
}

fn is_finite(forces: &Forces) -> bool {
    let finite = |vectors: &[Vec3]| components(vectors).iter().all(|number| number.is_finite());
    finite(&forces.acc) && finite(&forces.jerk) && forces.pot.iter().all(|number| number.is_finite())
}

fn read_lists(id: c_int) -> Result<c_int> {
    registry::with(id, Cluster::make_lists).map(c_int::from)
}

unsafe fn get_list(id: c_int, ipipe: c_int, maxlength: c_int, n: *mut c_int, list: *mut c_int) -> Result<c_int> {
    let room = usize::try_from(maxlength).map_err(|_| Failure::argument(format!("maxlength = {maxlength}")))?;
    registry::with(id, |cluster| {
        let found = cluster.list(ipipe)?;
        let all = &found.identities;
        let kept = all.len().min(room);
        // SAFETY: the contract of the module. A client that ignores the overflow reads no more than there is room for.
        unsafe {
            store(&all[..kept], list)?;
            store(&[kept as c_int], n)?;
        }
        Ok(c_int::from(kept < all.len() || found.overflow))
    })
}

/// Opens cluster 0, as `g6_open`: which device that is, the environment says. Of Sapporo.
#[unsafe(no_mangle)]
pub extern "C" fn g6_open_special(_devices: c_int, _list: *const c_int) -> c_int {
    guarded("g6_open_special", || open(0))
}

/// Opens cluster 0, as `g6_open_special`, for any number of sources. Of Sapporo.
#[unsafe(no_mangle)]
pub extern "C" fn g6_open_special2(_devices: c_int, _list: *const c_int, _max: c_int) -> c_int {
    guarded("g6_open_special2", || open(0))
}

/// Does nothing: every call sends the sources that changed. Of Sapporo.
#[unsafe(no_mangle)]
pub extern "C" fn force_j_particle_send() {}

/// Returns what is known of the source at an address of the open cluster with the lowest number: its state, and position
/// and velocity at the time of the calls. Of Sapporo, where the last three are references of C++.
///
/// # Safety
/// See [the module](self).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn get_j_part_data(
    address: c_int,
    _nj: c_int,
    pos: *mut Vector,
    vel: *mut Vector,
    acc: *mut Vector,
    jerk: *mut Vector,
    predicted_pos: *mut Vector,
    predicted_vel: *mut Vector,
    mass: *mut c_double,
    eps2: *mut c_double,
    index: *mut c_int,
) -> c_int {
    guarded("get_j_part_data", || {
        let (source, (x, v), softening) = registry::with(registry::lowest()?, |cluster| cluster.source(address))?;
        let vectors = [source.pos, source.vel, source.acc(), source.jerk(), x, v];
        for (vector, to) in vectors.iter().zip([pos, vel, acc, jerk, predicted_pos, predicted_vel]) {
            // SAFETY: the contract of the module.
            unsafe { store_vectors(std::slice::from_ref(vector), to) }?;
        }
        // SAFETY: the contract of the module.
        unsafe {
            store(&[source.mass], mass)?;
            store(&[softening], eps2)?;
            store(&[source.identity], index)?;
        }
        Ok(0)
    })
}
