//! Elementary functions of single numbers.

use crate::force::real::Real;

/// Returns eˣ.
pub fn exp<R: Real>(x: R) -> R {
    x.exp()
}

/// Returns the natural logarithm of x.
pub fn log<R: Real>(x: R) -> R {
    x.ln()
}

/// Returns sin x.
pub fn sin<R: Real>(x: R) -> R {
    x.sin()
}

/// Returns cos x.
pub fn cos<R: Real>(x: R) -> R {
    x.cos()
}

/// Returns xʸ.
pub fn pow<R: Real>(x: R, y: R) -> R {
    x.powf(y)
}
