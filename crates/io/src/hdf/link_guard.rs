//! What lies in a file itself. HDF5 follows links into other files, and takes a dataset's values from other files, wherever a file
//! says so: a file from elsewhere could have any file of this machine read as its own. For values that are packed in a way it does
//! not know it looks for a plug-in, which is code. Such members are refused.

use hdf5::dataset::Layout;
use hdf5::{Dataset, Group, IndexType, IterationOrder, LinkType, Location};

const ELSEWHERE: &str = "it leads to another file, which tisane does not follow";

/// The group of that name in a group.
///
/// # Errors
/// Says that there is none, or that it is in another file.
pub(super) fn group(at: &Group, name: &str) -> Result<Group, String> {
    here(at, name, "group")?;
    let found = at.group(name).map_err(|_| "no such group".to_owned())?;
    same_file(at, &found).map(|()| found)
}

/// The dataset of that name in a group.
///
/// # Errors
/// Says that there is none, that it or its values are in another file or another dataset, or that its values are packed as only
/// a plug-in can read them.
pub(super) fn dataset(at: &Group, name: &str) -> Result<Dataset, String> {
    here(at, name, "dataset")?;
    let found = at.dataset(name).map_err(|_| "no such dataset".to_owned())?;
    same_file(at, &found)?;
    let stored = found.dcpl().map_err(|e| e.to_string())?;
    let external = stored.get_external().map_err(|e| e.to_string())?;
    if !external.is_empty() || stored.layout() == Layout::Virtual {
        return Err("its values are elsewhere, where tisane does not look".into());
    }
    if !stored.all_filters_avail() {
        return Err(
            "its values are packed by a filter that tisane has not: unpack the file, h5repack -f NONE IN OUT".into()
        );
    }
    Ok(found)
}

/// A name that is no path, of no link to another file: looked at before HDF5 opens that.
fn here(at: &Group, name: &str, what: &str) -> Result<(), String> {
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

/// A soft link may go through a link to another file.
fn same_file(at: &Location, found: &Location) -> Result<(), String> {
    if found.filename() == at.filename() { Ok(()) } else { Err(ELSEWHERE.into()) }
}
