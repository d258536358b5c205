//! Pair laws: the force between two particles as a formula, compiled for every engine.
//!
//! A law is a formula for the potential energy U of a pair, or for the acceleration of the target towards the source,
//! in terms of the softened distance s = √(r² + ε²), masses, columns of particles and named parameters. With
//! r = r_j − r_i and v = v_j − v_i it makes
//! ```text
//! a_i = A r,    da_i/dt = A v + B (r·v) r,    φ_i = U / m_i,    A = U′(s) / (m_i s),    B = A′(s) / s.
//! ```
//! Newton's U = −m_i m_j / s makes A = m_j / s³. The derivatives are made symbolically, so that the division by m_i
//! cancels where the formula has a factor m_i, and massless bodies are accelerated.

pub mod evaluate;
pub mod functions;
pub mod program;

pub use program::Program;
