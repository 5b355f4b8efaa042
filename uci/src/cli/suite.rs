//! `cairn perft --suite`: checks the counts of a file.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use cairn_engine::board::Board;
use cairn_engine::perft;
use crossbeam_channel::unbounded;

use super::output::{Printer, exit_when_unread, print};
use super::progress::bar;
use super::{Failure, bad_usage};
use crate::protocol::{MAX_PERFT, quote};
use crate::session::files::read_text;

/// The exit code when nobody reads the results: not all counts are known to agree.
const UNREAD: u8 = 1;

/// The longest suite that is read, in bytes.
const MAX_SUITE: u64 = 1 << 26;

/// A line of a suite: a position and how many leaves its tree has at some depths.
#[derive(Debug)]
struct SuiteEntry {
    line: usize,
    fen: String,
    board: Board,
    counts: Vec<(u32, u64)>,
}

/// Checks the counts of `file` up to `max_depth` plies, `threads` positions at the same time.
pub(super) fn run(file: &Path, max_depth: Option<u32>, threads: usize) -> Result<(), Failure> {
    let name = file.display();
    let text = read_text(file, MAX_SUITE)
        .with_context(|| format!("cannot read {name}"))
        .map_err(bad_usage)?;
    let entries = parse_suite(&text).with_context(|| name.to_string()).map_err(bad_usage)?;
    exit_when_unread(UNREAD);
    let mut printer = Printer::new(bar(entries.len() as u64));
    let failed = check_suite(&entries, max_depth.unwrap_or(u32::MAX), threads, &mut |line| {
        printer.progress.inc(1);
        printer.line(line)
    });
    let summary = format!("{} passed, {failed} failed\n", entries.len() - failed);
    let printed = printer.finish().and_then(|()| print(&summary));
    printed.map_err(|failure| Failure { code: UNREAD, ..failure })?;
    if failed > 0 {
        return Err(anyhow!("{failed} of {} positions disagree", entries.len()).into());
    }
    Ok(())
}

/// Reads a whole number that is not negative.
fn number<T: std::str::FromStr>(what: &str, text: &str) -> Result<T> {
    text.parse().map_err(|_| anyhow!("{what} is a whole number from 0 up, not '{}'", quote(text)))
}

/// Reads the lines of a suite. Empty lines and those that begin with `#` are passed over.
fn parse_suite(text: &str) -> Result<Vec<SuiteEntry>> {
    let entries: Vec<SuiteEntry> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(index, line)| {
            parse_suite_line(index + 1, line).with_context(|| format!("line {}", index + 1))
        })
        .collect::<Result<_>>()?;
    if entries.is_empty() {
        bail!("there are no positions in it");
    }
    Ok(entries)
}

/// Reads one line of a suite, as `FEN ;D1 20 ;D2 400`.
fn parse_suite_line(line: usize, text: &str) -> Result<SuiteEntry> {
    let mut parts = text.split(';').map(str::trim);
    let fen = parts.next().unwrap_or_default().to_owned();
    let board = Board::from_fen(&fen)?;
    let counts = parts
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (depth, nodes) = part
                .strip_prefix('D')
                .and_then(|part| part.split_once(char::is_whitespace))
                .with_context(|| format!("'{}' is not written like 'D3 8902'", quote(part)))?;
            let depth = number("the depth", depth)?;
            if depth > MAX_PERFT {
                bail!("the depth is a whole number up to {MAX_PERFT}, not {depth}");
            }
            Ok((depth, number("the count", nodes.trim())?))
        })
        .collect::<Result<Vec<_>>>()?;
    if counts.is_empty() {
        bail!("there is no count, as in ';D3 8902'");
    }
    Ok(SuiteEntry { line, fen, board, counts })
}

/// Checks all entries and returns how many disagree. `print` says whether there is any use in more.
fn check_suite(
    entries: &[SuiteEntry],
    max_depth: u32,
    threads: usize,
    print: &mut dyn FnMut(String) -> bool,
) -> usize {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (results, lines) = unbounded();
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, entries.len().max(1)) {
            let results = results.clone();
            let (next, stop) = (&next, &stop);
            scope.spawn(move || {
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed))
                    && let Some(checked) = check_entry(entry, max_depth, stop)
                {
                    // The receiver lives as long as this scope.
                    let _ = results.send(checked);
                }
            });
        }
        drop(results);
        let mut failed = 0;
        for (passed, line) in lines {
            failed += usize::from(!passed);
            if !print(line) {
                stop.store(true, Ordering::Relaxed);
            }
        }
        failed
    })
}

/// Checks one entry up to a depth: whether all its counts agree, and a line that says so. None once `stop` is set.
fn check_entry(entry: &SuiteEntry, max_depth: u32, stop: &AtomicBool) -> Option<(bool, String)> {
    let SuiteEntry { line, fen, board, counts } = entry;
    let mut deepest = 0;
    for &(depth, expected) in counts.iter().filter(|(depth, _)| *depth <= max_depth) {
        let nodes = match depth {
            0 => 1,
            depth => perft::divide(board, depth, 1, stop)?.iter().map(|(_, nodes)| nodes).sum(),
        };
        if nodes != expected {
            let text = format!("{line}: FAILED {fen} ;D{depth} {expected}, counted {nodes}");
            return Some((false, text));
        }
        deepest = deepest.max(depth);
    }
    Some((true, format!("{line}: ok to depth {deepest} {fen}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    fn check(text: &str, threads: usize) -> (usize, Vec<String>) {
        let entries = parse_suite(text).expect("a suite");
        let mut lines = Vec::new();
        let failed = check_suite(&entries, 3, threads, &mut |line| {
            lines.push(line);
            true
        });
        (failed, lines)
    }

    #[test]
    fn a_suite_is_checked_to_the_depth_that_is_asked_for() {
        let text = format!("# start\n\n{START} ;D1 20 ;D2 400 ;D3 8902 ;D4 1\n{START} ;D2 401\n");
        for threads in [1, 3] {
            let (failed, mut lines) = check(&text, threads);
            lines.sort();
            assert_eq!(failed, 1);
            assert_eq!(lines[0], format!("3: ok to depth 3 {START}"));
            assert!(lines[1].starts_with("4: FAILED"), "{}", lines[1]);
            assert!(lines[1].ends_with(";D2 401, counted 400"), "{}", lines[1]);
        }
    }

    #[test]
    fn a_suite_whose_results_nobody_can_have_ends() {
        let entries = format!("{START} ;D5 4865609\n").repeat(1000);
        let entries = parse_suite(&entries).expect("a suite");
        let mut lines = 0;
        // Deeper than could be counted to the end.
        let deep = parse_suite(&format!("{START} ;D1 20\n{START} ;D30 1\n")).expect("a suite");
        for (entries, threads) in [(entries, 1), (deep, 2)] {
            check_suite(&entries, 60, threads, &mut |_| {
                lines += 1;
                false
            });
        }
        assert!(lines < 900, "{lines}");
    }

    #[test]
    fn a_bad_suite_is_refused_with_its_line() {
        for (text, complaint) in [
            (format!("{START} ;D1 20\n{START} ;E2 400\n"), "line 2: 'E2 400' is not written"),
            (format!("{START} ;D1 many\n"), "line 1: the count is a whole number"),
            (format!("{START}\n"), "line 1: there is no count"),
            ("8/8 ;D1 20\n".to_owned(), "line 1: "),
            ("\n".to_owned(), "there are no positions"),
        ] {
            let error = format!("{:#}", parse_suite(&text).expect_err(complaint));
            assert!(error.contains(complaint), "{error}");
        }
    }
}
