//! Access to a view by a secret token: any user of this machine can connect to a port of the loopback interface.

use super::http::{self, Parts};
use subtle::ConstantTimeEq;
use tisane::particles::hexadecimal;

/// Token of one view, and the check of requests against it. The random token of 128 bits is in the address that the
/// program prints; afterwards the browser sends it as a cookie that scripts cannot read and other sites cannot send.
/// The path of the page is random too, so that the cookie is sent to this view and to no other server on the machine:
/// cookies do not distinguish ports.
#[derive(Clone, Debug)]
pub struct TokenGuard {
    id: String,
    token: String,
}

/// Name of the cookie.
const COOKIE: &str = "tisane";

/// Credential of an authorized request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// Token in the address: the response sets the cookie.
    Token,
    /// Cookie.
    Cookie,
}

impl TokenGuard {
    /// Creates a random token with the random number generator of the operating system.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn new() -> Result<Self, getrandom::Error> {
        let (mut id, mut token) = ([0u8; 4], [0u8; 16]);
        getrandom::fill(&mut id)?;
        getrandom::fill(&mut token)?;
        Ok(Self { id: hexadecimal(&id), token: hexadecimal(&token) })
    }

    /// Returns the path and query of the address of the view, with the token.
    #[must_use]
    pub fn address(&self) -> String {
        format!("/{}/?token={}", self.id, self.token)
    }

    /// Returns the cookie to set after a request with the token.
    #[must_use]
    pub fn cookie(&self) -> String {
        format!("{COOKIE}={}; Path=/{}/; HttpOnly; SameSite=Strict", self.token, self.id)
    }

    /// Returns the credential of an authorized request and the requested path below that of the view; [`None`] for
    /// other requests.
    #[must_use]
    pub fn authorize<'a>(&self, request: &'a Parts) -> Option<(Credential, &'a str)> {
        let place = request.uri.path().strip_prefix('/')?.strip_prefix(self.id.as_str())?.strip_prefix('/')?;
        // A whole address instead of a path is what a proxy would be asked.
        if request.uri.scheme().is_some() || !http::host(request).is_some_and(is_loopback) {
            return None;
        }
        if http::parameter(request, "token").is_some_and(|given| self.is_token(given)) {
            return Some((Credential::Token, place));
        }
        let is_ours = |pair: &str| {
            pair.split_once('=').is_some_and(|(name, value)| name.trim() == COOKIE && self.is_token(value.trim()))
        };
        http::cookies(request).any(|line| line.split(';').any(is_ours)).then_some((Credential::Cookie, place))
    }

    /// Compares in constant time, so that the duration does not reveal how many bytes match.
    fn is_token(&self, given: &str) -> bool {
        self.token.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

/// Returns true for the names of the loopback interface. Any other name is that of a foreign page resolved to this
/// machine (DNS rebinding). Any port is allowed: an ssh tunnel has another one.
fn is_loopback(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]"].into_iter().any(|name| {
        let rest = host.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).map(|_| &host[name.len()..]);
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, query: &str, host: Option<&str>, cookies: &[&str]) -> Parts {
        let mut request = hyper::Request::get(format!("{path}?{query}"));
        for (name, value) in host.iter().map(|host| ("Host", host)).chain(cookies.iter().map(|one| ("Cookie", one))) {
            request = request.header(name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn the_token_or_the_cookie_opens_and_nothing_else() {
        let guard = TokenGuard { id: "ab12".into(), token: "0f".repeat(16) };
        let query = format!("token={}", guard.token);
        let cookie = format!("other=1; tisane={}", guard.token);
        let host = Some("localhost:1234");
        assert_eq!(guard.authorize(&request("/ab12/", &query, host, &[])), Some((Credential::Token, "")));
        assert_eq!(
            guard.authorize(&request("/ab12/api/state", "", host, &[&cookie])),
            Some((Credential::Cookie, "api/state"))
        );
        for closed in [
            request("/ab12/", "", host, &[]),
            request("/ab12/", "token=", host, &[]),
            request("/ab12/", &query[..query.len() - 1], host, &[]),
            request("/ab12/", &format!("{query}0"), host, &[]),
            request("/ab12/", "", host, &["tisane=00", "token=1"]),
            request("/ab13/", &query, host, &[&cookie]),
            request("/", &query, host, &[&cookie]),
            request("http://localhost/ab12/", &query, host, &[&cookie]),
            request("/ab12/", &query, None, &[&cookie]),
            request("/ab12/", &query, Some("evil.example:1234"), &[&cookie]),
        ] {
            assert_eq!(guard.authorize(&closed), None, "{closed:?}");
        }
    }

    #[test]
    fn tokens_are_long_and_new_each_time() {
        let (a, b) = (TokenGuard::new().unwrap(), TokenGuard::new().unwrap());
        assert_eq!((a.token.len(), a.id.len()), (32, 8));
        assert_ne!(a.token, b.token);
        assert!(a.cookie().contains("HttpOnly; SameSite=Strict"));
    }

    #[test]
    fn only_loopback_names_are_accepted() {
        for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8765", "[::1]:65535", "127.0.0.1"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "localhost.", "localhost:", "localhost:65536", "localhostx", "127.0.0.1.evil.example", "é"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
