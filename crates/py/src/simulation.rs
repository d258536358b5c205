//! Simulation in memory, as the package's `Simulation` holds it.

use crate::arrays::{Numbers, Vectors, Whole, numbers, to_numbers, to_vectors, vectors, whole};
use crate::errors::{busy, exception};
use crate::forces::{Arrays, to_arrays};
use crate::function::{Function, Raised, calling};
use crate::run::{REPORT, execute};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};
use tisane::diagnostics::relative_error::Spread;
use tisane::error::Result;
use tisane::force::external::ExternalField;
use tisane::particles::Vec3;
use tisane_io::checkpoint;
use tisane_io::fields::StellarRow;
use tisane_run::in_memory::{Changes, InMemory, Stars};
use tisane_run::system::System;

/// Time between looks at a simulation that another thread uses.
const LOOK: Duration = Duration::from_millis(1);

/// Simulation that one thread at a time uses. Others wait, with Python's lock released; a thread that would wait for
/// itself gets an exception.
#[pyclass(frozen)]
pub(crate) struct Core {
    place: Mutex<Place>,
    raised: Raised,
    process: u32,
}

/// Where the simulation is.
enum Place {
    Here(Box<InMemory>),
    Lent(ThreadId),
    /// A panic has left it in an unknown state.
    Lost,
}

/// Simulation that was taken out of its place, and goes back.
struct Lease<'a> {
    core: &'a Core,
    held: Option<Box<InMemory>>,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let back = self.held.take().filter(|_| !thread::panicking());
        *self.core.place() = back.map_or(Place::Lost, Place::Here);
    }
}

impl Lease<'_> {
    /// Runs `work` without Python's lock.
    fn run<T: Send>(&mut self, py: Python<'_>, work: impl FnOnce(&mut InMemory) -> Result<T> + Send) -> PyResult<T> {
        let Some(held) = &mut self.held else { return Err(busy("the simulation is not here")) };
        let done = py.detach(|| work(held));
        match (self.core.raised.take(), done) {
            (Some(raised), _) => Err(raised),
            (None, done) => done.map_err(|error| exception(py, &error)),
        }
    }
}

/// Returns a change of type of a star as a dictionary, with the names of the journal.
fn star_event(py: Python<'_>, row: StellarRow) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("event", row.event)?;
    found.set_item("id", row.id)?;
    found.set_item("other_id", row.other_id.parse::<u64>().ok())?;
    found.set_item("type_before", row.type_before)?;
    found.set_item("type", row.stellar_type)?;
    for (name, value) in [
        ("time", row.time.0),
        ("applied", row.applied.0),
        ("initial_mass", row.initial_mass),
        ("mass_before", row.mass_before),
        ("mass", row.mass),
        ("core_mass", row.core_mass),
        ("radius", row.radius),
        ("luminosity", row.luminosity),
        ("temperature", row.temperature),
        ("fallback", row.fallback),
    ] {
        found.set_item(name, value)?;
    }
    found.set_item("kick", to_numbers(py, row.kick.as_slice().to_vec()))?;
    Ok(found)
}

impl Core {
    fn place(&self) -> std::sync::MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn from_made(made: InMemory) -> Self {
        let place = Mutex::new(Place::Here(Box::new(made)));
        Self { place, raised: Raised::default(), process: std::process::id() }
    }

    /// Makes one without Python's lock.
    fn make(py: Python<'_>, make: impl FnOnce() -> Result<InMemory> + Send) -> PyResult<Self> {
        py.detach(make).map(Self::from_made).map_err(|error| exception(py, &error))
    }

