//! Saved states of simulations in memory.

use super::started::{Started, field_columns};
use super::threads::Threads;
use super::{InMemory, NAME, Phase};
use crate::assemble;
use crate::config::Config;
use crate::system::System;
use std::path::Path;
use tisane::diagnostics::runaways::Runaways;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::time::TICKS_PER_DT_MAX;
use tisane_io::checkpoint::{self, Checkpoint, CheckpointRef};
use tisane_io::history::History;
use tisane_io::provenance::{self, Provenance};

impl InMemory {
    /// Saves the state of the integration and the settings in one file, from which [`InMemory::load`] goes on with the
    /// same bits. The format is that of the checkpoints of runs. A file that exists is replaced, whole or not at all.
    ///
    /// # Errors
    /// As [`InMemory::start`], and [`Error::Storage`].
    pub fn save(&mut self, path: &Path) -> Result<()> {
        let (started, _, loaded) = self.started()?;
        started.check_whole()?;
        let mut config = loaded.config.clone();
        if config.has_star_events() {
            // Their number may be another one now.
            config.integrator.scheme_mut().resolve_late(config.force.precision(), started.number);
        }
        let config_resolved = config.resolved_toml()?;
        let System { particles, state, .. } = &started.system;
        let provenance = Provenance {
            created: provenance::now_utc(),
            config_as_written: loaded.written.clone(),
            config_resolved,
            state_sha256: particles.state_sha256(&state.clock),
            state_block_steps: Some(state.counters.block_steps),
            state_time: Some(started.time),
            ..started.provenance.clone()
        };
        let checkpoint = CheckpointRef { particles, run: state, history: &History::default(), provenance: &provenance };
        checkpoint::write_file(path, checkpoint)
    }

    /// Loads a state that [`InMemory::save`] saved, or a checkpoint of a run.
    ///
    /// # Errors
    /// [`Error::Input`] if the file is not a whole checkpoint, or its engine is not on this machine.
    pub fn load(path: &Path) -> Result<Self> {
        let Checkpoint { particles, run: state, provenance, .. } = checkpoint::read(path)?;
        let text = provenance.config_resolved.clone();
        let loaded = Config::from_str(NAME, &text, Path::new(""), &[])?;
        assemble::check_tables(&loaded.config, path, &provenance)?;
        let threads = Threads::new(loaded.config.force.threads as usize)?;
        let before = EngineKind::from_name(&provenance.engine);
        let started = threads.run(|| {
            let (n, clock, scale) = (particles.len(), state.clock, &state.scale);
            let orbit = state.orbit.map(|orbit| (state.now.0 / TICKS_PER_DT_MAX, orbit.origin));
            let (mut engines, info, external) =
                assemble::engines_at(&loaded.config, before, n, clock, scale, None, orbit)?;
            engines.propagator.resume(&particles, state.now)?;
            let time = provenance.state_time;
            let field = field_columns(&loaded.config, external.is_some());
            let system = System {
                particles,
                state,
                engines,
                field,
                events: Vec::new(),
                type_changes: Vec::new(),
                runaways: Runaways::default(),
            };
            let mut started = Started::from_system(system, info, provenance, external);
            if let Some(time) = time {
                let until = started.moment(time)?;
                if until < started.until {
                    return Err(Error::input(path, "/Provenance/state_time is before the last block step"));
                }
                (started.until, started.time) = (until, time);
            }
            Ok(started)
        })?;
        let phase = Phase::Started(Box::new(started));
        Ok(Self {
            text,
            base: Default::default(),
            sets: Vec::new(),
            loaded,
            ends: true,
            threads,
            phase,
            own_field: None,
        })
    }
}
