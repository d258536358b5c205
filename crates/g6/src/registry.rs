//! The open clusters by number, each behind a lock of its own.

use crate::cluster::Cluster;
use crate::failure::{Code, Failure, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Clusters by number; [`None`] where one was closed or could not be opened.
type Clusters = BTreeMap<i32, Option<Arc<Mutex<Cluster>>>>;

static CLUSTERS: Mutex<Clusters> = Mutex::new(BTreeMap::new());

/// Locks the list of clusters, which no panic can leave half changed.
fn clusters() -> MutexGuard<'static, Clusters> {
    CLUSTERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores a cluster under a number, in place of one that is open there; an error leaves the number closed.
///
/// # Errors
/// The one that is passed.
pub fn insert(id: i32, cluster: Result<Cluster>) -> Result<()> {
    let (cluster, done) = match cluster {
        Ok(cluster) => (Some(Arc::new(Mutex::new(cluster))), Ok(())),
        Err(failure) => (None, Err(failure)),
    };
    let before = clusters().insert(id, cluster);
    // Dropped here, when the list is free again.
    drop(before);
    done
}

/// Closes a cluster.
///
/// # Errors
/// If it is not open.
pub fn remove(id: i32) -> Result<()> {
    let before = clusters().get_mut(&id).and_then(Option::take);
    before.map(drop).ok_or_else(|| closed(id))
}

/// Locks an open cluster and runs `work` on it. A number that was never opened stands for the only
/// open cluster if there is but one: ph4 opens the number of its GPU and then calls the number 0, and Sapporo has one
/// cluster for all numbers.
///
/// # Errors
/// If it is not open or was left in the middle of a call by a mistake of this library, and those of `work`.
pub fn with<R>(id: i32, work: impl FnOnce(&mut Cluster) -> Result<R>) -> Result<R> {
    let found = {
        let clusters = clusters();
        match clusters.get(&id) {
            Some(cluster) => cluster.clone(),
            None => {
                let mut open = clusters.values().flatten();
                open.next().filter(|_| open.next().is_none()).cloned()
            }
        }
    };
    let found = found.ok_or_else(|| closed(id))?;
    let mut cluster = found.lock().map_err(|_| {
        Failure::new(Code::Internal, format!("cluster {id} failed in the middle of a call: open it again"))
    })?;
    work(&mut cluster)
}

/// Returns the lowest number of an open cluster, for functions that have none as an argument.
pub fn lowest() -> Result<i32> {
    let clusters = clusters();
    let mut open = clusters.iter().filter(|(_, cluster)| cluster.is_some());
    open.next().map(|(id, _)| *id).ok_or_else(|| closed(0))
}

fn closed(id: i32) -> Failure {
    Failure::new(Code::Closed, format!("cluster {id} is not open"))
}
