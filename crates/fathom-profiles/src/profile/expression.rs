use std::fmt;

use fathom_base::{Bytes, Nanos};

/// Deepest nesting of parentheses and calls.
const DEPTH_LIMIT: usize = 32;
/// Longest expression, in bytes.
const LENGTH_LIMIT: usize = 1000;

/// Arithmetic over the values of a case: `floor(memory / 1MiB * 0.003)`.
///
/// Numbers, sizes (`128MiB`, bytes) and times (`5s`, seconds); names of options and of `[let]`;
/// `+ - * /` with blanks around the minus (a name may hold one), parentheses, and the functions
/// `min`, `max`, `floor`, `ceil`, `round`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Name(String),
    Binary(Operator, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Min,
    Max,
    Floor,
    Ceil,
    Round,
}

/// An expression that cannot be read or computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ExpressionError {
    /// What was found and expected.
    pub what: String,
    /// Byte offset in the expression.
    pub offset: usize,
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// [`ExpressionError`] with the place.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        if text.len() > LENGTH_LIMIT {
            return Err(ExpressionError {
                what: format!("an expression has at most {LENGTH_LIMIT} bytes"),
                offset: 0,
            });
        }
        let mut parser = Parser {
            text,
            at: 0,
            depth: 0,
        };
        let root = parser.sum()?;
        parser.blanks();
        match parser.at == text.len() {
            true => Ok(Self {
                text: text.trim().to_owned(),
                root,
            }),
            false => Err(parser.expected("an operator or the end")),
        }
    }

    /// The names in it.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.root.names(&mut names);
        names
    }

    /// Its value; `lookup` knows the names.
    ///
    /// # Errors
    /// In words, when a name has no number or the value is not finite.
    pub fn value(&self, lookup: &dyn Fn(&str) -> Option<f64>) -> Result<f64, String> {
        let value = self.root.value(lookup)?;
        match value.is_finite() {
            true => Ok(value),
            false => Err(format!("{} is no finite number", self.text)),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl Node {
    fn names<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::Number(_) => {}
            Self::Name(name) => names.push(name),
            Self::Binary(_, left, right) => {
                left.names(names);
                right.names(names);
            }
            Self::Call(_, arguments) => arguments.iter().for_each(|node| node.names(names)),
        }
    }

    fn value(&self, lookup: &dyn Fn(&str) -> Option<f64>) -> Result<f64, String> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Name(name) => lookup(name).ok_or_else(|| format!("{name} has no number here")),
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.value(lookup)?, right.value(lookup)?);
                Ok(match operator {
                    Operator::Add => left + right,
                    Operator::Subtract => left - right,
                    Operator::Multiply => left * right,
                    Operator::Divide => left / right,
                })
            }
            Self::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(argument.value(lookup)?);
                }
                Ok(function.of(&values))
            }
        }
    }
}

impl Function {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "min" => Self::Min,
            "max" => Self::Max,
            "floor" => Self::Floor,
            "ceil" => Self::Ceil,
            "round" => Self::Round,
            _ => return None,
        })
    }

    fn takes(self, count: usize) -> bool {
        match self {
            Self::Min | Self::Max => count >= 2,
            Self::Floor | Self::Ceil | Self::Round => count == 1,
        }
    }

    fn of(self, values: &[f64]) -> f64 {
        let first = values.first().copied().unwrap_or(f64::NAN);
        match self {
            Self::Min => values.iter().copied().fold(first, f64::min),
            Self::Max => values.iter().copied().fold(first, f64::max),
            Self::Floor => first.floor(),
            Self::Ceil => first.ceil(),
            Self::Round => first.round(),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn expected(&self, what: &str) -> ExpressionError {
        let found: String = self.rest().chars().take(12).collect();
        ExpressionError {
            what: match found.is_empty() {
                true => format!("expected {what}, found the end"),
                false => format!("expected {what}, found \"{found}\""),
            },
            offset: self.at,
        }
    }

    fn takes(&mut self, symbol: char) -> bool {
        self.blanks();
        let is_there = self.rest().starts_with(symbol);
        if is_there {
            self.at += symbol.len_utf8();
        }
        is_there
    }

    fn sum(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.product()?;
        loop {
            let operator = if self.takes('+') {
                Operator::Add
            } else if self.takes('-') {
                Operator::Subtract
            } else {
                return Ok(left);
            };
            left = Node::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.part()?;
        loop {
            let operator = if self.takes('*') {
                Operator::Multiply
            } else if self.takes('/') {
                Operator::Divide
            } else {
                return Ok(left);
            };
            left = Node::Binary(operator, Box::new(left), Box::new(self.part()?));
        }
    }

    fn part(&mut self) -> Result<Node, ExpressionError> {
        self.blanks();
        match self.rest().chars().next() {
            Some('(') => self.nested(|parser| {
                parser.at += 1;
                let inside = parser.sum()?;
                parser.close()?;
                Ok(inside)
            }),
            Some(first) if first.is_ascii_digit() => self.number(),
            Some(first) if first.is_ascii_lowercase() => self.name(),
            _ => Err(self.expected("a number, a name or a parenthesis")),
        }
    }

    fn nested<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<T, ExpressionError>,
    ) -> Result<T, ExpressionError> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(self.expected("fewer parentheses inside one another"));
        }
        let result = inside(self);
        self.depth -= 1;
        result
    }

    fn close(&mut self) -> Result<(), ExpressionError> {
        match self.takes(')') {
            true => Ok(()),
            false => Err(self.expected("a closing parenthesis")),
        }
    }

    /// A number, a size in bytes or a time in seconds.
    fn number(&mut self) -> Result<Node, ExpressionError> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let word = word(self.rest(), is_part);
        // Without its B a size could be a time: 2m.
        let value = match word.ends_with('B') {
            true => word.parse().ok().map(|size: Bytes| size.as_u64() as f64),
            false => word
                .parse::<f64>()
                .ok()
                .or_else(|| Some(word.parse::<Nanos>().ok()?.as_secs_f64())),
        };
        let value = value.filter(|value| value.is_finite());
        let value = value.ok_or_else(|| self.expected("a number, a size or a time"))?;
        self.at += word.len();
        Ok(Node::Number(value))
    }

    fn name(&mut self) -> Result<Node, ExpressionError> {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let name = word(self.rest(), is_part);
        let function = Function::named(name);
        let after = &self.rest()[name.len()..];
        if !after.trim_start().starts_with('(') {
            self.at += name.len();
            return Ok(Node::Name(name.to_owned()));
        }
        let function = function.ok_or_else(|| self.expected("min, max, floor, ceil or round"))?;
        let begin = self.at;
        self.at += name.len();
        let arguments = self.nested(Self::arguments)?;
        match function.takes(arguments.len()) {
            true => Ok(Node::Call(function, arguments)),
            false => Err(ExpressionError {
                what: format!("{name} does not take {} arguments", arguments.len()),
                offset: begin,
            }),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Node>, ExpressionError> {
        let mut arguments = Vec::new();
        let _ = self.takes('(');
        loop {
            arguments.push(self.sum()?);
            if !self.takes(',') {
                self.close()?;
                return Ok(arguments);
            }
        }
    }
}

fn word(text: &str, is_part: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    &text[..end]
}
