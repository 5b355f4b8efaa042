//! Lines of a file, read one by one in bounded memory.

use std::io::{self, BufRead, ErrorKind};

/// Reads lines of bytes.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    longest: usize,
}

/// A line, or what stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundLine<'a> {
    /// Its bytes, with the line break if there is one. Some files begin with a byte-order mark: that of UTF-8
    /// is left out.
    Text(&'a [u8]),
    /// It has more bytes than may be, and is passed over.
    TooLong,
}

impl<R: BufRead> Lines<R> {
    /// The lines of `input`, each of at most `longest` bytes.
    pub fn new(input: R, longest: usize) -> Lines<R> {
        Lines { input, line: Vec::new(), number: 0, longest }
    }

    /// The number of the line that was read last, from 1.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The bytes that come next, as many as there are without waiting for more; empty at the end.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn peek(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    /// Reads the next line, or none at the end.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn advance(&mut self) -> io::Result<Option<FoundLine<'_>>> {
        self.line.clear();
        let (mut is_empty, mut is_too_long) = (true, false);
        loop {
            let bytes = match self.input.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes.is_empty() {
                break;
            }
            is_empty = false;
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let length = end.map_or(bytes.len(), |end| end + 1);
            is_too_long |= self.line.len() + length > self.longest;
            if !is_too_long {
                self.line.extend_from_slice(&bytes[..length]);
            }
            self.input.consume(length);
            if end.is_some() {
                break;
            }
        }
        if is_empty {
            return Ok(None);
        }
        self.number += 1;
        if is_too_long {
            return Ok(Some(FoundLine::TooLong));
        }
        let mark = if self.number == 1 { &b"\xef\xbb\xbf"[..] } else { b"" };
        Ok(Some(FoundLine::Text(self.line.strip_prefix(mark).unwrap_or(&self.line))))
    }
}

/// Text in UTF-8, or else in Latin-1.
#[must_use]
pub fn decode(bytes: &[u8]) -> String {
    match str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}
