//! Games out of files, whatever their format.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use cairn_engine::board::Board;
use cairn_engine::selfplay::{GameResult, Ply, Record};

/// A game: where its searched moves begin, and these with their scores from white's view.
pub(crate) struct Game {
    /// The position before the first searched move.
    pub(crate) start: Board,
    /// The searched moves.
    pub(crate) plies: Vec<Ply>,
    /// How it ended.
    pub(crate) result: GameResult,
}

/// The next game of a file, or where and how it is damaged.
pub(crate) type Read = std::result::Result<Game, String>;

/// Calls `take` with all games of a file in order. After damage it goes on with the next game that can
/// be found.
///
/// # Errors
/// If the file cannot be read at all.
pub(crate) fn read(file: &Path, take: &mut dyn FnMut(Read) -> Result<()>) -> Result<()> {
    let bytes = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    // A file of format 1 has no header: it begins with a game.
    for game in (Format1 { bytes: &bytes, at: 0 }) {
        take(game)?;
    }
    Ok(())
}

/// Format 1: records of games from the start position, one after the other.
struct Format1<'bytes> {
    bytes: &'bytes [u8],
    at: usize,
}

impl Iterator for Format1<'_> {
    type Item = Read;

    fn next(&mut self) -> Option<Read> {
        let (at, rest) = (self.at, &self.bytes[self.at..]);
        if rest.is_empty() {
            return None;
        }
        let Some((record, length)) = Record::read(rest) else {
            self.at = self.bytes.len();
            return Some(Err(if Record::is_begun(rest) {
                format!("the game at byte {at} is cut off")
            } else {
                format!("no game at byte {at}; the {} bytes from there are not used", rest.len())
            }));
        };
        self.at += length;
        let mut start = Board::startpos();
        for &mv in &record.opening {
            if !start.legal_moves().contains(&mv) {
                return Some(Err(format!(
                    "an illegal move in the opening of the game at byte {at}"
                )));
            }
            start.play(mv);
        }
        Some(Ok(Game { start, plies: record.plies, result: record.result }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::record;

    /// What is read of a file with these bytes: games by the number of their moves, and faults.
    fn read_back(name: &str, bytes: &[u8]) -> Vec<std::result::Result<usize, String>> {
        let file = std::env::temp_dir().join(format!("train-games-{}-{name}", std::process::id()));
        fs::write(&file, bytes).unwrap();
        let mut found = Vec::new();
        let result = read(&file, &mut |game| {
            found.push(game.map(|game| game.plies.len()));
            Ok(())
        });
        fs::remove_file(&file).unwrap();
        result.unwrap();
        found
    }

    #[test]
    fn of_a_damaged_file_is_used_what_is_whole() {
        let records: Vec<Record> = (0..3).map(record).collect();
        let mut bytes = Vec::new();
        let mut starts = Vec::new();
        for record in &records {
            starts.push(bytes.len());
            record.write(&mut bytes);
        }
        let lengths = [0, 1, 2].map(|number| records[number].plies.len());
        assert_eq!(read_back("whole", &bytes), lengths.map(Ok));

        let cut = read_back("cut", &bytes[..bytes.len() - 1]);
        assert_eq!(cut[..2], [Ok(lengths[0]), Ok(lengths[1])]);
        assert_eq!(cut[2], Err(format!("the game at byte {} is cut off", starts[2])));

        let mut foreign = bytes.clone();
        foreign[starts[1]] = 9;
        let foreign = read_back("foreign", &foreign);
        assert_eq!(foreign.len(), 2);
        let fault = foreign[1].as_ref().unwrap_err();
        assert!(fault.contains(&format!("byte {}", starts[1])), "{fault}");

        let mut illegal = bytes.clone();
        illegal.copy_within(starts[1] + 6..starts[1] + 8, starts[1] + 4);
        let illegal = read_back("illegal", &illegal);
        assert_eq!((&illegal[0], &illegal[2]), (&Ok(lengths[0]), &Ok(lengths[2])));
        assert!(illegal[1].as_ref().unwrap_err().contains("illegal"));

        assert_eq!(read_back("empty", &[]), []);
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read(Path::new("no such file"), &mut |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("no such file"));
    }
}
