//! From the text of a formula to its tree.

use super::mistake::{At, Checked};
use super::syntax::{Expression, Function, Kind, Operator};
use super::tokens::{Token, tokens};
use crate::error::nearest;
use std::ops::Range;

/// Deepest nesting of a formula.
pub const MAX_DEPTH: usize = 64;

/// Parses a formula. In falling order of precedence: functions and brackets, `^` (from the right), `−` of one operand,
/// `*` and `/`, `+` and `−`.
pub(crate) fn parse(formula: &str) -> Checked<Expression> {
    let tokens = tokens(formula)?;
    let mut parser = Parser { tokens, at: 0, end: formula.len(), depth: 0 };
    let expression = parser.sum()?;
    match parser.peek() {
        None => Ok(expression),
        Some(_) => Err(parser.unexpected("an operator or the end of the formula")),
    }
}

struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    end: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    /// Returns the place of the next word, or of the end.
    fn place(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.end..self.end, |(_, span)| span.clone())
    }

    fn unexpected(&self, expected: &str) -> At {
        let found = match self.peek() {
            None => "the end of the formula".into(),
            Some(Token::Number(value)) => format!("the number {value}"),
            Some(Token::Name(name)) => format!("`{name}`"),
            Some(Token::Sign(sign)) => format!("`{sign}`"),
        };
        At::new(&self.place(), format!("expected {expected}, found {found}"))
    }

    /// Takes the next word if it is one of these signs.
    fn take(&mut self, signs: &[char]) -> Option<char> {
        let &Token::Sign(sign) = self.peek()? else { return None };
        signs.contains(&sign).then(|| {
            self.at += 1;
            sign
        })
    }

    fn expect(&mut self, sign: char) -> Checked<()> {
        if self.take(&[sign]).is_some() { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    /// Parses one level deeper.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Checked<T>) -> Checked<T> {
        if self.depth == MAX_DEPTH {
            return Err(At::new(&self.place(), format!("the formula is nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Parses operands of one precedence from the left.
    fn left(
        &mut self,
        signs: [(char, Operator); 2],
        operand: impl Fn(&mut Self) -> Checked<Expression>,
    ) -> Checked<Expression> {
        let mut left = operand(self)?;
        // The tree leans to the left: a long chain is deep too.
        let mut links = 0;
        while let Some(sign) = self.take(&signs.map(|(sign, _)| sign)) {
            links += 1;
            if links > MAX_LINKS {
                let problem = format!("more than {MAX_LINKS} operators in a row: put some into brackets");
                return Err(At::new(&self.place(), problem));
            }
            let operator = if sign == signs[0].0 { signs[0].1 } else { signs[1].1 };
            left = binary(operator, left, operand(self)?);
        }
        Ok(left)
    }

    fn sum(&mut self) -> Checked<Expression> {
        self.deeper(|parser| parser.left([('+', Operator::Add), ('-', Operator::Sub)], Self::product))
    }

    fn product(&mut self) -> Checked<Expression> {
        self.left([('*', Operator::Mul), ('/', Operator::Div)], Self::signed)
    }

    fn signed(&mut self) -> Checked<Expression> {
        let start = self.place().start;
        match self.take(&['-', '+']) {
            None => self.power(),
            Some(sign) => {
                let inner = self.deeper(Self::signed)?;
                let span = start..inner.span.end;
                let kind = if sign == '-' { Kind::Negative(Box::new(inner)) } else { inner.kind };
                Ok(Expression { kind, span })
            }
        }
    }

    fn power(&mut self) -> Checked<Expression> {
        let base = self.atom()?;
        if self.take(&['^']).is_none() {
            return Ok(base);
        }
        let exponent = self.deeper(Self::signed)?;
        Ok(binary(Operator::Pow, base, exponent))
    }

    fn atom(&mut self) -> Checked<Expression> {
        let span = self.place();
        match self.peek().cloned() {
            Some(Token::Number(value)) => {
                self.at += 1;
                Ok(Expression { kind: Kind::Number(value), span })
            }
            Some(Token::Name(name)) => {
                self.at += 1;
                if self.take(&['(']).is_some() { self.call(&name, span) } else { named(name, span) }
            }
            Some(Token::Sign('(')) => {
                self.at += 1;
                let inner = self.sum()?;
                self.expect(')')?;
                Ok(inner)
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    /// Parses the arguments of a function, after the bracket.
    fn call(&mut self, name: &str, span: Range<usize>) -> Checked<Expression> {
        if name == CHOICE {
            return self.choice(span.start);
        }
        let Some(function) = Function::ALL.into_iter().find(|function| function.name() == name) else {
            let names: Vec<_> = Function::ALL.map(Function::name).into_iter().chain([CHOICE]).collect();
            let problem = match nearest(name, &names) {
                Some(nearest) => format!("unknown function `{name}`: did you mean `{nearest}`?"),
                None => format!("unknown function `{name}`: there are {}", names.join(", ")),
            };
            return Err(At::new(&span, problem));
        };
        let mut arguments = vec![self.sum()?];
        while self.take(&[',']).is_some() {
            arguments.push(self.sum()?);
        }
        self.expect(')')?;
        let whole = span.start..self.last_end();
        if arguments.len() != function.arguments() {
            let problem = format!("{name} has {} arguments, found {}", function.arguments(), arguments.len());
            return Err(At::new(&whole, problem));
        }
        Ok(Expression { kind: Kind::Call(function, arguments), span: whole })
    }

    /// Parses `a < b, c, d)`.
    fn choice(&mut self, start: usize) -> Checked<Expression> {
        let left = self.sum()?;
        let Some(sign) = self.take(&['<', '>']) else {
            return Err(self.unexpected("`<` or `>`, as in if(s < a, …, …)"));
        };
        let right = self.sum()?;
        self.expect(',')?;
        let yes = self.sum()?;
        self.expect(',')?;
        let no = self.sum()?;
        self.expect(')')?;
        let (less, more) = if sign == '<' { (left, right) } else { (right, left) };
        Ok(Expression { kind: Kind::Choice(Box::new([less, more, yes, no])), span: start..self.last_end() })
    }

    /// Returns where the last word that was taken ends.
    fn last_end(&self) -> usize {
        self.tokens.get(self.at.wrapping_sub(1)).map_or(self.end, |(_, span)| span.end)
    }
}

/// Name of the function that chooses.
const CHOICE: &str = "if";
/// Largest number of operators of one precedence in a row.
const MAX_LINKS: usize = 256;

fn named(name: String, span: Range<usize>) -> Checked<Expression> {
    let function = Function::ALL.into_iter().any(|function| function.name() == name) || name == CHOICE;
    if function {
        return Err(At::new(&span, format!("expected arguments after the function: {name}(…)")));
    }
    Ok(Expression { kind: Kind::Name(name), span })
}

fn binary(operator: Operator, left: Expression, right: Expression) -> Expression {
    let span = left.span.start..right.span.end;
    Expression { kind: Kind::Binary(operator, Box::new(left), Box::new(right)), span }
}
