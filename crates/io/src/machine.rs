//! Name and CPU of this machine, for the provenance of files.

use std::sync::LazyLock;

/// Returns the host name of this machine.
#[must_use]
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the model of the CPU from `/proc/cpuinfo`, which is read once; the architecture on systems without it.
#[must_use]
pub fn cpu() -> String {
    static MODEL: LazyLock<String> = LazyLock::new(model);
    MODEL.clone()
}

fn model() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim()));
    model.unwrap_or(std::env::consts::ARCH).to_owned()
}

/// Returns the vector extensions that the force engine can use and this CPU has, separated by spaces.
#[must_use]
pub fn cpu_features() -> String {
    #[cfg(target_arch = "x86_64")]
    let known = [
        ("avx", std::arch::is_x86_feature_detected!("avx")),
        ("avx2", std::arch::is_x86_feature_detected!("avx2")),
        ("fma", std::arch::is_x86_feature_detected!("fma")),
        ("avx512f", std::arch::is_x86_feature_detected!("avx512f")),
        ("avx512cd", std::arch::is_x86_feature_detected!("avx512cd")),
        ("avx512bw", std::arch::is_x86_feature_detected!("avx512bw")),
        ("avx512dq", std::arch::is_x86_feature_detected!("avx512dq")),
        ("avx512vl", std::arch::is_x86_feature_detected!("avx512vl")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let known: [(&str, bool); 0] = [];
    known.into_iter().filter_map(|(name, there)| there.then_some(name)).collect::<Vec<_>>().join(" ")
}
