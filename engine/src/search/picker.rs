//! The staged move picker: moves likely best first, each stage generated when it is needed.
//!
//! Hash move, good captures and promotions, quiet moves, captures and promotions that fail SEE. Source:
//! <https://www.chessprogramming.org/Move_Ordering>.

use super::history::{Continuations, Histories, PieceTo};
use super::see::{see_ge, see_value};
use crate::board::Board;
use crate::movegen::{self, ChecksAndPins};
use crate::moves::{MAX_MOVES, Move, MoveList};
use crate::params;
use crate::piece::Kind;
use arrayvec::ArrayVec;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Hash,
    GenerateNoisy,
    GoodNoisy,
    GenerateQuiet,
    Quiet,
    BadNoisy,
    Done,
}

/// Which quiet moves are handed out; a larger one hands out fewer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum QuietFilter {
    /// All.
    All,
    /// Those that give check.
    Checks,
    /// None.
    None,
}

/// A move with its score: score, inverted place in the list, move, from the highest bits down. Packed into
/// one `i64` so that `max` picks the best, of equal ones the first; avoids a store-forwarding stall.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Scored(i64);

impl Scored {
    #[inline(always)]
    fn new(mv: Move, score: i32, place: usize) -> Scored {
        Scored(i64::from(score) << 32 | i64::from(mv.raw())).at(place)
    }

    #[inline(always)]
    const fn at(self, place: usize) -> Scored {
        Scored(self.0 & !(0xffff << 16) | (!place as u16 as i64) << 16)
    }

    #[inline(always)]
    const fn place(self) -> usize {
        !((self.0 >> 16) as u16) as usize
    }

    #[inline(always)]
    const fn score(self) -> i32 {
        (self.0 >> 32) as i32
    }

    #[inline(always)]
    const fn mv(self) -> Option<Move> {
        Move::from_raw(self.0 as u16)
    }
}

/// Hands out the moves of a node.
pub(crate) struct Picker {
    stage: Stage,
    hash_move: Option<Move>,
    /// Hands out captures and promotions only.
    noisy_only: bool,
    quiets: QuietFilter,
    moves: ArrayVec<Scored, MAX_MOVES>,
    bad: ArrayVec<Move, MAX_MOVES>,
    next: usize,
    continuations: Continuations,
    checks_and_pins: ChecksAndPins,
}

/// Whether a move captures or promotes.
#[inline]
pub(crate) fn is_noisy(board: &Board, mv: Move) -> bool {
    match board.piece_on(mv.to()) {
        Some(_) => !board.is_castling(mv),
        None => board.is_promotion(mv) || board.is_en_passant(mv),
    }
}

/// What a noisy move captures; a pawn for en passant, and for promotions that capture nothing.
#[inline]
pub(crate) fn captured_kind(board: &Board, mv: Move) -> Kind {
    board.piece_on(mv.to()).map_or(board.side_to_move().other().pawn(), |piece| piece.kind())
}

/// The piece that moves and where it goes.
#[inline]
pub(crate) fn moving(board: &Board, mv: Move) -> Option<PieceTo> {
    Some(PieceTo::new(board.piece_on(mv.from())?, mv.to()))
}

impl Picker {
    /// All legal moves of a position. The hash move need not be legal.
    pub(crate) fn new(
        board: &Board,
        checks_and_pins: ChecksAndPins,
        hash_move: Option<u16>,
        continuations: Continuations,
    ) -> Picker {
        Picker {
            stage: Stage::Hash,
            hash_move: hash_move.and_then(|raw| movegen::confirm(board, &checks_and_pins, raw)),
            noisy_only: false,
            quiets: QuietFilter::All,
            moves: ArrayVec::new(),
            bad: ArrayVec::new(),
            next: 0,
            continuations,
            checks_and_pins,
        }
    }

    /// Captures and promotions only, not split by SEE: quiescence tests delta pruning first, which is
    /// quicker, and SEE itself.
    pub(crate) fn noisy(
        board: &Board,
        checks_and_pins: ChecksAndPins,
        hash_move: Option<u16>,
    ) -> Picker {
        let mut picker = Picker::new(board, checks_and_pins, hash_move, Continuations::default());
        picker.noisy_only = true;
        picker.hash_move = picker.hash_move.filter(|&mv| is_noisy(board, mv));
        picker
    }

    /// The hash move, if it is legal.
    pub(crate) const fn hash_move(&self) -> Option<Move> {
        self.hash_move
    }

