//! Self-play: games as training data for an evaluation, and the rules by which test games are ended early.
//!
//! A game depends on its seed and number alone, so any number of threads makes the same data.

use crate::board::{Board, GameEnd};
use crate::moves::Move;
use crate::piece::Side;
use crate::score::Score;
use crate::search::{Control, Limits, Searcher, Verdict};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Random half-moves at the start: 8 or 9, so that either side may begin.
const OPENING_PLIES: u64 = 8;
/// An opening is discarded if its score is beyond this, in centipawns.
const OPENING_BALANCE: Score = 300;
/// How the games are adjudicated.
const EARLY_END: EarlyEnd = EarlyEnd { decided_score: 2000, decided_plies: 4, longest_game: 400 };
/// The hard node limit as a multiple of the soft one.
const HARD_FACTOR: u64 = 8;

/// How a game ended.
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
    /// The result of a game that this side won.
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
}

/// Adjudicates wins: both players have seen the same side ahead by more than a bound for so many plies in a
/// row. If each thinks that it wins they do not agree.
#[derive(Clone, Copy, Debug)]
pub struct Adjudication {
    bound: Score,
    plies: u32,
    /// Who was ahead in the last ply, and for how many plies in a row.
    ahead: Option<(Side, u32)>,
}

impl Adjudication {
    /// A win takes `plies` scores in a row of more than `bound`, in centipawns.
    #[must_use]
    pub const fn new(bound: Score, plies: u32) -> Adjudication {
        Adjudication { bound, plies, ahead: None }
    }

    /// Takes the score of the next ply from its mover's view. Returns the winner once there is one.
    pub fn judge(&mut self, mover: Side, score: Score) -> Option<Side> {
        if score.abs() <= self.bound {
            self.ahead = None;
            return None;
        }
        let side = if score > 0 { mover } else { mover.other() };
        let plies = match self.ahead {
            Some((before, plies)) if before == side => plies + 1,
            _ => 1,
        };
        self.ahead = Some((side, plies));
        (plies >= self.plies).then_some(side)
    }
}

/// When a game is adjudicated before the rules end it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EarlyEnd {
    /// A side has won that is ahead by more than this, in centipawns, for `decided_plies` in a row,
    /// see [`Adjudication`].
    pub decided_score: Score,
    /// For how many half-moves, from 1.
    pub decided_plies: u32,
    /// A game that is longer, in half-moves, is a draw.
    pub longest_game: usize,
}

/// Plays a game from the position on the board. `choose` returns a legal move and its score from the
/// mover's view, or `None` to abort the game, which then has no result.
pub fn play_game(
    board: &mut Board,
    early_end: &EarlyEnd,
    mut choose: impl FnMut(&Board) -> Option<(Move, Score)>,
) -> Option<GameResult> {
    let mut adjudication = Adjudication::new(early_end.decided_score, early_end.decided_plies);
    let mut plies = 0;
    loop {
        if let Some(end) = board.outcome() {
            let mated = (end == GameEnd::Checkmate).then_some(board.side_to_move());
            return Some(mated.map_or(GameResult::Draw, |side| GameResult::won_by(side.other())));
        }
        if plies >= early_end.longest_game {
            return Some(GameResult::Draw);
        }
        let (mv, score) = choose(board)?;
        if let Some(winner) = adjudication.judge(board.side_to_move(), score) {
            return Some(GameResult::won_by(winner));
        }
        board.play(mv);
        plies += 1;
    }
}

/// A half-move that was searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ply {
    /// What was played.
    pub mv: Move,
    /// The score of the search in centipawns, from white's view; mates as in [`crate::score`].
    pub score: i16,
}

/// A game from the start position: random moves first, searched ones then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The random moves.
    pub opening: Vec<Move>,
    /// The searched moves with their scores.
    pub plies: Vec<Ply>,
    /// How it ended.
    pub result: GameResult,
}

impl Record {
    /// Appends the record in bytes: result, number of opening moves, number of plies (16 bits), then
    /// 2 bytes a random move and 4 bytes a searched one, all little-endian.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.result as u8);
        bytes.push(self.opening.len() as u8);
        bytes.extend((self.plies.len() as u16).to_le_bytes());
        for mv in &self.opening {
            bytes.extend(mv.raw().to_le_bytes());
        }
        for ply in &self.plies {
            bytes.extend(ply.mv.raw().to_le_bytes());
            bytes.extend(ply.score.to_le_bytes());
        }
    }

    /// Reads the record at the start of `bytes` and tells how long it is; `None` if they hold no
    /// whole record.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<(Record, usize)> {
        let &[result, opening, low, high] = bytes.first_chunk()?;
        let result = match result {
            0 => GameResult::BlackWins,
            1 => GameResult::Draw,
            2 => GameResult::WhiteWins,
            _ => return None,
        };
        let length = length_of(opening, [low, high]);
        let (moves, searched) = bytes.get(4..length)?.split_at(2 * usize::from(opening));
        let mv = |pair: &[u8]| Move::from_raw(u16::from_le_bytes([pair[0], pair[1]]));
        let opening = moves.chunks_exact(2).map(mv).collect::<Option<_>>()?;
        let ply = |four: &[u8]| {
            Some(Ply { mv: mv(&four[..2])?, score: i16::from_le_bytes([four[2], four[3]]) })
        };
        let plies = searched.chunks_exact(4).map(ply).collect::<Option<_>>()?;
        Some((Record { opening, plies, result }, length))
    }

    /// Whether these bytes may be the first ones of a record that was not written to its end.
    #[must_use]
    pub fn is_begun(bytes: &[u8]) -> bool {
        let Some(&[result, opening, low, high]) = bytes.first_chunk() else {
            return bytes.first().is_none_or(|&result| result <= 2);
        };
        let length = length_of(opening, [low, high]);
        result <= 2 && bytes.len() < length
    }
}

