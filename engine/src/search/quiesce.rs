//! Quiescence search: captures and promotions until the position is quiet, in check all evasions.
//! Source: <https://www.chessprogramming.org/Quiescence_Search>.

use super::delay::delayed;
use super::node::NodeKind;
use super::picker::Picker;
use super::prune;
use super::see::{captured_value, see_ge};
use super::thread::{MAX_PLY, Thread};
use super::tt::{Bound, TtEntry, TtView};
use crate::eval::Evaluator;
use crate::movegen::ChecksAndPins;
use crate::moves::Move;
use crate::params;
use crate::score::{DRAW, MATE, Score, Window, is_proved};

impl<E: Evaluator, T: TtView> Thread<'_, E, T> {
    /// Searches a node at the horizon or beyond. `first` is the node at the horizon, or the reply to an
    /// evasion.
    ///
    /// Off the principal variation and out of check the table is probed and stored at `first` nodes only.
    /// Everywhere would be 4 % slower and not measurably better, nowhere is worse (see
    /// `scripts/results.csv`).
    pub(super) fn quiesce<K: NodeKind>(
        &mut self,
        window: Window,
        ply: usize,
        first: bool,
    ) -> Score {
        let Window { mut alpha, beta } = window;
        if !self.count_node() {
            return DRAW;
        }
        self.stack[ply].pv.clear();
        self.seldepth = self.seldepth.max(ply);
        if self.is_draw(ply) {
            return DRAW;
        }
        let raw_eval = self.raw_eval();
        if ply >= MAX_PLY - 1 {
            return raw_eval;
        }
        let in_check = self.board.in_check_after_move();

        // Stand pat, unless in check; before probing: saves a cache miss.
        let mut best = -MATE;
        if !in_check {
            best = self.corrected(raw_eval);
            if best >= beta {
                return best;
            }
        }
        let checks_and_pins = ChecksAndPins::given(&self.board, in_check);
        let keys = self.board.keys();
        let uses_tt = K::PV || in_check || first;
        let tt_entry = if uses_tt { self.probe_tt(keys) } else { None };
        if let Some(entry) = tt_entry {
            if !K::PV && entry.is_cutoff(alpha, beta) {
                return entry.score;
            }
            if !in_check && entry.is_cutoff(best, best) && !is_proved(entry.score) {
                best = entry.score;
                if best >= beta {
                    return best;
                }
            }
        }
        let futility = best + params::qs_futility_margin();
        let original_alpha = alpha;
        alpha = alpha.max(best);

        let hash_move = tt_entry.and_then(|entry| entry.mv);
        let mut picker = if in_check {
            Picker::new(&self.board, checks_and_pins, hash_move, self.continuation_plies(ply))
        } else {
            Picker::noisy(&self.board, checks_and_pins, hash_move)
        };
        let has_pieces = self.has_pieces();
        let mut best_move = None;
        while let Some(mv) = picker.next(&self.board, self.histories) {
            if !in_check {
                let captured = captured_value(&self.board, mv);
                if has_pieces && let Some(most) = prune::delta_prune(futility, captured, alpha) {
                    best = best.max(most);
                    continue;
                }
                let threshold = prune::see_threshold(futility, alpha);
                if !see_ge(&self.board, mv, threshold) {
                    if threshold > 0 {
                        best = best.max(futility);
                    }
                    continue;
                }
            }
            // Only where the reply is sure to probe.
            if K::PV || in_check {
                self.tt.prefetch(self.board.likely_keys_after(mv));
            }
            self.make(mv, ply);
            let window = Window { alpha, beta };
            let score =
                delayed(window, raw_eval, |window| self.quiesce::<K>(window, ply + 1, in_check));
            self.unmake();
            if self.stopped {
                return DRAW;
            }
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    best_move = Some(mv);
                    if K::PV {
                        self.update_pv(mv, ply);
                    }
                    if score >= beta {
                        break;
                    }
                }
            }
        }
        if uses_tt {
            let bound = match best_move {
                Some(_) => Bound::of(best, original_alpha, beta),
                None => Bound::Upper,
            };
            let mv = best_move.map(Move::raw);
            self.tt.store(keys, TtEntry { mv, score: best, depth: 0, bound });
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::eval::Tapered;
    use crate::search::Control;
    use crate::search::history::Histories;
    use crate::search::node::NonPv;
    use crate::search::team::Team;
    use crate::search::tt::{CairnTable, SharedTt};

    /// The static evaluation, and what quiescence says to the question whether the score is above 0.
    fn above_zero(fen: &str) -> (Score, Score) {
        let board = Board::from_fen(fen).unwrap();
        let (tt, control) = (CairnTable::new(1).unwrap(), Control::new());
        let mut histories = Histories::new();
        let (tt, team) = (SharedTt(&tt), Team::new(&control, None, 0));
        let mut thread = Thread::<Tapered, _>::new(&board, tt, &mut histories, team.leader(), &());
        let raw_eval = thread.raw_eval();
        let eval = thread.corrected(raw_eval);
        (eval, thread.quiesce::<NonPv>(Window::null(0), 0, true))
    }

    #[test]
    fn quiet_promotions_are_searched_however_bad_it_looks() {
        for fen in [
            "8/P5k1/6p1/5p2/8/8/7r/1K6 w - - 0 1",
            "8/P5k1/6pp/5p1p/8/8/7r/1K5B w - - 0 1",
            "1k6/7R/8/8/5P2/6P1/p5K1/8 b - - 0 1",
        ] {
            let (eval, score) = above_zero(fen);
            assert!(eval + params::qs_futility_margin() <= 0, "{fen}: {eval}");
            assert!(score > 0, "{fen}: {score}");
        }
        // The new queen would be captured.
        let (eval, score) = above_zero("r7/P5k1/6p1/5p2/8/8/8/1K6 w - - 0 1");
        assert!(eval + params::qs_futility_margin() <= 0 && score <= 0, "{eval} {score}");
    }
}