    /// Leaves out quiet moves that are still to come; a filter once set is never widened.
    pub(crate) fn limit_quiets(&mut self, board: &Board, wanted: QuietFilter) {
        if wanted <= self.quiets {
            return;
        }
        self.quiets = wanted;
        if self.stage == Stage::Quiet {
            match wanted {
                QuietFilter::All => {}
                QuietFilter::Checks => {
                    self.moves.drain(..self.next);
                    self.next = 0;
                    self.moves.retain(|scored| {
                        scored.mv().is_some_and(|mv| movegen::gives_check(board, mv))
                    });
                    for (place, scored) in self.moves.iter_mut().enumerate() {
                        *scored = scored.at(place);
                    }
                }
                QuietFilter::None => self.begin_bad_noisy(),
            }
        }
    }

    fn begin_bad_noisy(&mut self) {
        self.stage = Stage::BadNoisy;
        self.next = 0;
    }

    /// The next move.
    pub(crate) fn next(&mut self, board: &Board, histories: &Histories) -> Option<Move> {
        loop {
            match self.stage {
                Stage::Hash => {
                    self.stage = Stage::GenerateNoisy;
                    if self.hash_move.is_some() {
                        return self.hash_move;
                    }
                }
                Stage::GenerateNoisy => {
                    self.generate_noisy(board, histories);
                    self.stage = Stage::GoodNoisy;
                }
                Stage::GoodNoisy => match self.pick(board) {
                    Some(mv) if self.noisy_only || see_ge(board, mv, 0) => {
                        return Some(mv);
                    }
                    Some(mv) => self.bad.push(mv),
                    None if self.noisy_only => self.stage = Stage::Done,
                    None => self.stage = Stage::GenerateQuiet,
                },
                Stage::GenerateQuiet if self.quiets == QuietFilter::None => self.begin_bad_noisy(),
                Stage::GenerateQuiet => {
                    self.generate_quiet(board, histories);
                    self.stage = Stage::Quiet;
                }
                Stage::Quiet => match self.pick(board) {
                    Some(mv) => return Some(mv),
                    None => self.begin_bad_noisy(),
                },
                Stage::BadNoisy => {
                    let mv = self.bad.get(self.next).copied();
                    self.next += 1;
                    if mv.is_none() {
                        self.stage = Stage::Done;
                    }
                    return mv;
                }
                Stage::Done => return None,
            }
        }
    }

    /// The history score of the move just handed out, if it is a quiet one and not the hash move.
    pub(crate) fn quiet_score(&self) -> Option<i32> {
        match self.stage {
            Stage::Quiet => self.moves.get(self.next.wrapping_sub(1)).map(|scored| scored.score()),
            _ => None,
        }
    }

    /// Whether the move just handed out is a capture or promotion that fails SEE.
    pub(crate) fn at_bad_noisy(&self) -> bool {
        self.stage == Stage::BadNoisy
    }

    /// Selection sort, one step: the best legal move left in this stage, of equal ones the first.
    #[inline]
    fn pick(&mut self, board: &Board) -> Option<Move> {
        loop {
            let rest = self.moves.get_mut(self.next..)?;
            let first = *rest.first()?;
            let mut best = first;
            // A plain loop: `fold` gets vectorised, which is slower here.
            for &scored in &rest[1..] {
                best = best.max(scored);
            }
            *rest.get_mut(best.place() - self.next)? = first.at(best.place());
            rest[0] = best;
            self.next += 1;
            let mv = best.mv()?;
            if movegen::king_is_safe(board, mv) {
                return Some(mv);
            }
        }
    }

    fn generate_noisy(&mut self, board: &Board, histories: &Histories) {
        let mut list = MoveList::new();
        movegen::noisy_moves(board, &self.checks_and_pins, &mut list);
        self.fill(&list, |mv| {
            let captured = captured_kind(board, mv);
            let history = moving(board, mv).map_or(0, |moving| histories.capture(moving, captured));
            let promotion = match mv.promotion_kind() {
                _ if !board.is_promotion(mv) => 0,
                Kind::Queen => see_value(Kind::Queen),
                _ => -see_value(Kind::Queen),
            };
            params::victim_weight() * (see_value(captured) + promotion)
                + history / params::capture_history_divisor()
        });
    }

    fn generate_quiet(&mut self, board: &Board, histories: &Histories) {
        let mut list = MoveList::new();
        movegen::quiet_moves(board, &self.checks_and_pins, &mut list);
        if self.quiets == QuietFilter::Checks {
            list.retain(|mv| movegen::gives_check(board, *mv));
        }
        let quiets = histories.quiet_scores(board.side_to_move(), &self.continuations);
        self.fill(&list, |mv| moving(board, mv).map_or(0, |moving| quiets.of(mv, moving)));
    }

