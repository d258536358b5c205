//! Arrays and texts of the caller.

use crate::status::{Failure, wrong};
use std::ffi::{CStr, c_char};
use tisane::particles::Vec3;

/// n vectors of the caller to be read or written: component c of vector k is `c[k * stride]`, for c = x, y, z. Rows
/// `double a[n][3]` are {a, a + 1, a + 2, 3}, three columns are {x, y, z, 1}; {NULL, NULL, NULL, 0} stands for no vectors
/// where they may be left out.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TisaneVectors {
    /// x of the first vector.
    pub x: *mut f64,
    /// y of the first vector.
    pub y: *mut f64,
    /// z of the first vector.
    pub z: *mut f64,
    /// Number of doubles from one vector to the next.
    pub stride: usize,
}

/// Largest number of elements of an array.
const MAX: usize = u32::MAX as usize - 1;

/// Checks a count.
pub(crate) fn count(n: i64, what: &str) -> Result<usize, Failure> {
    match usize::try_from(n) {
        Ok(n) if n <= MAX => Ok(n),
        _ => Err(wrong(format!("{what}: expected a number from 0 to {MAX}, found {n}"))),
    }
}

impl TisaneVectors {
    pub(crate) fn is_left_out(&self) -> bool {
        self.x.is_null() && self.y.is_null() && self.z.is_null()
    }

    fn columns(&self, n: usize, what: &str) -> Result<[*mut f64; 3], Failure> {
        if n > 0 && (self.x.is_null() || self.y.is_null() || self.z.is_null()) {
            return Err(wrong(format!("{what} is NULL")));
        }
        if n > 1 && self.stride == 0 || self.stride > 1 << 20 {
            return Err(wrong(format!("{what}: expected a stride of at least 1, found {}", self.stride)));
        }
        Ok([self.x, self.y, self.z])
    }

    /// Copies n vectors of the caller.
    ///
    /// # Safety
    /// The n vectors can be read.
    pub(crate) unsafe fn read(&self, n: usize, what: &str) -> Result<Vec<Vec3>, Failure> {
        let mut vectors = Vec::new();
        unsafe { self.read_into(n, &mut vectors, what) }?;
        Ok(vectors)
    }

    /// Copies n vectors of the caller to `to`, whose memory is used again.
    ///
    /// # Safety
    /// The n vectors can be read.
    pub(crate) unsafe fn read_into(&self, n: usize, to: &mut Vec<Vec3>, what: &str) -> Result<(), Failure> {
        let columns = self.columns(n, what)?;
        let at = |k: usize| columns.map(|column| unsafe { column.add(k * self.stride).read() });
        to.clear();
        to.extend((0..n).map(|k| Vec3::from(at(k))));
        Ok(())
    }

    /// Copies n vectors of the caller; [`None`] if they are left out.
    ///
    /// # Safety
    /// The n vectors can be read.
    pub(crate) unsafe fn read_if(&self, n: usize, what: &str) -> Result<Option<Vec<Vec3>>, Failure> {
        if self.is_left_out() { Ok(None) } else { unsafe { self.read(n, what) }.map(Some) }
    }

    /// Copies vectors to the caller, unless they are left out.
    ///
    /// # Safety
    /// As many vectors can be written.
    pub(crate) unsafe fn write(&self, from: &[Vec3], what: &str) -> Result<(), Failure> {
        if self.is_left_out() {
            return Ok(());
        }
        let columns = self.columns(from.len(), what)?;
        for (k, vector) in from.iter().enumerate() {
            for (column, x) in columns.iter().zip(vector) {
                unsafe { column.add(k * self.stride).write(*x) };
            }
        }
        Ok(())
    }
}

/// Borrows n elements of the caller; [`None`] if the pointer is NULL.
///
/// # Safety
/// The n elements can be read and do not change while they are borrowed.
pub(crate) unsafe fn slice_if<'a, T>(at: *const T, n: usize) -> Option<&'a [T]> {
    (!at.is_null()).then(|| unsafe { std::slice::from_raw_parts(at, n) })
}

/// Borrows n elements of the caller; the pointer may be NULL only for n = 0.
///
/// # Safety
/// As [`slice_if`].
pub(crate) unsafe fn slice<'a, T>(at: *const T, n: usize, what: &str) -> Result<&'a [T], Failure> {
    match unsafe { slice_if(at, n) } {
        Some(slice) => Ok(slice),
        None if n == 0 => Ok(&[]),
        None => Err(wrong(format!("{what} is NULL"))),
    }
}

/// Copies elements to the caller, unless the pointer is NULL.
///
/// # Safety
/// As many elements can be written.
pub(crate) unsafe fn write_if<T: Copy>(from: &[T], to: *mut T) {
    if !to.is_null() {
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
    }
}

/// Writes a value to the caller.
///
/// # Safety
/// The value can be written.
pub(crate) unsafe fn put<T>(value: T, to: *mut T, what: &str) -> Result<(), Failure> {
    if to.is_null() {
        return Err(wrong(format!("{what} is NULL")));
    }
    unsafe { to.write(value) };
    Ok(())
}

/// Borrows a text of the caller; [`None`] if the pointer is NULL.
///
/// # Safety
/// The text ends with a zero byte.
pub(crate) unsafe fn text_if<'a>(at: *const c_char, what: &str) -> Result<Option<&'a str>, Failure> {
    if at.is_null() {
        return Ok(None);
    }
    let text = unsafe { CStr::from_ptr(at) }.to_str();
    text.map(Some).map_err(|_| wrong(format!("{what} is not UTF-8")))
}

/// Borrows a text of the caller.
///
/// # Safety
/// As [`text_if`].
pub(crate) unsafe fn text<'a>(at: *const c_char, what: &str) -> Result<&'a str, Failure> {
    unsafe { text_if(at, what) }?.ok_or_else(|| wrong(format!("{what} is NULL")))
}

/// Writes a text with its zero byte into a buffer of the caller of `size` bytes.
///
/// # Safety
/// As many bytes can be written.
pub(crate) unsafe fn put_text(text: &str, to: *mut c_char, size: usize, what: &str) -> Result<(), Failure> {
    if to.is_null() {
        return Err(wrong(format!("{what} is NULL")));
    }
    if text.len() >= size {
        return Err(wrong(format!("{what}: expected room for {} bytes, found {size}", text.len() + 1)));
    }
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), to, text.len());
        to.add(text.len()).write(0);
    }
    Ok(())
}
