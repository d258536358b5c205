//! Requests to the live view.

use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;
use tisane_view::api::Api;
use tisane_view::auth::TokenGuard;
use tisane_view::http::Request;

/// What stands in files beside the run that no request may see.
const SECRET: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

/// A view of a run's directory, as it is served.
struct Served {
    _folder: TempDir,
    guard: TokenGuard,
    api: Api,
}

static SERVED: LazyLock<Served> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run");
    std::fs::create_dir_all(run.join("snapshots")).expect("a folder");
    let put = |path: PathBuf, bytes: &[u8]| std::fs::write(path, bytes).expect("a small file");
    put(folder.path().join("secret"), SECRET.as_bytes());
    put(run.join("run.log"), SECRET.as_bytes());
    put(run.join("config.toml"), format!("# {SECRET}\n[run]\nname = \"small\"\nt_end = 1.0\n").as_bytes());
    put(run.join("diagnostics.csv"), b"time,energy\n0.0,-0.25\n0.5,-0.2500001\n");
    put(run.join("snapshots/snapshot_0000.hdf5"), &super::hdf5_seeds::SEEDS[0].bytes);
    let api = Api::new(&run).expect("the directory of a run");
    Served { _folder: folder, guard: TokenGuard::new().expect("random numbers"), api }
});

/// The head of a request, as it comes over the wire: nobody comes in without the token, and who is in sees the run
/// alone.
pub fn requests(bytes: &[u8]) {
    let Ok(Some(request)) = Request::parse(bytes) else { return };
    let Served { guard, api, .. } = &*SERVED;
    assert!(guard.authorize(&request).is_none(), "a request without the token: {request:?}");
    let place = request.path.strip_prefix('/').unwrap_or(&request.path);
    let answer = api.answer(place, &request);
    assert!([200, 400, 404, 503].contains(&answer.status), "{request:?}: status {}", answer.status);
    assert!(answer.body.len() < 1 << 22, "{request:?}: {} bytes", answer.body.len());
    assert!(!String::from_utf8_lossy(&answer.body).contains(SECRET), "{request:?}");
}