    fn fill(&mut self, list: &MoveList, score: impl Fn(Move) -> i32) {
        self.moves.clear();
        self.next = 0;
        let hash_move = self.hash_move;
        let others = list.iter().copied().filter(|&mv| Some(mv) != hash_move);
        let scored = others.enumerate().map(|(place, mv)| Scored::new(mv, score(mv), place));
        self.moves.extend(scored);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::POSITIONS;

    fn sorted(moves: impl IntoIterator<Item = Move>) -> Vec<u16> {
        let mut raw: Vec<u16> = moves.into_iter().map(Move::raw).collect();
        raw.sort_unstable();
        raw
    }

    fn all(mut picker: Picker, board: &Board, histories: &Histories) -> Vec<u16> {
        sorted(std::iter::from_fn(|| picker.next(board, histories)))
    }

    #[test]
    fn every_legal_move_is_handed_out_once_and_no_other() {
        let histories = Histories::new();
        for fen in POSITIONS {
            let board = Board::from_fen(fen).unwrap();
            let checks_and_pins = ChecksAndPins::new(&board);
            let legal = board.legal_moves();
            for hash_move in std::iter::once(None).chain(legal.iter().map(|mv| Some(mv.raw()))) {
                let picker =
                    Picker::new(&board, checks_and_pins, hash_move, Continuations::default());
                assert_eq!(all(picker, &board, &histories), sorted(legal.to_vec()), "{fen}");
                let noisy = legal.iter().copied().filter(|&mv| is_noisy(&board, mv));
                let picker = Picker::noisy(&board, checks_and_pins, hash_move);
                assert_eq!(all(picker, &board, &histories), sorted(noisy), "{fen}");
            }
        }
    }

    /// Whether a move gives check, found by playing it. Castling is not foreseen to.
    fn checks(board: &Board, mv: Move) -> bool {
        let mut after = board.clone();
        after.play(mv);
        if board.is_castling(mv) { movegen::gives_check(board, mv) } else { after.in_check() }
    }

    #[test]
    fn limited_quiets_leave_out_what_is_still_to_come_and_keep_checks_and_noisy_moves() {
        let histories = Histories::new();
        let (mut kept, mut left_out) = (0, 0);
        for fen in POSITIONS {
            let board = Board::from_fen(fen).unwrap();
            let checks_and_pins = ChecksAndPins::new(&board);
            let legal = board.legal_moves();
            let quiet_hash_move = legal.iter().copied().find(|&mv| !is_noisy(&board, mv));
            for (hash_move, wanted) in [
                (None, QuietFilter::Checks),
                (None, QuietFilter::None),
                (quiet_hash_move, QuietFilter::Checks),
                (quiet_hash_move, QuietFilter::None),
            ] {
                // The filter is set before the first move, or after any other.
                for taken in 0..=legal.len() {
                    let hash_move = hash_move.map(Move::raw);
                    let mut picker =
                        Picker::new(&board, checks_and_pins, hash_move, Continuations::default());
                    let mut handed: Vec<Move> = (0..taken)
                        .map(|_| picker.next(&board, &histories).expect("a legal move"))
                        .collect();
                    let mut to_come: Vec<Move> =
                        legal.iter().copied().filter(|mv| !handed.contains(mv)).collect();
                    picker.limit_quiets(&board, wanted);
                    // What is left out once stays so.
                    picker.limit_quiets(&board, QuietFilter::All);
                    let before = to_come.len();
                    to_come.retain(|&mv| {
                        is_noisy(&board, mv)
                            || Some(mv.raw()) == hash_move
                            || (wanted == QuietFilter::Checks && checks(&board, mv))
                    });
                    left_out += before - to_come.len();
                    kept += to_come.iter().filter(|&&mv| !is_noisy(&board, mv)).count();
                    handed.clear();
                    let mut score = i32::MAX;
                    while let Some(mv) = picker.next(&board, &histories) {
                        handed.push(mv);
                        if let Some(next) = picker.quiet_score() {
                            assert!(next <= score, "{fen}: best first");
                            score = next;
                        }
                    }
                    let context = format!("{fen} {wanted:?} after {taken}, hash {hash_move:?}");
                    assert_eq!(sorted(handed), sorted(to_come), "{context}");
                }
            }
        }
        assert!(kept > 500 && left_out > 50_000, "{kept} {left_out}");
    }

    #[test]
    fn a_narrower_filter_replaces_a_wider_one() {
        let histories = Histories::new();
        // The rook checks on two squares, the knight discovers the bishop's check.
        let board = Board::from_fen("4k3/8/2N5/1B6/8/8/8/R3K3 w - - 0 1").unwrap();
        let checks_and_pins = ChecksAndPins::new(&board);
        let mut picker = Picker::new(&board, checks_and_pins, None, Continuations::default());
        let first = picker.next(&board, &histories);
        assert!(first.is_some_and(|mv| !is_noisy(&board, mv)));
        picker.limit_quiets(&board, QuietFilter::Checks);
        let check = picker.next(&board, &histories);
        assert!(check.is_some_and(|mv| checks(&board, mv)));
        picker.limit_quiets(&board, QuietFilter::None);
        assert_eq!(picker.next(&board, &histories), None);
    }
}
