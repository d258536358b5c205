//! Files of the page, embedded in the program.

use super::http::Response;

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal: $kind:ident;)*) => {
        /// Names, media types and contents.
        const FILES: &[(&str, &str, &str)] = &[$(($name, $kind, include_str!(concat!("page/", $name)))),*];
    };
}

files! {
    "index.html": HTML;
    "style.css": STYLE;
    "icon.svg": PICTURE;
    "main.js": SCRIPT;
    "api.js": SCRIPT;
    "camera.js": SCRIPT;
    "charts.js": SCRIPT;
    "colour.js": SCRIPT;
    "frames.js": SCRIPT;
    "maths.js": SCRIPT;
    "panels.js": SCRIPT;
    "player.js": SCRIPT;
    "scene.js": SCRIPT;
    "shaders.js": SCRIPT;
    "trails.js": SCRIPT;
    "why.js": SCRIPT;
}

/// Returns a file of the page by its name; the page itself for an empty name.
pub fn file(name: &str) -> Option<Response> {
    let name = if name.is_empty() { "index.html" } else { name };
    let (_, kind, content) = FILES.iter().find(|(known, ..)| *known == name)?;
    Some(Response::ok(kind, *content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_file_of_the_page_is_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/page");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(names.collect::<BTreeSet<_>>(), FILES.iter().map(|(name, ..)| (*name).to_owned()).collect());
    }

    #[test]
    fn nothing_of_the_page_comes_from_elsewhere() {
        for (name, _, content) in FILES {
            let addresses =
                content.split("http").skip(1).filter(|rest| rest.starts_with("://") || rest.starts_with("s://"));
            // An XML namespace, which is not a request.
            let others = addresses.filter(|rest| !rest.starts_with("://www.w3.org/2000/svg"));
            assert_eq!(others.count(), 0, "{name}");
        }
    }
}
