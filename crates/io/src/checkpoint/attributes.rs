//! Numbers of a run as attributes of a group.

use super::numbers::StateVisitor;
use crate::checksum::Digest;
use crate::hdf::read::TisaneGroup;
use crate::hdf::write::{H5Result, put, put_array, put_text};
use hdf5::Group;
use tisane::error::{Error, Result};
use tisane::particles::Vec3;

/// Visitor that writes the numbers as attributes of a group.
pub struct ToFile<'a>(pub &'a Group);

impl StateVisitor<hdf5::Error> for ToFile<'_> {
    fn count(&mut self, name: &str, value: &mut u64) -> H5Result {
        put(self.0, name, value)
    }
    fn count_since_2(&mut self, name: &str, value: &mut u64) -> H5Result {
        self.count(name, value)
    }
    fn count_if_any(&mut self, name: &str, value: &mut u64) -> H5Result {
        if *value == 0 { Ok(()) } else { self.count(name, value) }
    }
    fn digest(&mut self, name: &str, value: &mut Option<Digest>) -> H5Result {
        value.map_or(Ok(()), |digest| put_text(self.0, name, &digest.to_string()))
    }
    fn float(&mut self, name: &str, value: &mut f64) -> H5Result {
        put(self.0, name, value)
    }
    fn float_or_nan(&mut self, name: &str, value: &mut f64) -> H5Result {
        self.float(name, value)
    }
    fn float_if_any(&mut self, name: &str, value: &mut Option<f64>) -> H5Result {
        value.map_or(Ok(()), |value| put(self.0, name, &value))
    }
    fn vector(&mut self, name: &str, value: &mut Vec3) -> H5Result {
        put_array(self.0, name, value.as_slice())
    }
}

/// Visitor that reads the numbers from the attributes of a group, in a file of a given format version.
pub struct FromFile<'a>(pub TisaneGroup<'a>, pub u64);

impl FromFile<'_> {
    /// Checks that values are finite.
    fn check_finite(&self, name: &str, values: &[f64]) -> Result<()> {
        if values.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(self.0.error(name, "not a finite number")) }
    }
}

impl StateVisitor<Error> for FromFile<'_> {
    fn count(&mut self, name: &str, value: &mut u64) -> Result<()> {
        *value = self.0.get(name)?;
        Ok(())
    }
    fn count_since_2(&mut self, name: &str, value: &mut u64) -> Result<()> {
        if self.1 < 2 { Ok(()) } else { self.count(name, value) }
    }
    fn count_if_any(&mut self, name: &str, value: &mut u64) -> Result<()> {
        if self.0.has(name) { self.count(name, value) } else { Ok(()) }
    }
    fn digest(&mut self, name: &str, value: &mut Option<Digest>) -> Result<()> {
        if self.0.attributes()?.iter().any(|attribute| attribute == name) {
            let text = self.0.text(name)?;
            *value = Some(Digest::parse(&text).ok_or_else(|| self.0.error(name, "not a SHA-256 in hexadecimal"))?);
        }
        Ok(())
    }
    fn float(&mut self, name: &str, value: &mut f64) -> Result<()> {
        *value = self.0.get(name)?;
        self.check_finite(name, &[*value])
    }
    fn float_or_nan(&mut self, name: &str, value: &mut f64) -> Result<()> {
        *value = self.0.get(name)?;
        if value.is_nan() { Ok(()) } else { self.check_finite(name, &[*value]) }
    }
    fn float_if_any(&mut self, name: &str, value: &mut Option<f64>) -> Result<()> {
        if self.0.has(name) { self.float(name, value.get_or_insert_default()) } else { Ok(()) }
    }
    fn vector(&mut self, name: &str, value: &mut Vec3) -> Result<()> {
        *value = self.0.get_array::<_, 3>(name)?.into();
        self.check_finite(name, value.as_slice())
    }
}
