//! Promise: no file that is read can have tisane reach the network, start another program, take values from another
//! file, or write outside the directory that the user named; and no header makes it take memory that the file does not
//! fill.

#[path = "security/claims.rs"]
mod claims;
#[path = "security/links.rs"]
mod links;
#[path = "security/paths.rs"]
mod paths;
#[path = "security/sources.rs"]
mod sources;
