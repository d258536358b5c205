//! Assembly of a simulation from its configuration: the only module that knows every model, engine and integrator.

mod changes;
mod cluster_plan;
mod clusters;
mod context;
pub(crate) mod engine;
mod gpu;
mod initial;
mod law;
mod lifetimes;
mod memory;
mod new_run;
mod part;
mod particle_file;
mod potentials;
mod prepare;
mod rebase;
mod reproduce;
mod resumed;
mod sampled;
mod session;
mod setup;
mod stars;
mod stepped_elsewhere;
pub(crate) mod steps;
mod tide;
mod width;

pub(crate) use changes::{differing_section, first_difference};
pub use cluster_plan::cluster_settings;
pub(crate) use engine::several_devices;
pub use engine::{
    describe_engine, force_engine, force_engine_with_bags, forecast, forecast_engine, forecast_several,
    scheme_on_device,
};
#[cfg(feature = "mpi")]
pub(crate) use engine::{device_of_rank, engine_of_rank};
pub use gpu::{Gpu, OnGpu, Physics, check_gpu, cuda, cuda_accelerations, gpus, system_stepper};
pub(crate) use gpu::{OpenAhead, open_ahead};
pub use memory::MEMORY_PER_PARTICLE;
pub use new_run::{engines, new_run, propagator};
pub(crate) use new_run::{engines_at, provenance};
pub(crate) use potentials::potentials;
pub use potentials::{MAX_SUMMED, SAMPLE, potential_energy, sample};
pub(crate) use prepare::{check_changed, initial_state, set_up};
pub use prepare::{defaults_of_cluster, prepare};
pub(crate) use reproduce::check_tables;
pub use reproduce::{Reproduction, reproduction};
pub use resumed::{Resumed, resumed_run};
pub use session::Session;
pub use setup::Setup;
pub use stepped_elsewhere::engines_stepped_elsewhere;
pub use steps::close_pairs;
pub use tide::tide_source;
