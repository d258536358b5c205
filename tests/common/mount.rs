//! Small file systems.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A small file system of its own, where the system allows that; taken away at the end.
pub struct Mount(PathBuf);

impl Mount {
    pub fn new(at: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).stderr(Stdio::null());
        if mount.status().is_ok_and(|status| status.success()) {
            return Some(Self(at.to_owned()));
        }
        eprintln!("SKIPPED: mounting a file system takes root and a system that allows it");
        None
    }

    pub fn options(&self, options: &str) {
        let done = Command::new("mount").args(["-o", options]).arg(&self.0).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let unmount = |options: &[&str]| {
            let done = Command::new("umount").args(options).arg(&self.0).stderr(Stdio::null()).status();
            done.is_ok_and(|status| status.success())
        };
        // A child process that another test has just forked may have a file of it open for an instant.
        if !unmount(&[]) {
            unmount(&["--lazy"]);
        }
    }
}
