//! Compiles the calls of MPI with mpicc, and links what mpicc links. Without the feature `mpi` it does nothing.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "mpi")]
    mpi::build();
}

#[cfg(feature = "mpi")]
mod mpi {
    use std::env;
    use std::path::Path;
    use std::process::Command;

    /// Options of mpicc that print how it links: Open MPI's, then MPICH's and Intel MPI's.
    const QUESTIONS: [&str; 3] = ["--showme:link", "-link_info", "-show"];

    pub fn build() {
        println!("cargo::rerun-if-env-changed=MPICC");
        println!("cargo::rerun-if-changed=src/shim.c");
        let mpicc = env::var("MPICC").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "mpicc".into());
        // The tests start their ranks with the mpirun of the same MPI.
        println!("cargo::rustc-env=TISANE_MPIRUN={}", Path::new(&mpicc).with_file_name("mpirun").display());
        let compiled = link_line(&mpicc).and_then(|line| {
            compile(&mpicc)?;
            // After the shim: a linker that reads from left to right must know by then what the shim needs.
            link(&line);
            Ok(())
        });
        if let Err(problem) = compiled {
            println!("cargo::error={problem}");
        }
    }

    fn compile(mpicc: &str) -> Result<(), String> {
        let result = cc::Build::new().compiler(mpicc).file("src/shim.c").try_compile("tisane_mpi_shim");
        result.map_err(|error| format!("{mpicc} cannot compile crates/mpi/src/shim.c: {error}"))
    }

    /// Returns the command line with which mpicc links.
    fn link_line(mpicc: &str) -> Result<String, String> {
        for question in QUESTIONS {
            let answer = Command::new(mpicc).arg(question).output().map_err(|error| {
                format!(
                    "the feature mpi needs mpicc: install libopenmpi-dev or load the MPI module, or set MPICC \
                     ({mpicc}: {error})"
                )
            })?;
            let line = String::from_utf8_lossy(&answer.stdout).into_owned();
            if answer.status.success() && line.split_whitespace().any(|word| word.starts_with("-l")) {
                return Ok(line);
            }
        }
        Err(format!(
            "{mpicc} says with none of {} which libraries it links: is it the mpicc of an MPI?",
            QUESTIONS.join(", ")
        ))
    }

    /// Tells cargo the folders, libraries and linker options of a command line, which holds no quoted words.
    fn link(line: &str) {
        let mut options = Vec::new();
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            if let Some(folder) = word.strip_prefix("-L") {
                println!("cargo::rustc-link-search=native={folder}");
            } else if let Some(library) = word.strip_prefix("-l") {
                println!("cargo::rustc-link-lib={library}");
            } else if word.starts_with("-Wl,") || word == "-pthread" {
                options.push(word);
            } else if word == "-Xlinker" {
                options.push(word);
                options.extend(words.next());
            }
        }
        for option in &options {
            println!("cargo::rustc-link-arg={option}");
        }
        // cargo gives rustc-link-arg to the tests of this crate only. A program that depends on it passes these on in
        // its own build script, where MPI is in no folder that the loader looks into.
        println!("cargo::metadata=LINK_ARGS={}", options.join(" "));
    }
}
