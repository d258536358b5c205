//! The states of schemes that checkpoints may have.

use crate::encounters::SubsystemState;
use tisane_force::error::Result;
use tisane_force::states::digits::Digits;
use tisane_force::states::history::History;
use tisane_force::states::low_parts::LowParts;
use tisane_force::states::neighbours::Neighbours;
use tisane_force::states::{SchemeState, Sizes, States};

/// Returns the states of `n` particles that `sizes` has, with columns of any values, for their reader to fill.
///
/// # Errors
/// Those of `sizes`.
pub fn of_sizes(n: usize, sizes: &dyn Sizes) -> Result<States> {
    let mut states = States::default();
    for read in
        [of_type::<History>, of_type::<Neighbours>, of_type::<SubsystemState>, of_type::<Digits>, of_type::<LowParts>]
    {
        if let Some(state) = read(n, sizes)? {
            states.put(state);
        }
    }
    Ok(states)
}

fn of_type<T: SchemeState>(n: usize, sizes: &dyn Sizes) -> Result<Option<Box<dyn SchemeState>>> {
    Ok(T::of_sizes(n, sizes)?.map(|state| Box::new(state) as _))
}
