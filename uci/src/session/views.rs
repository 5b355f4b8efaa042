//! Commands beyond UCI as text: `bench`, `perft`, `d`, `eval` and `help`.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Result;
use cairn_engine::board::Board;
use cairn_engine::eval::neural::piece_values;
use cairn_engine::eval::phase::FULL_PHASE;
use cairn_engine::eval::tapered::{KINDS, Terms, Worth};
use cairn_engine::eval::{Evaluator, Neural, PackedNetwork, raw_eval};
use cairn_engine::piece::{Kind, Side};
use cairn_engine::search::micromax::root_balance;
use cairn_engine::search::{Control, ScoreText};
use cairn_engine::square::Square;
use cairn_engine::syzygy::Tables;
use cairn_engine::{bench, perft};

use crate::protocol::notation::pawns;
use crate::protocol::{Wdl, speed};
use crate::session::options::{self, OptionKind};
use crate::session::tables;
use crate::session::wdl::Scale;

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

/// The position as text: diagram, FEN, keys, checkers and legal moves, and what endgame tables say of it.
#[must_use]
pub fn display(board: &Board, chess960: bool, tables: Option<&Tables>) -> String {
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
    if let Some(verdict) = tables.and_then(|tables| tables::verdict(tables, board)) {
        let _ = write!(text, "\nEndgame tables: {verdict}");
    }
    if let Some(end) = board.outcome() {
        let _ = write!(text, "\nGame over: {end:?}");
    }
    text
}

/// What style Cairn's evaluation says of a position before anything is searched, from white's view and as scores are
/// shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What the network finds each piece but the kings worth: the evaluation less that without it, in centipawns.
    /// Empty without a network.
    pub pieces: Vec<(Square, i32)>,
    /// The evaluation in centipawns; 0 where neither side can mate.
    pub shown: i32,
    /// The chances of white.
    pub chances: Wdl,
}

/// What style Cairn's evaluation says of a position.
#[must_use]
pub fn seen(board: &Board, network: Option<&Arc<PackedNetwork>>) -> Seen {
    let scale = Scale::of(board);
    let (pieces, total) = match network {
        Some(network) => {
            let mut eval = Neural::of(board, network);
            let total = view(board) * raw_eval(&mut eval, board);
            (worth_of_pieces(board, network, scale), total)
        }
        None => (Vec::new(), Terms::of(board).total),
    };
    let (shown, chances) = judged(board, total, scale);
    Seen { pieces, shown, chances }
}

/// What an evaluation in the engine's own units is shown as, and its chances.
fn judged(board: &Board, total: i32, scale: Scale) -> (i32, Wdl) {
    if board.insufficient_material() {
        return (0, Wdl::DRAW);
    }
    (scale.normalised(total), scale.chances(ScoreText::Centipawns(total)))
}

/// What turns the view of the side to move into white's.
fn view(board: &Board) -> i32 {
    if board.side_to_move() == Side::White { 1 } else { -1 }
}

/// What the network finds each piece worth, as scores are shown.
fn worth_of_pieces(
    board: &Board,
    network: &Arc<PackedNetwork>,
    scale: Scale,
) -> Vec<(Square, i32)> {
    piece_values(network, board)
        .into_iter()
        .map(|(square, value)| (square, scale.normalised(value)))
        .collect()
}

/// The static evaluation of both styles, from white's view. That of style Cairn is normalised, as all its scores are.
#[must_use]
pub fn evaluation(board: &Board, network: Option<&Arc<PackedNetwork>>) -> String {
    let mut text = evaluation_of_cairn(board, network);
    let balance = view(board) * root_balance(board);
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\n\nStyle MicroMax: {}\n\
         Material, from white's view: {}; before it searches it knows nothing else",
        micromax_material(board),
        pawns(balance),
    );
    text
}

/// The static evaluation of style Cairn, from white's view: that of the network piece by piece, or without one that
/// of the tables term by term.
#[must_use]
pub fn evaluation_of_cairn(board: &Board, network: Option<&Arc<PackedNetwork>>) -> String {
    let scale = Scale::of(board);
    match network {
        Some(network) => evaluation_by_network(board, network, scale),
        None => evaluation_by_tables(board, scale),
    }
}

