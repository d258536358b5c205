//! Columns of numbers and of vectors as arrays of numpy.

use bytemuck::allocation::try_cast_vec;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tisane::particles::Vec3;

/// Column of numbers, which the package has made contiguous.
pub(crate) type Numbers<'py> = PyReadonlyArray1<'py, f64>;
/// Column of vectors, of the shape (N, 3).
pub(crate) type Vectors<'py> = PyReadonlyArray2<'py, f64>;
/// Column of identities or indices.
pub(crate) type Whole<'py> = PyReadonlyArray1<'py, u64>;

/// Returns a copy, which stays as it is while other threads of Python run.
pub(crate) fn numbers(column: &Numbers<'_>) -> PyResult<Vec<f64>> {
    Ok(column.as_slice()?.to_vec())
}

/// Returns a copy.
pub(crate) fn whole(column: &Whole<'_>) -> PyResult<Vec<u64>> {
    Ok(column.as_slice()?.to_vec())
}

/// Returns a copy.
pub(crate) fn vectors(column: &Vectors<'_>) -> PyResult<Vec<Vec3>> {
    let values = bytemuck::try_cast_slice::<f64, Vec3>(column.as_slice()?);
    values.map(<[Vec3]>::to_vec).map_err(|_| PyValueError::new_err("expected an array of the shape (N, 3)"))
}

/// Returns vectors as an array of the shape (N, 3) that cannot be written to; the memory changes hands.
pub(crate) fn to_vectors<'py>(py: Python<'py>, column: Vec<Vec3>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let n = column.len();
    let flat = try_cast_vec::<Vec3, f64>(column).map_err(|(e, _)| PyValueError::new_err(format!("vectors: {e}")))?;
    let array = flat.into_pyarray(py).reshape([n, 3])?;
    Ok(array.readwrite().make_nonwriteable().as_array_object())
}

/// Returns numbers as an array that cannot be written to; the memory changes hands.
pub(crate) fn to_numbers<T: numpy::Element>(py: Python<'_>, column: Vec<T>) -> Bound<'_, PyArray1<T>> {
    column.into_pyarray(py).readwrite().make_nonwriteable().as_array_object()
}

/// Array behind a borrow of it.
trait Behind {
    type Array;
    fn as_array_object(&self) -> Self::Array;
}

impl<'py, T: numpy::Element, D: numpy::ndarray::Dimension> Behind for numpy::PyReadonlyArray<'py, T, D> {
    type Array = Bound<'py, numpy::PyArray<T, D>>;

    fn as_array_object(&self) -> Self::Array {
        // The borrow derefs to the array; cloning counts one more reference to it.
        (**self).clone()
    }
}
