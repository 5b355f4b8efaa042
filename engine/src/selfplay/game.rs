//! A game that the engine has played against itself, whatever bytes it is kept in.

use super::start::Start;
use crate::board::Board;
use crate::movegen::{self, ChecksAndPins};
use crate::moves::Move;
use crate::piece::Side;
use crate::score::is_mate;
use std::fmt;

/// Who won.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum GameResult {
    /// Black won.
    BlackWins = 0,
    /// Nobody did.
    Draw = 1,
    /// White won.
    WhiteWins = 2,
}

impl GameResult {
    /// The result of a game that this side has won.
    #[must_use]
    pub const fn won_by(side: Side) -> GameResult {
        match side {
            Side::White => GameResult::WhiteWins,
            Side::Black => GameResult::BlackWins,
        }
    }

    /// The result for white: 1, 0 or -1.
    #[must_use]
    pub const fn for_white(self) -> i32 {
        self as i32 - GameResult::Draw as i32
    }

    /// The result with this number.
    #[must_use]
    pub const fn from_raw(number: u8) -> Option<GameResult> {
        match number {
            0 => Some(GameResult::BlackWins),
            1 => Some(GameResult::Draw),
            2 => Some(GameResult::WhiteWins),
            _ => None,
        }
    }
}

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Ending {
    /// By checkmate.
    Checkmate = 0,
    /// Drawn: the side to move has no move and is not in check.
    Stalemate = 1,
    /// Drawn: nobody has enough left to mate.
    InsufficientMaterial = 2,
    /// Drawn: fifty moves of both sides without a capture or a pawn's move.
    FiftyMoves = 3,
    /// Drawn: a position for the third time.
    Repetition = 4,
    /// Won, as both sides agreed for some moves, see [`super::Adjudication`].
    Adjudicated = 5,
    /// Given as a draw at the most moves that a game may have: who stood better is not known.
    TooLong = 6,
}

impl Ending {
    /// All endings in the order of their numbers.
    pub const ALL: [Ending; 7] = [
        Ending::Checkmate,
        Ending::Stalemate,
        Ending::InsufficientMaterial,
        Ending::FiftyMoves,
        Ending::Repetition,
        Ending::Adjudicated,
        Ending::TooLong,
    ];

    /// Whether a game that ends so has a winner.
    #[must_use]
    pub const fn is_win(self) -> bool {
        matches!(self, Ending::Checkmate | Ending::Adjudicated)
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ending::Checkmate => "checkmate",
            Ending::Stalemate => "stalemate",
            Ending::InsufficientMaterial => "insufficient material",
            Ending::FiftyMoves => "fifty moves",
            Ending::Repetition => "repetition",
            Ending::Adjudicated => "adjudicated",
            Ending::TooLong => "too long",
        })
    }
}

/// A half-move that was searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ply {
    /// What was played.
    pub mv: Move,
    /// What the search found the position worth, in centipawns from white's view; mates as in
    /// [`crate::score`].
    pub score: i16,
}

/// A game: random moves first, searched ones then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Game {
    /// Where it starts.
    pub start: Start,
    /// The random moves, at most 255.
    pub opening: Vec<Move>,
    /// The searched moves with their scores, 1 to 65535.
    pub plies: Vec<Ply>,
    /// Who won.
    pub result: GameResult,
    /// How it ended; `None` in games of format 1, which does not say.
    pub ending: Option<Ending>,
}

/// A move that can't be played where a game has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IllegalMove {
    /// Which of the game's moves it is, from 0, the random ones included.
    pub ply: usize,
    /// The move.
    pub mv: Move,
}

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "half-move {}, {:?}, is illegal", self.ply + 1, self.mv)
    }
}

impl std::error::Error for IllegalMove {}

impl Game {
    /// Plays the game and shows each position from which the engine moved, with what it played and
    /// thought. Returns the position after the last move.
    ///
    /// # Errors
    /// At the first move that is not legal, as a file made by something else may have it. What came
    /// before it has been shown.
    pub fn replay(&self, mut see: impl FnMut(&Board, Ply)) -> Result<Board, IllegalMove> {
        let mut board = self.start.board();
        for (ply, &mv) in self.opening.iter().enumerate() {
            play_legal(&mut board, ply, mv)?;
        }
        for (ply, searched) in (self.opening.len()..).zip(&self.plies) {
            confirm(&board, ply, searched.mv)?;
            see(&board, *searched);
            board.play(searched.mv);
        }
        Ok(board)
    }
}

fn confirm(board: &Board, ply: usize, mv: Move) -> Result<(), IllegalMove> {
    match movegen::confirm(board, &ChecksAndPins::new(board), mv.raw()) {
        Some(_) => Ok(()),
        None => Err(IllegalMove { ply, mv }),
    }
}

