//! Requests to the live view.

use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;
use tisane_view::api::Api;
use tisane_view::auth::TokenGuard;
use tisane_view::http::{Parts, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Builder;

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

/// Serves the bytes of a client over a connection in memory. No request without the token is authorized, and the handler
/// answers with files of the run alone.
pub fn requests(bytes: &[u8]) {
    let Served { guard, api, .. } = &*SERVED;
    let answer = |request: Parts| {
        assert!(guard.authorize(&request).is_none(), "a request without the token: {request:?}");
        let path = request.uri.path();
        let answer = api.answer(path.strip_prefix('/').unwrap_or(path), &request);
        let status = answer.status().as_u16();
        assert!([200, 400, 404, 503].contains(&status), "{request:?}: status {status}");
        std::future::ready(Ok(answer))
    };
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let received = runtime.block_on(async {
        let (mut client, server) = tokio::io::duplex(1 << 22);
        let sent = &bytes[..bytes.len().min(1 << 16)];
        client.write_all(sent).await.expect("room for the request");
        client.shutdown().await.expect("a connection in memory");
        let _ = serve(server, answer).await;
        let mut received = Vec::new();
        client.read_to_end(&mut received).await.expect("a connection in memory");
        received
    });
    assert!(received.is_empty() || received.starts_with(b"HTTP/1."), "{received:?}");
    assert!(received.len() < 1 << 22, "{} bytes", received.len());
    assert!(!String::from_utf8_lossy(&received).contains(SECRET), "{bytes:?}");
}
