//! Motion of two bodies by universal variables (Stumpff 1947; Battin 1987, An Introduction to the Mathematics and Methods
//! of Astrodynamics, section 4.5), for ellipses, parabolas, hyperbolas and straight lines alike. Only + − × ÷ and √ are
//! used: the same bits on every machine.

mod epoch;
mod touch;
pub(super) mod universal;

pub use epoch::Epoch;
pub use touch::Touch;
pub use universal::step;
