//! The open clusters by number, each behind a lock of its own.

use crate::cluster::Cluster;
use crate::failure::{Code, Failure, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Clusters = BTreeMap<i32, Arc<Mutex<Cluster>>>;

static CLUSTERS: Mutex<Clusters> = Mutex::new(BTreeMap::new());

/// Locks the list of clusters, which no panic can leave half changed.
fn clusters() -> MutexGuard<'static, Clusters> {
    CLUSTERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores a cluster under a number, in place of one that is open there.
pub fn insert(id: i32, cluster: Cluster) {
    let before = clusters().insert(id, Arc::new(Mutex::new(cluster)));
    // Dropped here, when the list is free again.
    drop(before);
}

/// Closes a cluster.
///
/// # Errors
/// If it is not open.
pub fn remove(id: i32) -> Result<()> {
    let before = clusters().remove(&id);
    before.map(drop).ok_or_else(|| closed(id))
}

/// Runs `work` on an open cluster, which nobody else uses meanwhile.
///
/// # Errors
/// If it is not open or was left in the middle of a call by a mistake of this library, and those of `work`.
pub fn with<R>(id: i32, work: impl FnOnce(&mut Cluster) -> Result<R>) -> Result<R> {
    let cluster = clusters().get(&id).map(Arc::clone).ok_or_else(|| closed(id))?;
    let mut cluster = cluster.lock().map_err(|_| {
        Failure::new(Code::Internal, format!("cluster {id} failed in the middle of a call: open it again"))
    })?;
    work(&mut cluster)
}

/// Returns the lowest number of an open cluster, for functions that have none as an argument.
pub fn lowest() -> Result<i32> {
    clusters().keys().next().copied().ok_or_else(|| closed(0))
}

fn closed(id: i32) -> Failure {
    Failure::new(Code::Closed, format!("cluster {id} is not open"))
}
