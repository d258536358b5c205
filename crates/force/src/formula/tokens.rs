//! The words of a formula: numbers, names, signs.

use super::mistake::{At, Checked};
use std::ops::Range;
use winnow::ascii::{digit0, digit1, multispace0};
use winnow::combinator::{alt, opt, preceded};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{one_of, take_while};

/// Word of a formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// Unsigned number.
    Number(f64),
    /// Name of a quantity or function.
    Name(String),
    /// One of `+ - * / ^ ( ) , < >`; `**` is read as `^`.
    Sign(char),
}

/// Longest formula in bytes.
pub const MAX_BYTES: usize = 4096;

/// Returns the words of a formula with their places.
pub fn tokens(formula: &str) -> Checked<Vec<(Token, Range<usize>)>> {
    if formula.len() > MAX_BYTES {
        let problem = format!("a formula has at most {MAX_BYTES} bytes, this one has {}", formula.len());
        let start = (0..=MAX_BYTES).rev().find(|&at| formula.is_char_boundary(at)).unwrap_or(0);
        return Err(At::new(&(start..start), problem));
    }
    let mut rest = LocatingSlice::new(formula);
    let mut found = Vec::new();
    loop {
        blanks(&mut rest);
        let start = rest.current_token_start();
        if rest.is_empty() {
            return Ok(found);
        }
        let Ok((token, span)) = token.with_span().parse_next(&mut rest) else {
            let wrong = formula[start..].chars().next().unwrap_or(' ');
            let problem = format!("`{}` has no place in a formula", wrong.escape_debug());
            return Err(At::new(&(start..start + wrong.len_utf8()), problem));
        };
        if let Token::Number(value) = token
            && !value.is_finite()
        {
            return Err(At::new(&span, "the number is too large"));
        }
        found.push((token, span));
    }
}

fn blanks(input: &mut LocatingSlice<&str>) {
    let blank: winnow::ModalResult<&str> = multispace0.parse_next(input);
    debug_assert!(blank.is_ok(), "any number of blanks is fine");
}

fn token(input: &mut LocatingSlice<&str>) -> winnow::ModalResult<Token> {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let name = (one_of(letter), take_while(0.., move |c: char| letter(c) || c.is_ascii_digit())).take();
    let exponent = || opt((one_of(['e', 'E']), opt(one_of(['+', '-'])), digit1));
    let number = alt(((digit1, opt(('.', digit0)), exponent()).take(), preceded('.', (digit1, exponent())).take()));
    alt((
        number.try_map(|text: &str| text.parse().map(Token::Number)),
        name.map(|text: &str| Token::Name(text.into())),
        "**".value(Token::Sign('^')),
        one_of(['+', '-', '*', '/', '^', '(', ')', ',', '<', '>']).map(Token::Sign),
    ))
    .parse_next(input)
}
