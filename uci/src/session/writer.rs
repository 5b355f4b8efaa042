//! The writer thread: the only owner of standard output.
//!
//! It writes whole lines and flushes whenever the queue is empty. A reader that does not read blocks
//! this thread alone. When the output breaks, the thread ends, which tells the controller.

use std::io::{self, Write};
use std::mem::discriminant;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, never, unbounded};

use crate::protocol::Reply;
use crate::session::reader::Waiting;

/// The most lines that are written at once.
const BATCH: usize = 64;

/// The handle of the writer thread.
#[derive(Debug)]
pub struct Writer {
    replies: Option<Sender<Reply>>,
    ended: Receiver<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl Writer {
    /// Starts the thread that writes to `output`.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn spawn<W: Write + Send + 'static>(output: W) -> io::Result<Writer> {
        Writer::spawn_with(output, Reply::write_line)
    }

    /// The same with another text than that of UCI: `write` appends a reply to it.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn spawn_with<W: Write + Send + 'static>(
        output: W,
        write: impl FnMut(&Reply, &mut String) + Send + 'static,
    ) -> io::Result<Writer> {
        let (replies, queue) = unbounded();
        let (alive, ended) = bounded(0);
        let thread = thread::Builder::new().name("writer".into()).spawn(move || {
            // Dropped at the end of the thread, whatever ends it; that closes `ended`.
            let _alive: Sender<()> = alive;
            write_all(Waiting(output), write, &queue)
        })?;
        Ok(Writer { replies: Some(replies), ended, thread })
    }

    /// Queues one reply.
    pub fn send(&self, reply: Reply) {
        if let Some(replies) = &self.replies {
            // Fails once the writer has ended, which closes `ended`.
            let _ = replies.send(reply);
        }
    }

    /// Closed once the writer has ended; never carries a message.
    pub fn ended(&self) -> &Receiver<()> {
        &self.ended
    }

    /// Waits until all queued lines are written, for at most `patience` if given.
    ///
    /// # Errors
    /// Why something could not be written; a broken pipe is a peer that has gone.
    pub fn finish(mut self, patience: Option<Duration>) -> io::Result<()> {
        self.replies = None;
        let give_up = patience.map_or_else(never, crossbeam_channel::after);
        crossbeam_channel::select! {
            recv(self.ended) -> _ => self.thread.join().unwrap_or(Ok(())),
            recv(give_up) -> _ => Ok(()),
        }
    }
}

/// Writes replies until the queue is closed.
fn write_all(
    mut output: impl Write,
    mut write: impl FnMut(&Reply, &mut String),
    queue: &Receiver<Reply>,
) -> io::Result<()> {
    let mut text = String::new();
    while let Ok(first) = queue.recv() {
        text.clear();
        let batch: Vec<Reply> =
            std::iter::once(first).chain(queue.try_iter().take(BATCH - 1)).collect();
        for (index, reply) in batch.iter().enumerate() {
            if !is_stale(reply, &batch[index + 1..]) {
                write(reply, &mut text);
            }
        }
        output.write_all(text.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

/// Whether a waiting progress line is outdated by a later reply: a slow reader gets only the latest.
fn is_stale(reply: &Reply, later: &[Reply]) -> bool {
    reply.tells_progress()
        && later.iter().any(|other| {
            matches!(other, Reply::BestMove { .. } | Reply::Info(_))
                || discriminant(other) == discriminant(reply)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Info, Status};
    use cairn_engine::search::{Bound, ScoreText};

    /// A reader that has gone.
    struct Broken;

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn progress_is_not_told_late() {
        let line = |bound| {
            Reply::Info(Info {
                depth: 3,
                seldepth: None,
                multi_pv: 1,
                score: ScoreText::Centipawns(5),
                bound,
                wdl: None,
                nodes: 100,
                elapsed: Duration::ZERO,
                hash_full: 0,
                table_hits: None,
                pv: vec!["e2e4".into()],
            })
        };
        let status = Reply::Status(Status {
            depth: 3,
            nodes: 9,
            hash_full: 0,
            table_hits: None,
            elapsed: Duration::ZERO,
        });
        let current = Reply::CurrentMove { depth: 3, mv: "e2e4".into(), number: 1 };
        let (exact, lower) = (line(Bound::Exact), line(Bound::Lower));
        for passing in [&status, &current, &lower] {
            assert!(!is_stale(passing, &[Reply::ReadyOk]));
            assert!(is_stale(passing, &[Reply::ReadyOk, passing.clone()]));
            assert!(is_stale(passing, std::slice::from_ref(&exact)));
            assert!(!is_stale(&exact, &[passing.clone(), exact.clone()]));
        }
        assert!(!is_stale(&current, &[status]), "they tell different things");
    }

    #[test]
    fn a_broken_output_ends_the_writer() {
        let writer = Writer::spawn(Broken).expect("a thread");
        writer.send(Reply::ReadyOk);
        let ended = writer.ended().recv_timeout(Duration::from_secs(5));
        assert_eq!(ended, Err(crossbeam_channel::RecvTimeoutError::Disconnected));
        let error = writer.finish(None).expect_err("it is broken");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
