//! Games as text, in lines of at most 80 letters where words allow it.

use std::io::{self, Write};
use std::mem;

use cairn_engine::board::Board;
use cairn_engine::piece::Side;

use super::{Game, Line, plain_comment, value};
use crate::protocol::notation::san;
use crate::protocol::text::is_blank;

/// The longest line of moves, in letters.
const LINE_WIDTH: usize = 80;

/// The most words of a command in a comment that are kept together, behind its name.
const COMMAND_WORDS: usize = 4;

/// The annotations that are written behind the move, from 1 on.
const SUFFIXES: [&str; 6] = ["!", "?", "!!", "??", "!?", "?!"];

/// Writes a game, an empty line behind it. A start that its tags do not tell is told.
///
/// # Errors
/// When it cannot be written.
pub fn write_game(game: &Game, output: &mut impl Write) -> io::Result<()> {
    let mut text = String::new();
    for (name, value) in &game.tags {
        text.push_str(&tag(name, value));
    }
    if value(&game.tags, "FEN").is_none() {
        for (name, value) in &Game::new(game.start.clone()).tags {
            text.push_str(&tag(name, value));
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let mut words = Words::default();
    write_line(&game.main, &mut game.start.clone(), &mut words);
    words.push(&game.result.to_string());
    text.push_str(&words.text);
    text.push_str("\n\n");
    output.write_all(text.as_bytes())
}

/// A tag; control characters, which would end its line, become spaces.
fn tag(name: &str, value: &str) -> String {
    let mut text = format!("[{name} \"");
    for letter in value.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            letter if letter.is_control() => text.push(' '),
            letter => text.push(letter),
        }
    }
    text + "\"]\n"
}

/// Writes a line of moves from the position of `board`, which is after its last move then.
fn write_line(line: &Line, board: &mut Board, words: &mut Words) {
    write_comments(&line.comments, words);
    let mut needs_number = true;
    for step in &line.moves {
        let number = board.fullmove_number();
        let mut word = match board.side_to_move() {
            Side::White => format!("{number}. "),
            Side::Black if needs_number => format!("{number}... "),
            Side::Black => String::new(),
        };
        word.push_str(&san(board, step.mv));
        let suffix = step.nags.first().and_then(|&nag| suffix(nag));
        word.push_str(suffix.unwrap_or_default());
        words.push(&word);
        for nag in &step.nags[usize::from(suffix.is_some())..] {
            words.push(&format!("${nag}"));
        }
        write_comments(&step.comments, words);
        for variation in &step.variations {
            words.open();
            write_line(variation, &mut board.clone(), words);
            words.close();
        }
        board.play(step.mv);
        needs_number = !step.comments.is_empty() || !step.variations.is_empty();
    }
}

/// How an annotation is written behind its move, if it can be.
fn suffix(nag: u8) -> Option<&'static str> {
    SUFFIXES.get(usize::from(nag).checked_sub(1)?).copied()
}

fn write_comments(comments: &[String], words: &mut Words) {
    for comment in comments {
        words.comment(&plain_comment(comment));
    }
}

/// Words put into lines.
#[derive(Default)]
struct Words {
    text: String,
    /// The letters of the last line.
    width: usize,
    /// The parentheses that stand before the next word.
    opened: String,
}

impl Words {
    /// Adds a word, on a new line if there is no room.
    fn push(&mut self, word: &str) {
        let opened = mem::take(&mut self.opened);
        let width = opened.len() + word.chars().count();
        if self.width > 0 && self.width + 1 + width > LINE_WIDTH {
            self.text.push('\n');
            self.width = 0;
        } else if self.width > 0 {
            self.text.push(' ');
            self.width += 1;
        }
        self.text.push_str(&opened);
        self.text.push_str(word);
        self.width += width;
    }

    /// Adds a comment. No line begins with what readers take for something else than its words, and a command such
    /// as `[%eval 0.35]` stays on one line.
    fn comment(&mut self, text: &str) {
        let mut pending = String::from("{ ");
        let mut of_command = 0;
        for word in text.split(is_blank) {
            let is_in_command = of_command > 0;
            of_command = match word {
                _ if word.ends_with(']') => 0,
                _ if word.starts_with("[%") => COMMAND_WORDS,
                _ => of_command.saturating_sub(1),
            };
            if !is_in_command && !word.starts_with(['%', '[', ';']) && pending != "{ " {
                self.push(&pending);
                pending.clear();
            } else if !pending.ends_with(' ') {
                pending.push(' ');
            }
            pending.push_str(word);
        }
        self.push(&pending);
        self.push("}");
    }

    fn open(&mut self) {
        self.opened.push('(');
    }

    fn close(&mut self) {
        self.text.push(')');
        self.width += 1;
    }
}
