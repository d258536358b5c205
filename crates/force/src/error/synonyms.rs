//! Names that users of other codes try, and what they are called here.

/// Name here, and names elsewhere: small letters, with `_` for blanks and hyphens.
type Synonyms = (&'static str, &'static [&'static str]);

/// Where a name elsewhere has several meanings, the first that is valid in its place is taken.
const SYNONYMS: &[Synonyms] = &[
    // Sections.
    ("initial", &["bodies", "particles", "ic", "ics", "initial_conditions", "model", "cluster_model", "input"]),
    ("integrator", &["scheme", "solver", "method", "steps", "timestepping", "integration"]),
    ("softening", &["eps", "epsilon", "eps2", "gravity", "plummer_softening"]),
    ("external", &["tide", "tides", "tidal", "tidal_field", "galaxy", "potential", "external_potential", "field"]),
    (
        "encounters",
        &["regularization", "regularisation", "ks", "chain", "sdar", "arwv", "kira", "smalln", "subsystems"],
    ),
    ("collisions", &["mergers", "merge", "merging", "coalescence", "stellar_collisions"]),
    ("escapers", &["escape", "ejections", "removal", "remove"]),
    ("checkpoint", &["restart", "dump", "backup", "common"]),
    ("output", &["io", "files", "snapshots", "diagnostics"]),
    ("force", &["engine", "hardware", "parallel", "compute", "gravity_engine"]),
    ("masses", &["imf", "mass_function", "mf", "stellar_masses"]),
    ("binaries", &["primordial_binaries", "binary_population"]),
    ("limits", &["stop", "stopping", "termination", "walltime"]),
    // Keys.
    ("epsilon", &["softening", "soft", "eps2", "softening_length", "plummer_softening", "b", "rsoft", "a"]),
    ("nu", &["eta", "accuracy", "eta_acc", "etai", "tolerance", "timestep_parameter"]),
    ("eta", &["nu", "accuracy", "etai", "tolerance", "timestep_parameter"]),
    ("dt_max", &["dt", "timestep", "time_step", "step", "max_step", "dtmax", "max_timestep", "maxstep"]),
    ("dt", &["dt_max", "timestep", "time_step", "step"]),
    ("dt_min", &["min_step", "dtmin", "smin", "min_timestep"]),
    (
        "t_end",
        &["tend", "tmax", "t_max", "tcrit", "tstop", "t_stop", "end_time", "time_end", "t_final", "duration", "time"],
    ),
    ("t_start", &["tstart", "t0", "t_begin", "time_begin", "start_time", "begin"]),
    ("n", &["number", "nbody", "n_body", "nbodies", "n_bodies", "npart", "n_particles", "nstars", "n_stars", "bodies"]),
    ("seed", &["rng", "random_seed", "rng_seed", "iseed", "nrand", "idum"]),
    ("half_mass_radius", &["rh", "r_h", "rhm", "r_hm", "half_mass", "rhalf"]),
    ("virial_radius", &["rv", "r_v", "rvir", "r_vir", "rbar"]),
    ("virial_ratio", &["q", "qvir", "q_vir", "virial"]),
    ("fraction", &["fbin", "f_bin", "binary_fraction", "fb"]),
    ("interval", &["dt_out", "dtout", "deltat", "dtadj", "output_interval", "every", "dt_output", "cadence"]),
    ("snapshot_interval", &["dt_snap", "dtsnap", "snapshot_dt", "dt_snapshot"]),
    ("diagnostics_interval", &["dt_diag", "dtdiag", "log_interval"]),
    ("directory", &["outdir", "out_dir", "output_dir", "output_directory", "dir", "path", "folder"]),
    ("path", &["file", "filename", "file_name", "name"]),
    ("threads", &["nthreads", "n_threads", "num_threads", "ncores", "n_cores", "cores", "ncpu", "omp_num_threads"]),
    ("engine", &["backend", "hardware", "processor"]),
    ("precision", &["mode", "float", "real", "dtype"]),
    ("system", &["units", "unit_system"]),
    ("velocity", &["vel", "speed", "v"]),
    ("position", &["pos", "coordinates", "coords", "xyz"]),
    ("mass", &["m", "masses", "total_mass", "mtot"]),
    // Words.
    ("cuda", &["gpu", "gpus", "nvidia", "device", "opencl", "hip", "card"]),
    ("cpu", &["simd", "avx", "avx2", "avx512", "openmp", "host", "threads", "core"]),
    ("f64", &["double", "fp64", "float64", "dp", "real8", "quad"]),
    ("f32-chamomile", &["single", "fp32", "float32", "f32", "sp", "real4"]),
    ("hermite4", &["hermite", "p(ec)", "pec", "ph4", "hermite_4"]),
    ("multipoint", &["hermite6", "hermite8", "hermite_6", "6th_order", "ias15"]),
    ("extrapolated", &["gragg_bulirsch_stoer", "bulirsch_stoer", "gbs", "bs", "brutus", "extrapolation"]),
    ("ahmad_cohen", &["neighbour", "neighbor", "neighbours", "neighbors", "nbody6", "ac"]),
    ("leapfrog", &["kdk", "dkd", "verlet", "symplectic", "whfast", "wisdom_holman", "leap_frog"]),
    ("henon", &["nbody", "n_body", "nb", "hénon", "heggie", "none", "dimensionless", "natural", "code", "nbu"]),
    ("Msun", &["solar_mass", "solarmass", "solmass", "msol", "m_sun", "m_sol", "solar", "msuns"]),
    ("pc", &["parsec", "parsecs"]),
    ("kpc", &["kiloparsec", "kiloparsecs"]),
    ("au", &["astronomical_unit"]),
    ("km/s", &["kms", "km_s", "kmps", "kms_1", "km_s_1", "kilometre_per_second"]),
    ("Myr", &["myrs", "mega_year", "million_years"]),
    ("yr", &["year", "years", "yrs"]),
    ("gadget", &["gadget2", "gadget_2", "gadget4", "gadget_4", "gizmo", "arepo", "swift", "hdf5"]),
    ("nbody6", &["nbody6++", "nbody7", "dat.10", "fort.10", "ascii", "text", "txt"]),
];

/// Returns the valid name that `found` is elsewhere; [`None`] if it is none.
pub(super) fn synonym<'a>(found: &str, valid: &[&'a str]) -> Option<&'a str> {
    let plain = found.trim().to_lowercase().replace([' ', '-'], "_");
    let names = SYNONYMS.iter().filter(|(_, elsewhere)| elsewhere.contains(&plain.as_str()));
    let mut valid_ones = names.filter_map(|(here, _)| valid.iter().find(|name| *name == here));
    valid_ones.next().copied()
}
