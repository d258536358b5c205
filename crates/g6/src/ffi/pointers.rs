//! Numbers and arrays of a client: all that is done with its pointers.
//!
//! Arrays are read and written through copies, so that a client's arrays may overlap one another, and as bytes, so that
//! no alignment is expected.

use crate::failure::{Failure, Result};
use std::ffi::{c_double, c_int};
use std::ptr;
use tisane::particles::Vec3;

/// Three numbers of a vector.
pub type Vector = [c_double; 3];

/// Argument of an exported function.
pub trait Argument: Sized {
    /// What Fortran passes for it.
    type InFortran;

    /// Reads what Fortran passes.
    ///
    /// # Errors
    /// If it is a null pointer to a number.
    ///
    /// # Safety
    /// A pointer to a number is null or points to one.
    unsafe fn read(passed: Self::InFortran) -> Result<Self>;
}

macro_rules! number {
    ($t:ty) => {
        impl Argument for $t {
            type InFortran = *const $t;

            unsafe fn read(passed: *const $t) -> Result<Self> {
                if passed.is_null() {
                    return Err(null());
                }
                // SAFETY: not null, and so a number, by the contract.
                Ok(unsafe { passed.read_unaligned() })
            }
        }
    };
}

number!(c_int);
number!(c_double);

impl<T> Argument for *const T {
    type InFortran = Self;

    unsafe fn read(passed: Self) -> Result<Self> {
        Ok(passed)
    }
}

impl<T> Argument for *mut T {
    type InFortran = Self;

    unsafe fn read(passed: Self) -> Result<Self> {
        Ok(passed)
    }
}

fn null() -> Failure {
    Failure::argument("a null pointer where numbers were expected")
}

/// Copies `n` values from a client's array.
///
/// # Errors
/// If the pointer is null.
///
/// # Safety
/// A pointer that is not null points to as many.
pub unsafe fn copied<T: Copy + Default>(from: *const T, n: usize) -> Result<Vec<T>> {
    if n > 0 && from.is_null() {
        return Err(null());
    }
    let mut values = vec![T::default(); n];
    if n > 0 {
        // SAFETY: `from` has n values, by the contract, and `values` too.
        unsafe { ptr::copy_nonoverlapping(from.cast::<u8>(), values.as_mut_ptr().cast(), n * size_of::<T>()) };
    }
    Ok(values)
}

/// Copies `n` vectors of a client.
///
/// # Errors
/// If the pointer is null.
///
/// # Safety
/// As [`copied`].
pub unsafe fn vectors(from: *const Vector, n: usize) -> Result<Vec<Vec3>> {
    // SAFETY: the caller's contract.
    Ok(unsafe { copied(from, n) }?.into_iter().map(Vec3::from).collect())
}

/// Copies one vector of a client.
///
/// # Errors
/// If the pointer is null.
///
/// # Safety
/// As [`copied`].
pub unsafe fn vector(from: *const Vector) -> Result<Vec3> {
    // SAFETY: the caller's contract.
    Ok(unsafe { copied(from, 1) }?[0].into())
}

/// Copies values to a client's array.
///
/// # Errors
/// If the pointer is null.
///
/// # Safety
/// A pointer that is not null has room for as many.
pub unsafe fn store<T: Copy>(values: &[T], to: *mut T) -> Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    if to.is_null() {
        return Err(null());
    }
    // SAFETY: `to` has the room, by the contract, and is not memory of this library.
    unsafe { ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), to.cast(), size_of_val(values)) };
    Ok(())
}

/// Copies vectors to a client's array.
///
/// # Errors
/// If the pointer is null.
///
/// # Safety
/// As [`store`].
pub unsafe fn store_vectors(vectors: &[Vec3], to: *mut Vector) -> Result<()> {
    let values: Vec<Vector> = vectors.iter().map(|&v| v.into()).collect();
    // SAFETY: the caller's contract.
    unsafe { store(&values, to) }
}
