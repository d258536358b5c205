//! Vectors in space, and columns of them.

/// Vector in space: three adjacent f64 without padding.
pub type Vec3 = nalgebra::Vector3<f64>;

/// Returns the components of a column of vectors as one slice of 3 N numbers: x₀, y₀, z₀, x₁, …
#[must_use]
pub fn components(column: &[Vec3]) -> &[f64] {
    bytemuck::cast_slice(column)
}

/// Returns the components of a column of vectors as one mutable slice of 3 N numbers, in the order of [`components`].
#[must_use]
pub fn components_mut(column: &mut [Vec3]) -> &mut [f64] {
    bytemuck::cast_slice_mut(column)
}

/// Returns the column of vectors with these components, in the order of [`components`].
///
/// # Panics
/// If the number of components is not a multiple of 3: a programming error.
#[must_use]
pub fn from_components(components: &[f64]) -> Vec<Vec3> {
    bytemuck::cast_slice(components).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_vectors_is_a_column_of_numbers() {
        let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let mut column = from_components(&numbers);
        assert_eq!(column, [Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0)]);
        assert_eq!(components(&column), numbers);
        components_mut(&mut column)[4] = 0.0;
        assert_eq!(column[1], Vec3::new(4.0, 0.0, 6.0));
        assert_eq!(size_of::<Vec3>(), 24);
    }
}
