//! Functions of Python as an external field.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use tisane::force::external::ExternalField;
use tisane::particles::Vec3;

thread_local! {
    /// True while this thread calls a function of a field: a simulation that it used would wait for itself.
    static CALLING: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if this thread is inside of a function of a field.
pub(crate) fn calling() -> bool {
    CALLING.get()
}

/// First exception of the functions of a field, until it is raised.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Takes the exception.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Field of functions: `acceleration(pos, t)`, and optionally `jerk(pos, vel, t)` and `potential(pos, t)`. After an
/// exception it returns no numbers, which ends the integration.
pub(crate) struct Function {
    pub(crate) acceleration: Py<PyAny>,
    pub(crate) jerk: Option<Py<PyAny>>,
    pub(crate) potential: Option<Py<PyAny>>,
    /// Interval of time over which the acceleration is differentiated where there is no `jerk`.
    pub(crate) interval: f64,
    pub(crate) raised: Raised,
}

/// Returns a vector as an array.
fn array(py: Python<'_>, x: Vec3) -> Bound<'_, PyArray1<f64>> {
    PyArray1::from_slice(py, x.as_slice())
}

impl Function {
    /// Calls one of the functions, or returns `failed`.
    fn call<T>(&self, failed: T, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
        Python::attach(|py| {
            let before = CALLING.replace(true);
            let found = call(py);
            CALLING.set(before);
            found.unwrap_or_else(|error| {
                self.raised.keep(error);
                failed
            })
        })
    }

    fn vector<'py>(function: &Bound<'py, PyAny>, arguments: Bound<'py, PyTuple>) -> PyResult<Vec3> {
        function.call1(arguments)?.extract::<[f64; 3]>().map(Vec3::from)
    }
}

impl ExternalField for Function {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        self.call(Vec3::repeat(f64::NAN), |py| {
            Self::vector(self.acceleration.bind(py), (array(py, pos), t).into_pyobject(py)?)
        })
    }

    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        let Some(jerk) = &self.jerk else {
            let h = self.interval;
            return (self.acc(pos + vel * h, t + h) - self.acc(pos - vel * h, t - h)) / (2.0 * h);
        };
        self.call(Vec3::repeat(f64::NAN), |py| {
            Self::vector(jerk.bind(py), (array(py, pos), array(py, vel), t).into_pyobject(py)?)
        })
    }

    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        let Some(potential) = &self.potential else { return 0.0 };
        self.call(f64::NAN, |py| potential.bind(py).call1((array(py, pos), t))?.extract())
    }
}