    /// Takes the simulation, once no other thread uses it.
    fn take(&self, py: Python<'_>) -> PyResult<Lease<'_>> {
        let this = thread::current().id();
        if self.process != std::process::id() {
            return Err(busy(
                "this simulation was made by the process from which this one was forked: make it in the process that \
                 uses it, for example by starting workers with \"spawn\"",
            ));
        }
        loop {
            {
                let mut place = self.place();
                match &*place {
                    Place::Here(_) => {
                        if let Place::Here(held) = std::mem::replace(&mut *place, Place::Lent(this)) {
                            return Ok(Lease { core: self, held: Some(held) });
                        }
                    }
                    Place::Lent(by) if *by == this || calling() => {
                        return Err(busy(
                            "this simulation is in use: a function that it calls while it integrates cannot use it",
                        ));
                    }
                    Place::Lent(_) => {}
                    Place::Lost => return Err(busy("this simulation was lost by a failure inside of tisane")),
                }
            }
            py.check_signals()?;
            py.detach(|| thread::sleep(LOOK));
        }
    }

    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut InMemory) -> Result<T> + Send) -> PyResult<T> {
        self.take(py)?.run(py, work)
    }
}

/// Identities, masses, positions and velocities.
type State<'py> =
    (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

#[pymethods]
impl Core {
    #[new]
    fn new(py: Python<'_>, text: &str, base: PathBuf, settings: Vec<String>) -> PyResult<Self> {
        Self::make(py, || InMemory::new(text, &base, &settings))
    }

    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf, settings: Vec<String>) -> PyResult<Self> {
        Self::make(py, || InMemory::from_file(&path, &settings))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::make(py, || InMemory::load(&path))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with(py, |simulation| simulation.save(&path))
    }

    fn set(&self, py: Python<'_>, settings: Vec<String>) -> PyResult<()> {
        self.with(py, |simulation| simulation.set_all(&settings))
    }

    fn config(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |simulation| simulation.config().resolved_toml())
    }

    /// Returns the names of the units of mass, length, velocity and time, the gravitational constant, and length / velocity
    /// in units of time.
    fn units(&self, py: Python<'_>) -> PyResult<([String; 4], f64, f64)> {
        let units = self.with(py, |simulation| Ok(simulation.units()))?;
        let (g, time) = (units.g(), units.dynamical_time());
        Ok(([units.mass, units.length, units.velocity, units.time].map(|unit| unit.name), g, time))
    }

    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |simulation| Ok(simulation.time()))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |simulation| Ok(simulation.len()))
    }

    fn engine(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |simulation| Ok(simulation.engine().to_owned()))
    }

    fn state_sha256(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, InMemory::state_sha256)
    }

    fn start(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, InMemory::start)
    }

    fn state<'py>(&self, py: Python<'py>) -> PyResult<State<'py>> {
        let state = self.with(py, InMemory::state)?;
        Ok((
            to_numbers(py, state.id),
            to_numbers(py, state.mass),
            to_vectors(py, state.pos)?,
            to_vectors(py, state.vel)?,
        ))
    }

    /// Returns place and velocity of the origin in the external fields; none where it does not move.
    fn orbit(&self, py: Python<'_>) -> PyResult<Option<[[f64; 3]; 2]>> {
        let found = self.with(py, InMemory::orbit)?;
        Ok(found.map(|vectors| vectors.map(Into::into)))
    }

    /// Returns the types of stars that age, and their numbers by name.
    fn stars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stars = self.with(py, InMemory::stars)?;
        let found = PyDict::new(py);
        for name in Stars::COLUMNS.into_iter().filter(|name| *name != "type") {
            found.set_item(name, to_numbers(py, stars.column(name).map_err(|error| exception(py, &error))?))?;
        }
        found.set_item("type", to_numbers(py, stars.stellar_type))?;
        Ok(found)
    }

    /// Returns the changes of type of stars so far, as dictionaries.
    fn star_events<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let rows = self.with(py, InMemory::star_events)?;
        rows.into_iter().map(|row| star_event(py, row)).collect()
    }

    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Arrays<'py>> {
        let found = self.with(py, InMemory::forces)?;
        to_arrays(py, found)
    }

    fn field_at<'py>(&self, py: Python<'py>, pos: Vectors<'py>, vel: Vectors<'py>) -> PyResult<Arrays<'py>> {
        let (pos, vel) = (vectors(&pos)?, vectors(&vel)?);
        let found = self.with(py, |simulation| simulation.field_at(&pos, &vel))?;
        to_arrays(py, found)
    }

    fn measure<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let measured = self.with(py, InMemory::measure)?;
        let found = PyDict::new(py);
        for (name, value) in [
            ("time", measured.time),
            ("kinetic_energy", measured.kinetic_energy),
            ("potential_energy", measured.potential_energy),
            ("external_potential_energy", measured.external_potential_energy),
            ("energy", measured.energy),
            ("energy_error", measured.energy_error),
            ("virial_ratio", measured.virial_ratio),
        ] {
            found.set_item(name, value)?;
        }
        for (name, value) in [
            ("momentum", measured.momentum),
            ("angular_momentum", measured.angular_momentum),
            ("centre_of_mass", measured.centre_of_mass),
        ] {
            found.set_item(name, to_numbers(py, value.as_slice().to_vec()))?;
        }
        let Some(audit) = measured.audit else {
            found.set_item("audit", py.None())?;
            return Ok(found);
        };
        let errors = PyDict::new(py);
        errors.set_item("sample", audit.sample)?;
        for (name, spread) in [("acc", Some(audit.acc)), ("jerk", audit.jerk), ("pot", audit.pot)] {
            errors.set_item(name, spread.map(|Spread { max, rms, p99 }| [("max", max), ("rms", rms), ("p99", p99)]))?;
        }
        found.set_item("audit", errors)?;
        Ok(found)
    }

    /// Returns the numbers of block steps, particle steps, pairs and steps clamped at dt_min since the start.
    fn counters(&self, py: Python<'_>) -> PyResult<[u64; 4]> {
        self.with(py, |simulation| {
            simulation.start()?;
            let counters = simulation.system().map(|system| system.state.counters).unwrap_or_default();
            Ok([counters.block_steps, counters.particle_steps, counters.pair_interactions, counters.clamped_steps])
        })
    }

    fn add<'py>(
        &self,
        py: Python<'py>,
        id: Option<Whole<'py>>,
        mass: Numbers<'py>,
        pos: Vectors<'py>,
        vel: Vectors<'py>,
        columns: Vec<(String, Numbers<'py>)>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let id = id.as_ref().map(whole).transpose()?;
        let (mass, pos, vel) = (numbers(&mass)?, vectors(&pos)?, vectors(&vel)?);
        let column = |(name, values): &(String, Numbers<'py>)| Ok((name.clone(), numbers(values)?.to_vec()));
        let columns = columns.iter().map(column).collect::<PyResult<Vec<(String, Vec<f64>)>>>()?;
        let columns: Vec<(&str, &[f64])> = columns.iter().map(|(name, values)| (&**name, &**values)).collect();
        let add = |simulation: &mut InMemory| simulation.add_with_columns(id.as_deref(), &mass, (&pos, &vel), &columns);
        Ok(to_numbers(py, self.with(py, add)?))
    }

    /// Returns the names of the columns that the law reads.
    fn column_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |simulation| Ok(simulation.column_names()))
    }

    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(to_numbers(py, self.with(py, |simulation| simulation.column(name))?))
    }

    fn set_column(&self, py: Python<'_>, name: &str, id: Whole<'_>, values: Numbers<'_>) -> PyResult<()> {
        let (id, values) = (whole(&id)?, numbers(&values)?);
        self.with(py, |simulation| simulation.set_column(name, &id, &values))
    }

    fn remove(&self, py: Python<'_>, id: Whole<'_>) -> PyResult<()> {
        let id = whole(&id)?;
        self.with(py, |simulation| simulation.remove(&id))
    }

    fn change(
        &self,
        py: Python<'_>,
        id: Whole<'_>,
        mass: Option<Numbers<'_>>,
        pos: Option<Vectors<'_>>,
        vel: Option<Vectors<'_>>,
    ) -> PyResult<()> {
        let id = whole(&id)?;
        let mass = mass.as_ref().map(numbers).transpose()?;
        let pos: Option<Vec<Vec3>> = pos.as_ref().map(vectors).transpose()?;
        let vel: Option<Vec<Vec3>> = vel.as_ref().map(vectors).transpose()?;
        self.with(py, |simulation| {
            simulation.change(Changes { id: &id, mass: mass.as_deref(), pos: pos.as_deref(), vel: vel.as_deref() })
        })
    }

    /// Advances to the time `t`. Every so often signals are looked for, and `progress` is called with the time.
    fn integrate(&self, py: Python<'_>, t: f64, progress: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        let mut lease = self.take(py)?;
        loop {
            let began = Instant::now();
            let (reached, time) = lease.run(py, |simulation| {
                let mut go_on = |_: &System| if began.elapsed() < REPORT { u64::MAX } else { 0 };
                let reached = simulation.integrate(t, &mut go_on)?;
                Ok((reached, simulation.time()))
            })?;
            py.check_signals()?;
            if let Some(progress) = &progress {
                progress.call1((time,))?;
            }
            if reached {
                return Ok(());
            }
        }
    }

    /// Takes `n` block steps.
    fn steps(&self, py: Python<'_>, n: u64) -> PyResult<()> {
        let mut lease = self.take(py)?;
        let mut left = n;
        while left > 0 {
            let began = Instant::now();
            let done = lease.run(py, |simulation| {
                simulation.start()?;
                let Some(System { state, .. }) = simulation.system() else { return Ok(0) };
                let furthest = simulation.time() + left as f64 * state.clock.dt_max * state.scale.time;
                let (before, mut done) = (state.counters.block_steps, 0);
                simulation.integrate(furthest, &mut |system: &System| {
                    done = system.state.counters.block_steps - before;
                    if began.elapsed() < REPORT { left.saturating_sub(done) } else { 0 }
                })?;
                Ok(done)
            })?;
            if done == 0 {
                break;
            }
            left -= done.min(left);
            py.check_signals()?;
        }
        Ok(())
    }

    /// Sets functions as a field that acts beside those of the configuration, or none.
    fn set_external(
        &self,
        py: Python<'_>,
        acceleration: Option<Py<PyAny>>,
        jerk: Option<Py<PyAny>>,
        potential: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let raised = self.raised.clone();
        self.with(py, |simulation| {
            // A ten-thousandth of the longest step: the difference has ten digits.
            let interval = 1e-4 * simulation.dt_max()?;
            let field = acceleration
                .map(|acceleration| Arc::new(Function { acceleration, jerk, potential, interval, raised }) as Arc<_>);
            simulation.set_external(field.map(|field: Arc<dyn ExternalField>| field))
        })
    }

    /// Runs with files from the present state. Then this simulation is what the run ended with.
    fn run(
        &self,
        py: Python<'_>,
        settings: Vec<String>,
        overwrite: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(PathBuf, String)> {
        let mut lease = self.take(py)?;
        let setup = lease.run(py, |simulation| simulation.setup(&settings))?;
        let dir = setup.config.output_directory();
        let (reason, stopped) = execute(py, setup, overwrite, progress.as_ref())?;
        lease.run(py, |simulation| {
            *simulation = InMemory::load(&dir.join(checkpoint::NEWEST))?;
            Ok(())
        })?;
        stopped?;
        Ok((dir, reason))
    }

    fn same(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        if std::ptr::eq(self, other) {
            return Ok(true);
        }
        // In one order, so that two threads that compare the same two do not wait for each other.
        let (first, second) =
            if std::ptr::from_ref(self) < std::ptr::from_ref(other) { (self, other) } else { (other, self) };
        let (first, second) = (first.take(py)?, second.take(py)?);
        let (Some(one), Some(two)) = (&first.held, &second.held) else { return Ok(false) };
        Ok(one == two)
    }
}
