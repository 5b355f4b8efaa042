//! Quiescence: the search of captures and promotions where the depth has run out.

use super::delay::delayed;
use super::entry::{self, Bound, Stored};
use super::exchange::{captured_value, exchange_reaches};
use super::node::NodeKind;
use super::picker::Picker;
use super::prune;
use super::thread::{MAX_PLY, Thread};
use crate::eval::Evaluator;
use crate::movegen::Masks;
use crate::moves::Move;
use crate::params;
use crate::score::{DRAW, MATE, Score, Window, is_mate};

impl<E: Evaluator> Thread<'_, E> {
    /// Quiescence: only captures and promotions, until the position is quiet. In check all evasions.
    /// Source: <https://www.chessprogramming.org/Quiescence_Search>.
    ///
    /// Off the principal variation and out of check, the table is asked at the `first` node and the reply
    /// to an evasion only. Asked everywhere, the search is 4 % slower and not measurably better; asked
    /// nowhere, it is worse (see `scripts/results.csv`).
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
        self.frames[ply].pv.clear();
        self.seldepth = self.seldepth.max(ply);
        if self.is_draw(ply) {
            return DRAW;
        }
        let standing = self.raw_eval();
        if ply >= MAX_PLY - 1 {
            return standing;
        }
        let in_check = self.board.in_check_after_move();

        // Standing pat, unless in check. Where that is enough the table need not be waited for.
        let mut best = -MATE;
        if !in_check {
            best = self.corrected(standing);
            if best >= beta {
                return best;
            }
        }
        let masks = Masks::given(&self.board, in_check);
        let keys = self.board.keys();
        let asks_table = K::PV || in_check || first;
        let known = if asks_table { self.known(keys) } else { None };
        if let Some(known) = known {
            if !K::PV && known.cuts(alpha, beta) {
                return known.score;
            }
            if !in_check && known.cuts(best, best) && !is_mate(known.score) {
                best = known.score;
                if best >= beta {
                    return best;
                }
            }
        }
        let futility = best + params::qs_futility_margin();
        let original_alpha = alpha;
        alpha = alpha.max(best);

        let hash_move = known.and_then(|known| known.mv);
        let mut picker = if in_check {
            Picker::new(&self.board, masks, hash_move, self.earlier(ply))
        } else {
            Picker::noisy(&self.board, masks, hash_move)
        };
        let has_pieces = self.has_pieces();
        let mut best_move = None;
        while let Some(mv) = picker.next(&self.board, self.histories) {
            if !in_check {
                let captured = captured_value(&self.board, mv);
                if has_pieces && let Some(most) = prune::falls_short(futility, captured, alpha) {
                    best = best.max(most);
                    continue;
                }
                let least = prune::least_exchange(futility, alpha);
                if !exchange_reaches(&self.board, mv, least) {
                    if least > 0 {
                        best = best.max(futility);
                    }
                    continue;
                }
            }
            // Only where the table is certain to be asked.
            if K::PV || in_check {
                self.table.prefetch(self.board.likely_keys_after(mv));
            }
            self.make(mv, ply);
            let window = Window { alpha, beta };
            let score =
                delayed(window, standing, |window| self.quiesce::<K>(window, ply + 1, in_check));
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
                        self.extend_line(mv, ply);
                    }
                    if score >= beta {
                        break;
                    }
                }
            }
        }
        let bound = match best_move {
            Some(_) => Bound::of(best, original_alpha, beta),
            None => Bound::Upper,
        };
        let mv = best_move.map(Move::raw);
        if asks_table {
            entry::store(self.table, keys, Stored { mv, score: best, depth: 0, bound });
        }
        best
    }
}
