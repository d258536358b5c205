//! The server: a thread that accepts connections on the loopback interface, and a thread for each of them.

use super::api::Api;
use super::door::{Door, Entry};
use super::http::{Refused, Request, Response};
use crate::error::{Error, Result};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Most connections at a time. A browser opens six to a server, and some ahead of need.
const CONNECTIONS: usize = 32;
/// Pause after a failure to accept, as where the process has too many files open.
const BREATH: Duration = Duration::from_millis(100);

/// A live view of a run's directory, served until it is dropped.
#[derive(Debug)]
pub struct View {
    shared: Arc<Shared>,
    at: SocketAddr,
}

#[derive(Debug)]
struct Shared {
    api: Api,
    door: Door,
    connections: AtomicUsize,
    ended: AtomicBool,
}

/// A port of 127.0.0.1 that is ours. Taken before a run's directory is made: whoever cannot have it has lost nothing.
#[derive(Debug)]
pub struct Port {
    listener: TcpListener,
    at: SocketAddr,
}

impl Port {
    /// Takes a port; any free one if it is 0.
    ///
    /// # Errors
    /// [`Error::Input`] if it cannot be had.
    pub fn take(port: u16) -> Result<Self> {
        let place = format!("127.0.0.1:{port}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|e| {
            Error::input(&place, format!("cannot serve the view there: {e}"))
                .with_help("give another port, or 0 for any free one")
        })?;
        let at = listener.local_addr().map_err(|e| Error::input(&place, e))?;
        Ok(Self { listener, at })
    }
}

impl View {
    /// Serves the directory of a run at a port. The run need not have written anything.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no such directory.
    pub fn start(dir: &Path, Port { listener, at }: Port) -> Result<Self> {
        let shared = Arc::new(Shared {
            api: Api::new(dir)?,
            door: Door::new().map_err(|e| Error::input(dir, format!("no random numbers for the view's token: {e}")))?,
            connections: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("view".into()).spawn(move || accept(&listener, &of_thread));
        thread.map_err(|e| Error::input(dir, format!("cannot start the view: {e}")))?;
        Ok(Self { shared, at })
    }

    /// The address to open, with the token.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://{}{}", self.at, self.shared.door.address())
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.at.port()
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        // Wakes the thread that waits for connections, which then gives the port back.
        let _ = TcpStream::connect(self.at);
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.ended.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else {
            thread::sleep(BREATH);
            continue;
        };
        let guest = Guest::of(shared);
        if guest.number > CONNECTIONS {
            continue;
        }
        // Without a thread the connection is dropped; the page asks again.
        let _ = thread::Builder::new().name("view".into()).spawn(move || guest.shared.serve(stream));
    }
}

/// A connection that is counted as long as it lives, also through a panic.
struct Guest {
    shared: Arc<Shared>,
    number: usize,
}

impl Guest {
    fn of(shared: &Arc<Shared>) -> Self {
        let number = shared.connections.fetch_add(1, Ordering::AcqRel) + 1;
        Self { shared: Arc::clone(shared), number }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.shared.connections.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let response = match Request::read(&mut stream) {
            Ok(request) => self.answer(&request),
            Err(Refused::Malformed) => Response::empty(400),
            Err(Refused::TooLong) => Response::empty(431),
            Err(Refused::Gone) => return,
        };
        // A reader that has gone is no trouble of ours.
        let _ = response.send(stream);
    }

    fn answer(&self, request: &Request) -> Response {
        let Some((entry, place)) = self.door.enter(request) else { return Response::empty(403) };
        if request.method != "GET" {
            return Response::empty(405);
        }
        let mut response = self.api.answer(place, request);
        response.cookie = (entry == Entry::Token).then(|| self.door.cookie());
        response
    }
}
