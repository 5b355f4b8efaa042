//! Commands beyond UCI as text: `bench`, `perft`, `d`, `eval` and `help`.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Result;
use cairn_engine::board::Board;
use cairn_engine::eval::phase::FULL_PHASE;
use cairn_engine::eval::tapered::{KINDS, Terms, Worth};
use cairn_engine::piece::{Kind, Side};
use cairn_engine::search::Control;
use cairn_engine::search::micromax::root_balance;
use cairn_engine::{bench, perft};

use crate::protocol::notation::pawns;
use crate::protocol::speed;
use crate::session::options::{self, OptionKind};

/// Searches the fixed positions, to `depth` if given. The last line is `N nodes M nps`, unless `control` is
/// stopped before the end; the node count depends on the build alone.
///
/// # Errors
/// When there is no memory for the hash table.
pub fn bench(depth: Option<u32>, control: &Control, print: &mut dyn FnMut(String)) -> Result<()> {
    let start = Instant::now();
    let count = bench::POSITIONS.len();
    let nodes = bench::run(depth, control, &mut |progress| {
        print(format!("{:2}/{count} {} nodes", progress.number, progress.nodes));
    })?;
    print(match nodes {
        Some(nodes) => format!("{nodes} nodes {} nps", speed(nodes, start.elapsed())),
        None => "bench was stopped".into(),
    });
    Ok(())
}

/// Counts the leaves of the legal move tree behind each move, `depth` plies from `board`. The last
/// line is `Nodes searched: N`, unless `stop` is set before the end.
pub fn divide(
    board: &Board,
    depth: u32,
    chess960: bool,
    stop: &AtomicBool,
    print: &mut dyn FnMut(String),
) {
    let start = Instant::now();
    let mut total = 1;
    if depth > 0 {
        let Some(counts) = perft::divide(board, depth, 1, stop) else {
            print("perft was stopped".into());
            return;
        };
        for &(mv, nodes) in &counts {
            print(format!("{}: {nodes}", board.uci_text(mv, chess960)));
        }
        total = counts.iter().map(|&(_, nodes)| nodes).sum();
    }
    let elapsed = start.elapsed();
    print(format!("\n{} ms, {} nodes/s", elapsed.as_millis(), speed(total, elapsed)));
    print(format!("Nodes searched: {total}"));
}

/// The position as text: diagram, FEN, keys, checkers and legal moves.
#[must_use]
pub fn display(board: &Board, chess960: bool) -> String {
    let mut text = format!("{board}");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let fen = if chess960 { board.to_shredder_fen() } else { board.to_fen() };
    let keys = board.keys();
    let checkers: Vec<String> = board.checkers().map(|square| square.to_string()).collect();
    let moves: Vec<String> =
        board.legal_moves().iter().map(|&mv| board.uci_text(mv, chess960)).collect();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "Fen: {fen}\nKeys: {:016X} {:016X}\nCheckers: {}\nLegal moves ({}): {}",
        keys.index,
        keys.lock,
        checkers.join(" "),
        moves.len(),
        moves.join(" ")
    );
    if let Some(end) = board.outcome() {
        let _ = write!(text, "\nGame over: {end:?}");
    }
    text
}

/// The static evaluation term by term, from white's view.
#[must_use]
pub fn evaluation(board: &Board) -> String {
    const NAMES: [&str; KINDS] = ["pawns", "knights", "bishops", "rooks", "queens", "king"];
    let terms = Terms::of(board);
    let mut text = String::from(
        "Style Cairn: men on their squares, middle game and endgame\n           \
         -------- white -------- -------- black -------- -- difference -\n",
    );
    let mut row = |name: &str, [white, black]: [Worth; 2]| {
        let numbers = [
            (white.middlegame, white.endgame),
            (black.middlegame, black.endgame),
            (white.middlegame - black.middlegame, white.endgame - black.endgame),
        ];
        let _ = write!(text, "{name:<10}");
        for (middlegame, endgame) in numbers {
            let _ = write!(text, " {:>11} {:>11}", pawns(middlegame), pawns(endgame));
        }
        text.push('\n');
    };
    let by_side = |kind: usize| Side::ALL.map(|side| terms.pieces[side.index()][kind]);
    for (kind, name) in NAMES.into_iter().enumerate() {
        row(name, by_side(kind));
    }
    row("together", Side::ALL.map(|side| terms.sum(side)));
    let for_white = |value: i32| match board.side_to_move() {
        Side::White => pawns(value),
        Side::Black => pawns(-value),
    };
    let _ = write!(
        text,
        "middle game: {} of {FULL_PHASE} parts; the move: {}; a driven king: {}\n\
         Evaluation of style Cairn, from white's view: {}\n\n\
         Style MicroMax: {}\n\
         Material, from white's view: {}; before it searches it knows nothing else",
        terms.phase,
        pawns(terms.tempo),
        pawns(terms.driven),
        pawns(terms.total),
        micromax_material(board),
        for_white(root_balance(board)),
    );
    text
}

/// The pieces of both sides that the historical style counts.
fn micromax_material(board: &Board) -> String {
    let parts = [
        ("pawns", [Kind::WhitePawn, Kind::BlackPawn]),
        ("knights", [Kind::Knight; 2]),
        ("bishops", [Kind::Bishop; 2]),
        ("rooks", [Kind::Rook; 2]),
        ("queens", [Kind::Queen; 2]),
    ]
    .map(|(name, [white, black])| {
        let (white, black) = (board.count(Side::White, white), board.count(Side::Black, black));
        format!("{name} {white}-{black}")
    });
    parts.join(", ")
}

/// All commands and options as text.
#[must_use]
pub fn help() -> String {
    let mut text = String::from(
        "Cairn is a chess engine. It talks UCI, so it is usually run by a graphical interface.\n\
         UCI: uci isready ucinewgame setoption position go stop ponderhit debug quit\n\
         go takes: depth nodes mate movetime wtime btime winc binc movestogo searchmoves infinite ponder\n\
         Beside UCI: d, eval, perft N (or go perft N), bench [DEPTH], genfens N seed S, help\n\
         Options (setoption name <name> value <value>):",
    );
    for option in options::all() {
        let allowed = match option.kind {
            OptionKind::Button { .. } => String::new(),
            _ => format!(" ({})", option.allowed()),
        };
        let _ = write!(text, "\n  {}{allowed}: {}", option.name, option.doc);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divide_ends_with_the_total() {
        for (depth, total) in [(0, 1), (1, 20), (3, 8902)] {
            let mut lines = Vec::new();
            let stop = AtomicBool::new(false);
            divide(&Board::startpos(), depth, false, &stop, &mut |line| lines.push(line));
            assert_eq!(lines.last(), Some(&format!("Nodes searched: {total}")));
            assert_eq!(lines.contains(&"g1f3: 440".to_owned()), depth == 3);
        }
    }
}
