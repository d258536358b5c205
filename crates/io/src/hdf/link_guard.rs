//! Access to objects stored in a file itself. HDF5 follows external links and reads external and virtual datasets, so a
//! malicious file could make any file of this machine appear as its own content; for an unknown filter it loads a
//! plug-in, which is code. Such objects are refused.

use super::filters;
use hdf5::dataset::Layout;
use hdf5::{Dataset, Group, IndexType, IterationOrder, LinkType, Location};
use std::path::Path;

const ELSEWHERE: &str = "it is a link to another file, which tisane does not follow";

/// Opens a group in a group.
///
/// # Errors
/// A message if it does not exist or is in another file.
pub(super) fn group(at: &Group, name: &str) -> Result<Group, String> {
    check_link(at, name, "group")?;
    let found = at.group(name).map_err(|_| "no such group".to_owned())?;
    same_file(at, &found).map(|()| found)
}

/// Opens a dataset in a group.
///
/// # Errors
/// A message if it does not exist, if it or its values are in another file or dataset, or if its values need a filter
/// plug-in.
pub(super) fn dataset(at: &Group, name: &str) -> Result<Dataset, String> {
    let found = stored(at, name)?;
    match packed(&found) {
        None => Ok(found),
        Some((filter, remedy)) => {
            Err(format!("its values are packed by {filter}, which tisane cannot unpack: {remedy}"))
        }
    }
}

/// Opens a dataset in a group as [`dataset`] does, also one whose values need a filter plug-in: these must not be read.
///
/// # Errors
/// As [`dataset`].
pub(super) fn stored(at: &Group, name: &str) -> Result<Dataset, String> {
    check_link(at, name, "dataset")?;
    let found = at.dataset(name).map_err(|_| "no such dataset".to_owned())?;
    same_file(at, &found)?;
    let stored = found.dcpl().map_err(|e| e.to_string())?;
    let external = stored.get_external().map_err(|e| e.to_string())?;
    if !external.is_empty() || stored.layout() == Layout::Virtual {
        return Err("its values are stored in another file or dataset, which tisane does not read".into());
    }
    Ok(found)
}

/// Names the filters that HDF5 lacks here for the values of a dataset, and the way to unpack them; [`None`] if it has all.
pub(super) fn packed(dataset: &Dataset) -> Option<(String, String)> {
    let lacks = dataset.dcpl().is_ok_and(|stored| !stored.all_filters_avail());
    lacks.then(|| filters::missing(Path::new(&dataset.filename()), dataset))
}

/// Checks before HDF5 opens an object that its name is not a path and not an external link.
fn check_link(at: &Group, name: &str, what: &str) -> Result<(), String> {
    if name.is_empty() || name.contains('/') {
        return Err(format!("no such {what}"));
    }
    let leads_out =
        |link: &str, info: hdf5::LinkInfo| Ok((link == name && info.link_type == LinkType::External).then_some(()));
    match at.find_link(IndexType::Name, IterationOrder::Native, leads_out) {
        Ok(None) => Ok(()),
        Ok(Some(())) => Err(ELSEWHERE.into()),
        Err(e) => Err(e.to_string()),
    }
}

/// Checks that an object is in the same file: a soft link may lead through an external link.
fn same_file(at: &Location, found: &Location) -> Result<(), String> {
    if found.filename() == at.filename() { Ok(()) } else { Err(ELSEWHERE.into()) }
}
