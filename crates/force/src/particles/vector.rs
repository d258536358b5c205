//! Vectors in space.

/// Vector in space: three adjacent f64 without padding.
pub type Vec3 = nalgebra::Vector3<f64>;
