//! What this machine says of itself, for the provenance of files.

/// Name of this machine, `unknown` where the system does not say.
#[must_use]
pub fn host() -> String {
    hostname::get().map_or_else(|_| "unknown".into(), |name| name.to_string_lossy().into_owned())
}

/// Model of the CPU, as Linux tells it; elsewhere the architecture.
#[must_use]
pub fn cpu() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim()));
    model.unwrap_or(std::env::consts::ARCH).to_owned()
}

/// The vector extensions of the CPU that the force engine asks for and this CPU has, separated by spaces.
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
