//! Runs the program and talks to it as a GUI does.

#![allow(dead_code, reason = "each test binary needs a part of it")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take that should take no time. Tests run on busy machines.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How long to listen when the claim is that nothing comes.
pub(crate) const SILENCE: Duration = Duration::from_millis(60);

/// The program, running.
pub(crate) struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
}

impl Engine {
    /// Starts the program without arguments, with the smallest hash table.
    pub(crate) fn start() -> Engine {
        let mut engine = Engine::start_raw();
        engine.send("setoption name Hash value 1");
        engine
    }

    /// Starts the program without arguments and says nothing to it.
    pub(crate) fn start_raw() -> Engine {
        Engine::start_by(&mut Command::new(env!("CARGO_BIN_EXE_cairn")))
    }

    /// Starts the program by a command that becomes it.
    pub(crate) fn start_by(command: &mut Command) -> Engine {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let input = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, output) = channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                let line = line.expect("the output is UTF-8");
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Engine { child, input, output }
    }

    /// Sends one line.
    pub(crate) fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Sends bytes as they are. A program that has ended does not take them, which is no error here:
    /// the test will see that it has ended.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(bytes).and_then(|()| input.flush());
        }
    }

    /// Closes the program's input.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// The next line, if one comes in time.
    pub(crate) fn line_within(&self, time: Duration) -> Option<String> {
        self.output.recv_timeout(time).ok()
    }

    /// All lines up to one that begins with `start`, which is the last of them.
    pub(crate) fn read_until(&self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.line_within(PATIENCE);
            let line = line.unwrap_or_else(|| panic!("no '{start}' after {lines:#?}"));
            let found = line.starts_with(start);
            lines.push(line);
            if found {
                return lines;
            }
        }
    }

    /// The next `bestmove` line.
    pub(crate) fn best_move(&self) -> String {
        self.read_until("bestmove").pop().expect("a line")
    }

    /// All lines up to the answer to an `isready` that is sent now; the answer is left out.
    pub(crate) fn settle(&mut self) -> Vec<String> {
        self.send("isready");
        let mut lines = self.read_until("readyok");
        lines.pop();
        lines
    }

    /// Asserts that no `bestmove` comes for a while.
    pub(crate) fn assert_no_best_move(&self) {
        let until = Instant::now() + SILENCE;
        while let Some(line) = self.line_within(until.saturating_duration_since(Instant::now())) {
            assert!(!line.starts_with("bestmove"), "{line}");
        }
    }

    /// The position on the board, as the program shows it.
    pub(crate) fn fen(&mut self) -> String {
        self.send("d");
        let lines = self.settle();
        let fen = lines.iter().find_map(|line| line.strip_prefix("Fen: "));
        fen.unwrap_or_else(|| panic!("no FEN in {lines:#?}")).to_owned()
    }

    /// Waits for the program to end by itself.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(Instant::now() < until, "the program does not end");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// What is left of the output of a program that has ended.
    pub(crate) fn rest(&self) -> Vec<String> {
        self.output.iter().collect()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
