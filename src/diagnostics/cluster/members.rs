//! Particles of a binary or hierarchy.

use std::fmt;
use std::str::FromStr;

/// A particle, or two components that are bound to each other. Written as `7`, `(3+7)`, `((3+7)+12)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Members {
    /// Particle, by its id.
    One(u64),
    /// Two components, the one with the smallest id first.
    Two(Box<[Members; 2]>),
}

impl Members {
    /// Creates a pair of two components.
    #[must_use]
    pub fn two(a: Self, b: Self) -> Self {
        Self::Two(Box::new(if a.first() <= b.first() { [a, b] } else { [b, a] }))
    }

    /// Returns the smallest id.
    #[must_use]
    pub fn first(&self) -> u64 {
        match self {
            Self::One(id) => *id,
            Self::Two(two) => two[0].first().min(two[1].first()),
        }
    }

    /// Returns all ids, in the order in which they are written.
    #[must_use]
    pub fn ids(&self) -> Vec<u64> {
        match self {
            Self::One(id) => vec![*id],
            Self::Two(two) => [two[0].ids(), two[1].ids()].concat(),
        }
    }

    /// Returns the ids of each system of two components in it, itself last.
    pub(super) fn levels(&self) -> Vec<Vec<u64>> {
        match self {
            Self::One(_) => Vec::new(),
            Self::Two(two) => [two[0].levels(), two[1].levels(), vec![self.ids()]].concat(),
        }
    }

    /// Returns the ids, if the components are two particles.
    #[must_use]
    pub fn binary(&self) -> Option<[u64; 2]> {
        match self {
            Self::Two(two) => match **two {
                [Self::One(a), Self::One(b)] => Some([a, b]),
                _ => None,
            },
            Self::One(_) => None,
        }
    }
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(id) => write!(f, "{id}"),
            Self::Two(two) => write!(f, "({}+{})", two[0], two[1]),
        }
    }
}

impl FromStr for Members {
    type Err = String;

    /// Parses the text written by [`Display`](fmt::Display).
    fn from_str(text: &str) -> Result<Self, String> {
        match parse(text, 0)? {
            (members, "") => Ok(members),
            (_, rest) => Err(format!("'{rest}' follows the members")),
        }
    }
}

/// Deepest nesting of brackets that is accepted.
const DEEPEST: u32 = 64;

fn parse(text: &str, depth: u32) -> Result<(Members, &str), String> {
    let Some(inside) = text.strip_prefix('(') else {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        return digits.parse().map(|id| (Members::One(id), rest)).map_err(|_| format!("expected an id at '{text}'"));
    };
    let expected = |what: &str, found: &str| format!("expected '{what}' at '{found}'");
    if depth == DEEPEST {
        return Err("too many brackets".into());
    }
    let (a, rest) = parse(inside, depth + 1)?;
    let (b, rest) = parse(rest.strip_prefix('+').ok_or_else(|| expected("+", rest))?, depth + 1)?;
    let rest = rest.strip_prefix(')').ok_or_else(|| expected(")", rest))?;
    Ok((Members::two(a, b), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_written_and_read() {
        let inner = Members::two(Members::One(7), Members::One(3));
        let triple = Members::two(Members::One(12), inner.clone());
        assert_eq!((inner.to_string(), triple.to_string()), ("(3+7)".into(), "((3+7)+12)".into()));
        assert_eq!(
            (triple.first(), triple.ids(), inner.binary(), triple.binary()),
            (3, vec![3, 7, 12], Some([3, 7]), None)
        );
        for members in [inner, triple, Members::One(u64::MAX)] {
            assert_eq!(members.to_string().parse(), Ok(members));
        }
        for bad in ["", "(", "(1", "(1+", "(1+2", "(1+2)x", "(1,2)", "x", "99999999999999999999999", &"(".repeat(1000)]
        {
            assert!(bad.parse::<Members>().is_err(), "{bad}");
        }
    }
}
