//! The reader thread: lines from standard input, each with the time of its arrival.
//!
//! It does not parse, answer or drop commands, so their order is kept, and the clock of a `go` counts
//! from its arrival, not from when the controller gets to it.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

/// The longest line that is read, in bytes. The `position` of a game of 6000 moves takes 30 thousand;
/// what is longer than this is no command, and must not fill the memory.
pub const MAX_LINE: usize = 1 << 20;

/// One thing that came in, and when.
#[derive(Debug)]
pub struct Input {
    /// What came in.
    pub what: Arrival,
    /// When it came in.
    pub at: Instant,
}

/// What comes in.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A line as bytes, which need not be UTF-8.
    Line(Vec<u8>),
    /// A line of more than [`MAX_LINE`] bytes, skipped as a whole.
    TooLong,
    /// The end of the input; nothing follows.
    End,
}

impl Input {
    /// A line that arrives now.
    pub fn line(bytes: Vec<u8>) -> Input {
        Input { what: Arrival::Line(bytes), at: Instant::now() }
    }

    /// The end of the input, now.
    pub fn end() -> Input {
        Input { what: Arrival::End, at: Instant::now() }
    }
}

/// Starts the thread that reads `input`.
///
/// # Errors
/// When the thread cannot be started.
pub fn spawn<R: Read + Send + 'static>(input: R) -> io::Result<Receiver<Input>> {
    let (sender, receiver) = unbounded();
    thread::Builder::new()
        .name("reader".into())
        .spawn(move || read_all(&mut BufReader::new(Waiting(input)), &sender))?;
    Ok(receiver)
}

/// How often a stream that does not block is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(1);

/// A stream that waits where its own does not: an input without data has not ended, and an output that is
/// full is not broken.
pub struct Waiting<T>(pub T);

impl<T> Waiting<T> {
    /// Asks until there is an answer.
    fn wait<A>(&mut self, mut ask: impl FnMut(&mut T) -> io::Result<A>) -> io::Result<A> {
        loop {
            match ask(&mut self.0) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(ASK_AGAIN),
                done => return done,
            }
        }
    }
}

impl<R: Read> Read for Waiting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait(|input| input.read(buffer))
    }
}

impl<W: Write> Write for Waiting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait(|output| output.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.wait(W::flush)
    }
}

/// The given lines as if they had been read, with the end of the input behind them.
pub fn script(lines: impl IntoIterator<Item = String>) -> Receiver<Input> {
    let (sender, receiver) = unbounded();
    let lines = lines.into_iter().map(|line| Input::line(line.into_bytes()));
    for input in lines.chain([Input::end()]) {
        // The receiver lives in this function, so this cannot fail.
        let _ = sender.send(input);
    }
    receiver
}

/// Reads until the end, an error (which counts as the end) or until nobody listens.
fn read_all(input: &mut impl BufRead, lines: &Sender<Input>) {
    loop {
        let what = read_line(input).unwrap_or(Arrival::End);
        let is_end = what == Arrival::End;
        let deaf = lines.send(Input { what, at: Instant::now() }).is_err();
        if is_end || deaf {
            return;
        }
    }
}

/// Reads one line; the last one need not end with a newline.
fn read_line(input: &mut impl BufRead) -> io::Result<Arrival> {
    let mut bytes = Vec::new();
    input.by_ref().take(MAX_LINE as u64).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(Arrival::End);
    }
    if bytes.len() == MAX_LINE && bytes.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
        return Ok(Arrival::TooLong);
    }
    Ok(Arrival::Line(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(mut input: &[u8]) -> Vec<Arrival> {
        let (sender, receiver) = unbounded();
        read_all(&mut input, &sender);
        receiver.try_iter().map(|input| input.what).collect()
    }

    #[test]
    fn the_last_line_needs_no_newline() {
        let expected = [Arrival::Line(b"uci\n".to_vec()), Arrival::Line(b"quit".to_vec())];
        assert_eq!(arrivals(b"uci\nquit")[..2], expected);
        assert_eq!(arrivals(b"uci\nquit").last(), Some(&Arrival::End));
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_whole() {
        let mut input = vec![b'x'; MAX_LINE + 10];
        input.extend_from_slice(b"\nisready\n");
        let expected = [Arrival::TooLong, Arrival::Line(b"isready\n".to_vec()), Arrival::End];
        assert_eq!(arrivals(&input), expected);
    }
}
