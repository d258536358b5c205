//! Workers of an ensemble: those of GPUs, of the cores, and the one that deals members to other ranks.

use super::on_device::Device;
#[cfg(feature = "mpi")]
use super::ranks;
use super::work::{Message, Work};
use super::{on_cores, on_device};
use crate::team::Team;
use std::sync::mpsc::Sender;
use std::thread::Scope;
use tisane::error::Result;
use tisane::spin_pool::pool_of;

/// Starts the workers: one for each GPU, or on the cores, and one that deals members to other ranks if there are any.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) if the threads cannot be started.
pub(super) fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    work: &'env Work<'env>,
    threads: usize,
    devices: &'env [Device<'env>],
    team: Option<&'static Team>,
    sender: Sender<Message>,
) -> Result<()> {
    #[cfg(not(feature = "mpi"))]
    let _: Option<&'static Team> = team;
    #[cfg(feature = "mpi")]
    if let Some(team) = team {
        let sender = sender.clone();
        scope.spawn(move || ranks::deal(work, team, &sender));
    }
    if devices.is_empty() {
        return on_cores::spawn(scope, work, threads, sender);
    }
    let threads = pool_of(threads)?.current_num_threads().div_ceil(devices.len());
    for device in devices {
        let (pool, sender) = (pool_of(threads)?, sender.clone());
        scope.spawn(move || {
            if let Err(error) = pool.install(|| on_device::run(work, *device, &sender)) {
                let _ = sender.send(Message::Failed(error));
            }
        });
    }
    Ok(())
}
