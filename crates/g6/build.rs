//! Options for the linker.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The threads of the library outlive a dlclose: their code must stay.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,-z,nodelete");
    }
}
