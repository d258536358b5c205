//! Forces of given sources at any points.

use crate::arrays::{Numbers, Vectors, Whole, numbers, to_numbers, to_vectors, vectors, whole};
use crate::errors::{busy, exception};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use std::sync::{Mutex, TryLockError};
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, Forces as Columns, SourceForces};
use tisane::particles::NamedColumn;
use tisane_run::config::law_of_text;

/// Arrays of acceleration, jerk and potential.
pub(crate) type Arrays<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// Returns forces as arrays.
pub(crate) fn to_arrays(py: Python<'_>, found: Columns) -> PyResult<Arrays<'_>> {
    Ok((to_vectors(py, found.acc)?, to_vectors(py, found.jerk)?, to_numbers(py, found.pot)))
}

/// Engine with its sources.
#[pyclass(frozen)]
pub(crate) struct Forces {
    sources: Mutex<SourceForces>,
}

impl Forces {
    /// Runs `work` without Python's lock.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut SourceForces) -> Result<T> + Send) -> PyResult<T> {
        let done = py.detach(|| match self.sources.try_lock() {
            Ok(mut sources) => Some(work(&mut sources)),
            Err(TryLockError::Poisoned(held)) => Some(work(&mut held.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        });
        match done {
            Some(done) => done.map_err(|error| exception(py, &error)),
            None => Err(busy("these forces are in use by another thread: give each thread its own")),
        }
    }
}

#[pymethods]
impl Forces {
    #[new]
    fn new(
        py: Python<'_>,
        engine: &str,
        device: usize,
        precision: &str,
        softening: f64,
        law: Option<&str>,
    ) -> PyResult<Self> {
        let open = || {
            let unknown = |what: &str, name: &str, all: Vec<&str>| {
                Error::input(what, format!("there is no {name:?}; there are {}", all.join(", ")))
            };
            let kind = EngineKind::from_name(engine)
                .ok_or_else(|| unknown("device", engine, EngineKind::ALL.map(EngineKind::name).to_vec()))?;
            let precision = Precision::ALL
                .into_iter()
                .find(|mode| mode.name() == precision)
                .ok_or_else(|| unknown("mode", precision, Precision::ALL.map(Precision::name).to_vec()))?;
            match law.map(law_of_text).transpose()?.flatten() {
                None => SourceForces::open(kind, precision, softening, device),
                Some(law) => SourceForces::open_with_law(law, kind, precision, softening, device),
            }
        };
        let sources = Mutex::new(py.detach(open).map_err(|error| exception(py, &error))?);
        Ok(Self { sources })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |sources| Ok(sources.len()))
    }

    fn set(
        &self,
        py: Python<'_>,
        mass: Numbers<'_>,
        pos: Vectors<'_>,
        vel: Vectors<'_>,
        columns: Vec<(String, Numbers<'_>)>,
    ) -> PyResult<()> {
        let (mass, pos, vel) = (numbers(&mass)?, vectors(&pos)?, vectors(&vel)?);
        let column = |(name, values)| Ok(NamedColumn { name, values: numbers(&values)?.to_vec() });
        let columns = columns.into_iter().map(column).collect::<PyResult<_>>()?;
        self.with(py, |sources| sources.set_with_columns(&mass, &pos, &vel, columns))
    }

    fn set_some(
        &self,
        py: Python<'_>,
        index: Whole<'_>,
        mass: Numbers<'_>,
        pos: Vectors<'_>,
        vel: Vectors<'_>,
    ) -> PyResult<()> {
        let (index, mass, pos, vel) = (whole(&index)?, numbers(&mass)?, vectors(&pos)?, vectors(&vel)?);
        self.with(py, |sources| sources.set_some(&index, &mass, &pos, &vel))
    }

    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        exclude: Whole<'py>,
        pos: Vectors<'py>,
        vel: Vectors<'py>,
    ) -> PyResult<Arrays<'py>> {
        let (exclude, pos, vel) = (whole(&exclude)?, vectors(&pos)?, vectors(&vel)?);
        let found = self.with(py, |sources| {
            let mut found = Columns::default();
            sources.evaluate(&exclude, &pos, &vel, &mut found).map(|()| found)
        })?;
        to_arrays(py, found)
    }
}
