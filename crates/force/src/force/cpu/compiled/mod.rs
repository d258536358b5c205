//! Machine code for the pairs of a [law](crate::law), made when an engine first computes with it: of the operations that
//! the generic arithmetic records on a pair, one loop over the sources of a bag with all values in registers.
//!
//! The bits are those of [`LawPairs`](super::law_pairs), which computes what has no code: a bag that a lane leaves
//! sources out of, laws with elementary functions, machines without AVX2.

mod allocate;
#[allow(unsafe_code, reason = "calls of machine code made at run time")]
mod call;
mod line;
mod machine;
mod pair_code;
mod pairs;
mod record;
mod schedule;

pub use pairs::{CompiledPairs, LanesWithBag, LawCode};
