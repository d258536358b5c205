//! Launch shapes, and what follows from them: memory and layouts.

pub mod acceleration_shape;
pub mod candidates;
pub mod choice;
pub mod launch_shape;
pub mod layout;
pub mod memory_plan;
pub mod step_shape;
pub mod system_shape;
pub mod tuning_table;