/// The length of a record in bytes, from its header.
fn length_of(opening: u8, plies: [u8; 2]) -> usize {
    4 + 2 * usize::from(opening) + 4 * usize::from(u16::from_le_bytes(plies))
}

/// Plays game `number` of a series at about `nodes` nodes a move. The searcher is cleared first.
pub fn play(searcher: &mut Searcher, seed: u64, number: u64, nodes: u64) -> Record {
    let mut random =
        Xoshiro256PlusPlus::seed_from_u64(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    loop {
        searcher.clear();
        if let Some(record) = play_from(searcher, random_opening(&mut random), nodes) {
            return record;
        }
    }
}

fn random_opening(random: &mut Xoshiro256PlusPlus) -> Board {
    'attempt: loop {
        let mut board = Board::startpos();
        for _ in 0..OPENING_PLIES + random.next_u64() % 2 {
            let moves = board.legal_moves();
            if moves.is_empty() {
                continue 'attempt;
            }
            board.play(moves[(random.next_u64() % moves.len() as u64) as usize]);
        }
        if board.outcome().is_none() {
            return board;
        }
    }
}

/// Plays a game from an opening; `None` if that is not balanced.
fn play_from(searcher: &mut Searcher, mut board: Board, nodes: u64) -> Option<Record> {
    let opening: Vec<Move> = board.history().iter().filter_map(|undo| undo.mv()).collect();
    let mut plies: Vec<Ply> = Vec::new();
    let result = play_game(&mut board, &EARLY_END, |board| {
        let (mv, score) = search(searcher, board, nodes)?;
        if plies.is_empty() && score.abs() > OPENING_BALANCE {
            return None;
        }
        let white = if board.side_to_move() == Side::White { score } else { -score };
        plies.push(Ply { mv, score: white as i16 });
        Some((mv, score))
    })?;
    Some(Record { opening, plies, result })
}

/// Searches until the soft node limit: the move, and its score from the mover's view.
fn search(searcher: &mut Searcher, board: &Board, nodes: u64) -> Option<(Move, Score)> {
    let limits = Limits { nodes: Some(nodes.saturating_mul(HARD_FACTOR)), ..Limits::default() };
    let outcome = searcher.search(board, &limits, &Control::new(), &mut |report| {
        if report.nodes >= nodes { Verdict::Stop } else { Verdict::Continue }
    });
    Some((outcome.best?, outcome.score.to_score()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Style;

    #[test]
    fn a_game_is_decided_when_both_sides_agree_on_the_winner() {
        use Side::{Black, White};
        // The scores from the mover's view, white's first, and what is said to the last of them.
        let judged = |scores: &[Score]| {
            let mut adjudication = Adjudication::new(1000, 4);
            let sides = [White, Black].into_iter().cycle();
            let said: Vec<_> =
                sides.zip(scores).map(|(side, &score)| adjudication.judge(side, score)).collect();
            let (last, before) = said.split_last().unwrap();
            assert!(before.iter().all(Option::is_none), "{scores:?}: {said:?}");
            *last
        };
        assert_eq!(judged(&[1001, -1001, 1001, -1001]), Some(White));
        assert_eq!(judged(&[-3000, 2000, -3000, 2000]), Some(Black));
        assert_eq!(judged(&[0, 2000, -3000, 2000, -3000]), Some(Black));
        assert_eq!(judged(&[2000, -2000, 2000]), None, "too few");
        assert_eq!(judged(&[2000, -2000, 1000, -2000, 2000, -2000]), None, "not in a row");
        assert_eq!(judged(&[2000; 8]), None, "each thinks it wins");
        assert_eq!(judged(&[2000, 2000, -2000, 2000, -2000]), Some(Black), "a change starts again");
    }

    #[test]
    fn games_repeat_and_come_back_from_bytes() {
        let mut searcher = Searcher::new(Style::Cairn, 1).unwrap();
        let games: Vec<Record> = (0..3).map(|n| play(&mut searcher, 7, n, 200)).collect();
        assert_ne!(games[0], games[1]);
        assert_eq!(play(&mut searcher, 7, 1, 200), games[1], "whatever was played before");
        let mut bytes = Vec::new();
        games.iter().for_each(|game| game.write(&mut bytes));
        let mut rest = &bytes[..];
        for game in &games {
            let (read, length) = Record::read(rest).unwrap();
            assert_eq!(&read, game);
            assert_eq!(Record::read(&rest[..length - 1]), None, "a record that is cut is none");
            rest = &rest[length..];
            let mut board = Board::startpos();
            for mv in game.opening.iter().copied().chain(game.plies.iter().map(|ply| ply.mv)) {
                assert!(board.legal_moves().contains(&mv));
                board.play(mv);
            }
        }
        assert!(rest.is_empty());
    }
}
