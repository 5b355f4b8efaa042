//! The game: where it began, what was played, and the position now.

use cairn_engine::board::Board;
use cairn_engine::moves::Move;

use crate::protocol::{Position, Start, quote};

/// The game that `position` described.
#[derive(Clone, Debug)]
pub struct Game {
    described: Position,
    board: Board,
    /// The first position has castling rights that only Chess960 has.
    chess960: bool,
}

impl Default for Game {
    fn default() -> Game {
        Game {
            described: Position { start: Start::Orthodox, moves: Vec::new() },
            board: Board::startpos(),
            chess960: false,
        }
    }
}

impl Game {
    /// The position now, with the history that led to it.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The `position` command that described it.
    #[must_use]
    pub fn described(&self) -> &Position {
        &self.described
    }

    /// Whether the game began with castling rights that only Chess960 has. Castling is then written as the
    /// king taking its own rook, whatever the options say.
    #[must_use]
    pub fn is_chess960(&self) -> bool {
        self.chess960
    }

    /// Sets up a position. A GUI sends the whole game with every move, so if the new list of moves
    /// extends the old one, only the new moves are played.
    ///
    /// Moves are played up to the first that is not legal; returns a remark on that one, if any.
    ///
    /// # Errors
    /// What is wrong with the first position; the game is unchanged.
    pub fn set(&mut self, mut position: Position) -> Result<Option<String>, String> {
        let continues = position.start == self.described.start
            && position.moves.starts_with(&self.described.moves);
        let (mut board, known, chess960) = if continues {
            (self.board.clone(), self.described.moves.len(), self.chess960)
        } else {
            let first = first_position(&position.start)?;
            let chess960 = first.has_chess960_castling();
            (first, 0, chess960)
        };
        let mut remark = None;
        for (index, text) in position.moves.iter().enumerate().skip(known) {
            match board.parse_uci(text) {
                Ok(mv) => board.play(mv),
                Err(error) => {
                    let number = index + 1;
                    remark = Some((
                        index,
                        format!("move {number} of the position: {error}; it ends before this move"),
                    ));
                    break;
                }
            }
        }
        let remark = remark.map(|(legal, text)| {
            position.moves.truncate(legal);
            text
        });
        *self = Game { described: position, board, chess960 };
        Ok(remark)
    }

    /// The legal moves among `texts`, each once, and a remark on the first illegal one.
    #[must_use]
    pub fn legal_among(&self, texts: &[String]) -> (Vec<Move>, Option<String>) {
        let mut moves = Vec::new();
        let mut remark = None;
        for text in texts {
            match self.board.parse_uci(text) {
                Ok(mv) if moves.contains(&mv) => {}
                Ok(mv) => moves.push(mv),
                Err(error) => {
                    remark.get_or_insert(format!("searchmoves: {error}, ignored"));
                }
            }
        }
        (moves, remark)
    }
}

/// The position a game begins with.
fn first_position(start: &Start) -> Result<Board, String> {
    match start {
        Start::Orthodox => Ok(Board::startpos()),
        Start::Fen(fen) => Board::from_fen(fen)
            .map_err(|error| format!("FEN '{}': {error}; the position is unchanged", quote(fen))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(start: Start, moves: &[&str]) -> Position {
        Position { start, moves: moves.iter().map(ToString::to_string).collect() }
    }

    #[test]
    fn a_longer_list_of_the_same_game_reaches_the_same_position() {
        let whole = position(Start::Orthodox, &["e2e4", "e7e5", "g1f3", "b8c6"]);
        let mut at_once = Game::default();
        at_once.set(whole.clone()).expect("legal");
        let mut step_by_step = Game::default();
        for length in 0..=4 {
            let moves = whole.moves[..length].to_vec();
            step_by_step.set(Position { moves, ..whole.clone() }).expect("legal");
        }
        assert_eq!(at_once.board.to_fen(), step_by_step.board.to_fen());
        // Taking moves back is another list, not a longer one.
        step_by_step.set(position(Start::Orthodox, &["e2e4"])).expect("legal");
        let mut fresh = Game::default();
        fresh.set(position(Start::Orthodox, &["e2e4"])).expect("legal");
        assert_eq!(fresh.board.to_fen(), step_by_step.board.to_fen());
    }

    #[test]
    fn moves_are_played_up_to_the_first_illegal_one() {
        let legal = position(Start::Orthodox, &["e2e4", "e7e5"]);
        let mut expected = Game::default();
        assert_eq!(expected.set(legal.clone()), Ok(None));
        // Whether the game goes on from the one before or begins anew.
        for before in [position(Start::Orthodox, &["e2e4"]), position(Start::Orthodox, &["d2d4"])] {
            let mut game = Game::default();
            game.set(before).expect("legal");
            let illegal = position(Start::Orthodox, &["e2e4", "e7e5", "e1e3", "g1f3"]);
            for _ in 0..2 {
                let remark = game.set(illegal.clone()).expect("the rest is legal");
                assert!(remark.is_some_and(|remark| remark.contains("move 3")));
                assert_eq!(game.board.to_fen(), expected.board.to_fen());
                assert_eq!(game.described, legal);
            }
        }
    }

    #[test]
    fn a_bad_fen_leaves_the_game_as_it_was() {
        let mut game = Game::default();
        game.set(position(Start::Orthodox, &["e2e4"])).expect("legal");
        let before = game.board.to_fen();
        let nonsense = game.set(position(Start::Fen("8/8/8".into()), &[]));
        assert!(nonsense.expect_err("no FEN").contains("8/8/8"));
        assert_eq!(game.board.to_fen(), before);
    }

    #[test]
    fn illegal_search_moves_are_named() {
        let game = Game::default();
        let texts = ["e2e4", "e2e5", "e2e4", "d2d4"].map(String::from);
        let (moves, remark) = game.legal_among(&texts);
        assert_eq!(moves.len(), 2);
        assert!(remark.expect("a remark").contains("e2e5"));
    }
}