fn play_legal(board: &mut Board, ply: usize, mv: Move) -> Result<(), IllegalMove> {
    confirm(board, ply, mv)?;
    board.play(mv);
    Ok(())
}

/// Why a position is not one to train an evaluation on: the first of these that holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// The search has found a mate.
    Mate,
    /// The score is beyond what an evaluation has to tell apart.
    Decided,
    /// The side to move is in check.
    InCheck,
    /// The best move promotes.
    Promotion,
    /// The best move captures.
    Capture,
}

impl Unfit {
    /// All reasons, in the order in which they are looked for.
    pub const ALL: [Unfit; 5] =
        [Unfit::Mate, Unfit::Decided, Unfit::InCheck, Unfit::Promotion, Unfit::Capture];

    /// Why the position is not to be trained on; `None` if it is quiet, with a score of at most
    /// `largest_score` centipawns for either side. The ply is what was played in it.
    #[must_use]
    pub fn of(board: &Board, ply: Ply, largest_score: u16) -> Option<Unfit> {
        if is_mate(i32::from(ply.score)) {
            return Some(Unfit::Mate);
        }
        if ply.score.unsigned_abs() > largest_score {
            return Some(Unfit::Decided);
        }
        if board.in_check() {
            return Some(Unfit::InCheck);
        }
        let (from, to) = (ply.mv.from(), ply.mv.to());
        let is_pawn = board.piece_on(from).is_some_and(|piece| piece.kind().is_pawn());
        if is_pawn && to.row() == board.side_to_move().promotion_row() {
            return Some(Unfit::Promotion);
        }
        // Castling goes to where its own rook stands.
        let target = board.piece_on(to).map(|piece| piece.side());
        let en_passant = is_pawn && board.en_passant() == Some(to);
        (target == Some(board.side_to_move().other()) || en_passant).then_some(Unfit::Capture)
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unfit::Mate => "mate found",
            Unfit::Decided => "score too large",
            Unfit::InCheck => "in check",
            Unfit::Promotion => "promotion",
            Unfit::Capture => "capture",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_unfit_for_the_first_reason_that_holds() {
        let unfit = |fen: &str, text: &str, score: i16| {
            let board = Board::from_fen(fen).unwrap();
            Unfit::of(&board, Ply { mv: board.parse_uci(text).unwrap(), score }, 1000)
        };
        let castling = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1";
        assert_eq!(unfit(castling, "e1h1", 1000), None, "castling takes nothing");
        assert_eq!(unfit(castling, "a1b1", -1000), None);
        assert_eq!(unfit(castling, "a1b1", -1001), Some(Unfit::Decided));
        assert_eq!(unfit(castling, "a1b1", 7990), Some(Unfit::Mate));
        let en_passant = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2";
        assert_eq!(unfit(en_passant, "e5d6", 0), Some(Unfit::Capture));
        assert_eq!(unfit(en_passant, "e5e6", 0), None);
        let promotion = "3rk3/4P3/8/8/8/8/8/4K3 w - - 0 1";
        assert_eq!(unfit(promotion, "e7d8q", 0), Some(Unfit::Promotion));
        assert_eq!(unfit("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", "e1e2", 0), Some(Unfit::InCheck));
        assert_eq!(unfit("4k3/8/8/8/8/8/4r3/5K2 w - - 0 1", "f1e2", 0), Some(Unfit::Capture));
    }

    #[test]
    fn a_game_with_an_illegal_move_ends_there() {
        let moves = ["e2e4", "e7e5", "g1f3"];
        let mut board = Board::startpos();
        let mut played = Vec::new();
        for text in moves {
            let mv = board.parse_uci(text).unwrap();
            played.push(mv);
            board.play(mv);
        }
        let plies = |moves: &[Move]| moves.iter().map(|&mv| Ply { mv, score: 0 }).collect();
        let mut game = Game {
            start: Start::STANDARD,
            opening: vec![played[0]],
            plies: plies(&played[1..]),
            result: GameResult::Draw,
            ending: None,
        };
        let mut seen = 0;
        let end = game.replay(|_, _| seen += 1).unwrap();
        assert_eq!((seen, end.to_fen()), (2, board.to_fen()));
        game.plies[1].mv = played[0];
        let mut seen = 0;
        let error = game.replay(|_, _| seen += 1).err();
        assert_eq!(error, Some(IllegalMove { ply: 2, mv: played[0] }));
        assert_eq!(seen, 1);
        game.opening = vec![played[1]];
        assert_eq!(game.replay(|_, _| ()).err(), Some(IllegalMove { ply: 0, mv: played[1] }));
    }
}