/// Which network it is, what it finds each piece worth, and what it says of the position.
fn evaluation_by_network(board: &Board, network: &Arc<PackedNetwork>, scale: Scale) -> String {
    let mut eval = Neural::of(board, network);
    let said = view(board) * eval.evaluate(board);
    let total = view(board) * raw_eval(&mut eval, board);
    let identity = network.identity();
    let pieces = Square::all().filter(|&square| board.piece_on(square).is_some()).count();
    format!(
        "Style Cairn: a network of {identity}\n\
         Below each piece what it is worth, white's counted up: the evaluation less that without it\n\
         {}\n\n\
         Pieces        {pieces:>7}   bucket {} of {}\n\
         The network   {:>7}   large leads are taken in part\n\
         Driven king   {:>7}   where the weaker side has hardly anything left\n\
         {}",
        diagram_of_values(board, &worth_of_pieces(board, network, scale)),
        network.bucket_of(board) + 1,
        identity.buckets,
        pawns(scale.normalised(said)),
        pawns(scale.normalised(total) - scale.normalised(said)),
        total_of(board, total, scale),
    )
}

/// The evaluation of style Cairn, with its chances and the engine's own units.
fn total_of(board: &Board, total: i32, scale: Scale) -> String {
    let (shown, chances) = judged(board, total, scale);
    let percent = |permill: u32| format!("{}.{} %", permill / 10, permill % 10);
    let is_dead = board.insufficient_material();
    let remark = if is_dead { "   drawn: neither side can mate" } else { "" };
    format!(
        "Evaluation    {:>7}   of style Cairn, from white's view{remark}\n\
         Chances       white wins {}, drawn {}, black wins {}\n\
         Own units     {total:>+7}   centipawns; {} of them are +1.00 with this material",
        pawns(shown),
        percent(chances.win),
        percent(chances.draw),
        percent(chances.loss),
        scale.even(),
    )
}

/// A diagram with a number below each piece.
fn diagram_of_values(board: &Board, values: &[(Square, i32)]) -> String {
    let line = format!("    +{}\n", "-------+".repeat(8));
    let mut text = line.clone();
    for row in 0..8 {
        let squares = (0..8).map(|file| Square::new(row, file));
        let _ = write!(text, "  {} |", 8 - row);
        for square in squares.clone() {
            let letter = board.piece_on(square).map_or(' ', |piece| piece.letter());
            let _ = write!(text, "{letter:^7}|");
        }
        text.push_str("\n    |");
        for square in squares {
            let value = values.iter().find(|(at, _)| *at == square);
            let value = value.map_or(String::new(), |&(_, value)| pawns(value));
            let _ = write!(text, "{value:^7}|");
        }
        text.push('\n');
        text.push_str(&line);
    }
    let files: String = ('a'..='h').map(|file| format!("{file:^8}")).collect();
    text + "    " + files.trim_end()
}

/// The terms of the tables.
fn evaluation_by_tables(board: &Board, scale: Scale) -> String {
    const NAMES: [&str; KINDS] = ["pawns", "knights", "bishops", "rooks", "queens", "king"];
    let terms = Terms::of(board);
    let mut text = String::from(
        "Style Cairn, without a network: pieces on their squares, middle game and endgame, in its own units\n           \
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
    let _ = write!(
        text,
        "middle game: {} of {FULL_PHASE} parts; the move: {}; a driven king: {}\n\n{}",
        terms.phase,
        pawns(terms.tempo),
        pawns(terms.driven),
        total_of(board, terms.total, scale),
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
    fn without_a_network_the_terms_of_the_tables_are_shown() {
        let shown = |side: &str| {
            let board = Board::from_fen(&format!("4k3/p7/8/8/8/8/8/Q3K3 {side} - - 0 1"));
            evaluation(&board.expect("a position"), None)
        };
        let (white, black) = (shown("w"), shown("b"));
        for text in [&white, &black] {
            let total =
                |line: &&str| line.starts_with("Evaluation") || line.starts_with("Material");
            let totals: Vec<&str> = text.lines().filter(total).collect();
            assert_eq!(totals.len(), 2, "{text}");
            assert!(totals.iter().all(|line| line.contains(" +")), "{text}");
            let queens = text.lines().find(|line| line.starts_with("queens")).expect("a term");
            assert_eq!(queens.split_whitespace().count(), 7, "{queens}");
            assert!(text.contains("4 of 24 parts"), "{text}");
        }
        // Only the move is another's.
        let terms = |text: &str| text.lines().take(9).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(terms(&white), terms(&black), "{white}{black}");
        assert_ne!(white, black);
    }

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
