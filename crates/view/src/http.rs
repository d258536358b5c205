//! Minimal HTTP/1.1 for a local page: one GET request for each connection, with a head of bounded size and duration.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Maximum length of the head of a request, in bytes.
const HEAD_BYTES: usize = 8192;
/// Maximum number of header lines.
const HEADERS: usize = 64;
/// Maximum time to receive the head. Browsers open connections before they need them.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// Timeout of a write of the response.
const WRITE_TIME: Duration = Duration::from_secs(20);
/// Maximum number of bytes read after a response, so that it is not lost with the connection.
const DRAINED: usize = 1 << 16;
/// Maximum time spent on that.
const DRAIN_TIME: Duration = Duration::from_millis(200);

/// Request, as far as the view uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Method.
    pub method: String,
    /// Path as received, not decoded.
    pub path: String,
    /// Query after the first `?`, not decoded.
    pub query: String,
    /// Value of `Host`, if it occurs exactly once.
    pub host: Option<String>,
    /// Values of all `Cookie` headers.
    pub cookies: Vec<String>,
}

/// Reason for the failure to read a request.
#[derive(Debug)]
pub enum RequestError {
    /// The connection was closed, failed or timed out: no response is possible.
    Disconnected,
    /// Not HTTP/1.
    Malformed,
    /// The head exceeds the limits.
    TooLong,
}

/// HTTP response.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Media type.
    pub kind: &'static str,
    /// Cookie to set, if any.
    pub cookie: Option<String>,
    /// Content.
    pub body: Vec<u8>,
}

impl Response {
    /// Creates a response with status 200.
    pub fn ok(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, kind, cookie: None, body: body.into() }
    }

    /// Creates a response without content.
    pub const fn empty(status: u16) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", cookie: None, body: Vec::new() }
    }

    /// Creates a response with a message as plain text.
    pub fn text(status: u16, text: &str) -> Self {
        Self { body: text.as_bytes().to_vec(), ..Self::empty(status) }
    }
}

impl Request {
    /// Reads a request from a blocking stream.
    ///
    /// # Errors
    /// [`RequestError`] if the connection ends or the request is malformed or too long.
    pub fn read(mut stream: &TcpStream) -> Result<Self, RequestError> {
        let deadline = Instant::now() + HEAD_TIME;
        let mut head = Vec::new();
        let mut part = [0u8; 2048];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
                return Err(RequestError::Disconnected);
            }
            let read = match stream.read(&mut part) {
                Ok(0) => return Err(RequestError::Disconnected),
                Ok(read) => read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(RequestError::Disconnected),
            };
            head.extend(part.iter().take(read));
            if let Some(request) = Self::parse(&head)? {
                return Ok(request);
            }
            if head.len() > HEAD_BYTES {
                return Err(RequestError::TooLong);
            }
        }
    }

    /// Parses the head of a request; [`None`] if it is incomplete.
    ///
    /// # Errors
    /// [`RequestError`] if the head is malformed or too long.
    pub fn parse(head: &[u8]) -> Result<Option<Self>, RequestError> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(head) {
            Ok(httparse::Status::Partial) => return Ok(None),
            Ok(httparse::Status::Complete(length)) if length > HEAD_BYTES => return Err(RequestError::TooLong),
            Ok(httparse::Status::Complete(_)) => {}
            Err(httparse::Error::TooManyHeaders) => return Err(RequestError::TooLong),
            Err(_) => return Err(RequestError::Malformed),
        }
        let target = parsed.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let values = |name: &str| {
            let of_name = parsed.headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
            of_name.map(|header| String::from_utf8_lossy(header.value).into_owned()).collect::<Vec<_>>()
        };
        let mut hosts = values("Host");
        Ok(Some(Self {
            method: parsed.method.unwrap_or_default().to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            host: if hosts.len() == 1 { hosts.pop() } else { None },
            cookies: values("Cookie"),
        }))
    }

    /// Returns the first parameter of this name in the query, not decoded.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// Headers of every response: the page loads nothing from and sends nothing to other servers, is not cached, and cannot
/// be embedded.
const SECURITY_HEADERS: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
                      X-Content-Type-Options: nosniff\r\n\
                      X-Frame-Options: DENY\r\n\
                      Referrer-Policy: no-referrer\r\n\
                      Cross-Origin-Resource-Policy: same-origin\r\n\
                      Cross-Origin-Opener-Policy: same-origin\r\n\
                      Cache-Control: no-store\r\n\
                      Connection: close\r\n";

impl Response {
    /// Sends the response and closes the connection.
    ///
    /// # Errors
    /// The error of the operating system, also if the client has closed the connection.
    pub fn send(&self, mut stream: &TcpStream) -> io::Result<()> {
        let cookie = self.cookie.as_ref().map_or_else(String::new, |cookie| format!("Set-Cookie: {cookie}\r\n"));
        let head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{cookie}{SECURITY_HEADERS}\r\n",
            self.status,
            reason(self.status),
            self.kind,
            self.body.len()
        );
        stream.set_write_timeout(Some(WRITE_TIME))?;
        stream.write_all(head.as_bytes())?;
        stream.write_all(&self.body)?;
        stream.shutdown(Shutdown::Write)?;
        drain(stream)
    }
}

/// Reads the rest of a request: closing a connection with unread data resets it, and the response might be lost.
fn drain(mut stream: &TcpStream) -> io::Result<()> {
    let deadline = Instant::now() + DRAIN_TIME;
    let (mut part, mut drained) = ([0u8; 2048], 0);
    while drained < DRAINED {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part)? {
            0 => break,
            read => drained += read,
        }
    }
    Ok(())
}

/// Returns the reason phrase of a status code.
const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_browsers_request_is_read() {
        let head = b"GET /a/?token=f0&x= HTTP/1.1\r\nhost: localhost:80\r\nCookie: a=b\r\nCookie: c=d\r\n\r\n";
        let request = Request::parse(head).unwrap().unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/a/"));
        assert_eq!(request.parameter("token"), Some("f0"));
        assert_eq!((request.parameter("x"), request.parameter("y")), (Some(""), None));
        assert_eq!(request.host.as_deref(), Some("localhost:80"));
        assert_eq!(request.cookies, ["a=b", "c=d"]);
    }

    #[test]
    fn two_hosts_are_none() {
        let head = b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n";
        assert_eq!(Request::parse(head).unwrap().unwrap().host, None);
    }

    #[test]
    fn a_head_without_end_or_bound_is_refused() {
        assert!(matches!(Request::parse(b"GET / HTTP/1.1\r\nHost: a"), Ok(None)));
        assert!(matches!(Request::parse(b"\x00\x01\x02 / HTTP/1.1\r\n\r\n"), Err(RequestError::Malformed)));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(HEADERS + 1));
        assert!(matches!(Request::parse(many.as_bytes()), Err(RequestError::TooLong)));
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(HEAD_BYTES));
        assert!(matches!(Request::parse(long.as_bytes()), Err(RequestError::TooLong)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let _ = Request::parse(&bytes);
        }

        #[test]
        fn any_target_is_taken_apart(target in "[!-~]{0,200}") {
            let head = format!("GET {target} HTTP/1.1\r\n\r\n");
            if let Ok(Some(request)) = Request::parse(head.as_bytes()) {
                prop_assert!(target.starts_with(&request.path));
                let _ = request.parameter("a");
            }
        }
    }
}
