//! micro-Max 3.2, exact to the node.
//!
//! This is H.G. Muller's program as it was: every count of nodes, score and move of every iteration
//! agrees with the original's. Its oddities are therefore kept and marked as such. Ideas and
//! behaviour: <https://home.hccnet.nl/h.g.muller/max-src2.html>.
//!
//! Only the walk through the tree is faster. The original scans all 64 squares in every iteration of every
//! node and finds out that a king can be captured when it comes to the capture. Here one test says whether
//! a king can be captured in a node at all. If not, which is nearly always, a node at depth 1 generates
//! only the captures on one square, and a cutoff ends the scan at once; if so, the moves are looked at one
//! by one in the original's order.

use super::root_lines::{self, RootLine};
use super::{Bound, Control, Limits, Outcome, Report, ScoreText, Verdict};
use crate::attack::{Squares, at, attacks, line_step, on_board, reaches, steps};
use crate::board::Board;
use crate::hash::{Entry, SLOTS, Table};
use crate::keys::{Keys, Zobrist};
use crate::machine::memory::{AllocationError, Remains};
use crate::movegen;
use crate::moves::Move;
use crate::piece::{Kind, Piece, Side};
use crate::square::Square;

/// Larger than any score: what capturing a king is worth.
const INFINITY: i32 = 8000;
/// A score beyond this ends the deepening of a node, whether it is a mate or only much material.
const DECIDED: i32 = INFINITY / 4;
/// A checkmate; found n moves away it is n less.
const MATE: i32 = INFINITY / 2;
/// The longest mate that is announced, in moves.
const LONGEST_MATE: i32 = 100;
/// The depth stored with a decided score: enough for any search.
const DECIDED_DEPTH: i32 = 99;
/// The first depth that thinking does not begin.
const THINKING_END: i32 = 98;
/// The deepest fixed-depth search; beyond it [`DECIDED_DEPTH`] would no longer end it.
const FIXED_DEPTH_END: i32 = 98;

/// No square.
const NONE: u8 = 128;
/// The square that the opponent of a root has "just moved to": off the board, so no recapture is there.
const ROOT: u8 = 8;
/// A king or rook that has never moved.
const VIRGIN: u8 = 32;

/// Material by kind; the king's is never summed.
const MATERIAL: [i32; 8] = [0, 99, 99, 297, -99, 297, 495, 891];
/// What promoting to a queen adds (a true difference would be 792).
const PROMOTION_GAIN: i32 = 799;
/// SearchRoot balance per queen promotion played earlier in the game: what the gain exceeds the
/// difference of material by.
const PROMOTION_EXCESS: i32 = PROMOTION_GAIN - (MATERIAL[7] - MATERIAL[1]);
const CASTLING_BONUS: i32 = 30;
/// For each of the two squares two files beside a pawn that holds no fellow pawn, beyond the first.
const MISSING_NEIGHBOUR: i32 = 9;
/// Distance from the centre by file and by row; lower is better.
const FILE_TERM: [i8; 8] = [16, 9, 4, 1, 0, 1, 4, 9];
const ROW_TERM: [i8; 8] = [12, 6, 2, 0, 0, 2, 6, 12];

/// Salt of the keys below the probe of a stalemated root.
const PROBE_SALT: u64 = 0x5bd1_e995_9d1b_58e3;
/// A lock that stands for "not in the table"; a position has it with a chance of 2^-64.
const NO_LOCK: u64 = 0x3c6e_f372_fe94_f82b;

/// The sum of both terms for each square, off-board coordinates included for the sake of speed.
const CENTRE: [i8; 128] = {
    let mut table = [0; 128];
    let mut square = 0;
    while square < 128 {
        table[square] = FILE_TERM[square & 7] + ROW_TERM[square >> 4];
        square += 1;
    }
    table
};

/// Squares as bits in scan order: a8 is bit 0, b8 bit 1, h1 bit 63.
#[inline(always)]
const fn scan_number(square: u8) -> u32 {
    ((square + (square & 7)) >> 1) as u32 & 63
}

#[inline(always)]
const fn square_of_scan_number(number: u32) -> u8 {
    (number + (number & !7)) as u8
}

/// The squares of a set, from a start square on, cyclically.
#[inline(always)]
fn cyclic(set: u64, start: u8) -> impl Iterator<Item = u8> {
    let shift = scan_number(start);
    let mut rest = set.rotate_right(shift);
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let number = rest.trailing_zeros();
        rest &= rest - 1;
        Some(square_of_scan_number((number + shift) & 63))
    })
}

/// A table entry of 16 bytes: the lock in one word, all else in the other.
#[derive(Clone, Copy)]
pub struct MicroMaxEntry {
    lock: u64,
    score: i16,
    depth: u8,
    from: u8,
    to: u8,
    flags: u8,
    generation: u16,
}

/// The best move is not a castling and may be tried first.
const NORMAL: u8 = 1;
/// The score is at least this.
const LOWER: u8 = 2;
/// The score is at most this.
const UPPER: u8 = 4;
const EXACT: u8 = LOWER | UPPER;

impl Entry<2> for MicroMaxEntry {
    #[inline(always)]
    fn pack(self) -> [u64; 2] {
        let rest = u64::from(self.score as u16)
            | u64::from(self.depth) << 16
            | u64::from(self.from) << 24
            | u64::from(self.to) << 32
            | u64::from(self.flags) << 40
            | u64::from(self.generation) << 48;
        [self.lock, rest]
    }

    #[inline(always)]
    fn unpack([lock, rest]: [u64; 2]) -> MicroMaxEntry {
        MicroMaxEntry {
            lock,
            score: rest as i16,
            depth: (rest >> 16) as u8,
            from: (rest >> 24) as u8,
            to: (rest >> 32) as u8,
            flags: (rest >> 40) as u8,
            generation: (rest >> 48) as u16,
        }
    }
}

type MicroMaxTable = Table<MicroMaxEntry, 2>;

/// The best move of a node so far. Without one, `from` may still say where the scan starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct BestMove {
    from: u8,
    to: u8,
    normal: bool,
}

impl BestMove {
    const NONE: BestMove = BestMove { from: 0, to: 0, normal: false };

    /// Whether there is a best move at all. Only castling is not normal, and never goes to a8.
    const fn exists(self) -> bool {
        self.normal || self.to != 0
    }
}

/// A node's arguments.
#[derive(Clone, Copy)]
struct Node {
    side: Side,
    alpha: i32,
    beta: i32,
    eval: i32,
    keys: Keys,
    en_passant: u8,
    /// Where the opponent has just moved to.
    previous_to: u8,
    /// Whether some move in this node counts as taking the king. Right after castling any move to a
    /// square of the king's way does; that is rare enough to look at each move then.
    king_can_be_taken: bool,
}

/// A move as the generator finds it.
#[derive(Clone, Copy)]
struct Sketch {
    from: u8,
    to: u8,
    /// The square of the captured piece, if any.
    captured_on: u8,
    /// The square passed over by a double push or a castling king, the reply's en-passant square.
    skipped: u8,
    /// The corner of the castling rook.
    rook_from: u8,
}

impl Sketch {
    #[inline(always)]
    const fn plain(from: u8, to: u8) -> Sketch {
        Sketch { from, to, captured_on: to, skipped: NONE, rook_from: NONE }
    }
}

/// A move with all that making it takes.
#[derive(Clone, Copy)]
struct Pseudo {
    /// The keys of the placement after it.
    keys: Keys,
    from: u8,
    to: u8,
    /// Where the captured piece stands, if any.
    captured_on: u8,
    captured: u8,
    moved: u8,
    placed: u8,
    /// The square passed over by a double push or a castling king, the reply's en-passant square.
    skipped: u8,
    /// The corner of the castling rook.
    rook_from: u8,
    /// Positional term and gain.
    delta: i16,
    /// It takes the king, or the piece that a castling king left in its place.
    takes_king: bool,
}

/// What a node computes when it first needs it.
#[derive(Clone, Copy, Default)]
struct Scratch {
    /// Its moves, a range of [`Run::moves`].
    range: Option<(usize, usize)>,
    /// Whether the side to move is in check.
    in_check: Option<bool>,
}

/// How many moves ahead the table is prefetched: about the latency of memory.
const PREFETCH_DISTANCE: usize = 3;

/// A finished iteration of the outermost node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Iteration {
    /// The internal depth; at 1 the score is the static evaluation and there is no move.
    pub depth: u32,
    /// Nodes since the search began.
    pub nodes: u64,
    /// In the original's units, 99 a pawn; 4000 - n is mate in n moves.
    pub score: i32,
    /// The best move's squares, the king's own for castling.
    pub best: Option<(Square, Square)>,
}

/// A root move with the terms that the original gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootMove {
    /// Where the piece comes from.
    pub from: Square,
    /// Where it goes.
    pub to: Square,
    /// Positional part: centre, pawn structure, castling.
    pub positional: i32,
    /// Material part.
    pub gain: i32,
    /// The en-passant square handed down, the passed-over square for castling.
    pub en_passant: Option<Square>,
    /// Whether it is a castling move.
    pub castling: bool,
    /// The score of iteration 2 with the running window: a bound for all but the best so far.
    pub score: i32,
}

/// The limits of iterative deepening.
#[derive(Clone, Copy)]
struct IterationLimits {
    /// The original's fixed depth `n`; 0 to think until a budget is spent.
    fixed_depth: i32,
    /// Iterations begin only below this node count, when thinking.
    nodes: u64,
    /// The node limit of a stalemated root's probe; 0 for none.
    probe_nodes: u64,
    /// No iteration beyond this.
    last_depth: i32,
    /// No node beyond this count.
    node_cap: u64,
}

impl IterationLimits {
    fn of(limits: &Limits) -> IterationLimits {
        let depth = limits.depth.map(|depth| depth.clamp(1, FIXED_DEPTH_END as u32) as i32);
        let thinking = IterationLimits {
            fixed_depth: 0,
            nodes: limits.nodes.unwrap_or(u64::MAX),
            probe_nodes: limits.nodes.unwrap_or(0),
            last_depth: depth.unwrap_or(FIXED_DEPTH_END),
            node_cap: limits.node_cap.unwrap_or(u64::MAX),
        };
        match (depth, limits.nodes) {
            (Some(depth), None) => IterationLimits::fixed(depth, thinking.node_cap),
            _ => thinking,
        }
    }

    const fn fixed(depth: i32, node_cap: u64) -> IterationLimits {
        IterationLimits {
            fixed_depth: depth,
            nodes: 0,
            probe_nodes: 0,
            last_depth: depth,
            node_cap,
        }
    }

    /// Whether the outermost node begins iteration `depth`.
    const fn begins(&self, depth: i32, nodes: u64) -> bool {
        let thinks = nodes < self.nodes && depth < THINKING_END && depth <= self.last_depth;
        depth <= self.fixed_depth || thinks
    }
}

#[inline(always)]
const fn is_pawn(piece: u8) -> bool {
    piece & 7 <= Kind::BlackPawn as u8
}

/// The balance that a game has accumulated, from the view of the side to move: material, and a
/// little more for each queen promotion played since the game's position was set up.
#[must_use]
pub fn root_balance(board: &Board) -> i32 {
    let material = |side| -> i32 {
        let of_kind = |kind: Kind| board.count(side, kind) as i32 * MATERIAL[kind.index()];
        Kind::ALL.into_iter().filter(|&kind| kind != Kind::King).map(of_kind).sum()
    };
    let promotions = |side| {
        let queenings = board.history().iter().filter_map(|undo| undo.queened());
        PROMOTION_EXCESS * queenings.filter(|&by| by == side).count() as i32
    };
    let us = board.side_to_move();
    let balance = |side| material(side) + promotions(side);
    balance(us) - balance(us.other())
}

/// A move as the search has it: castling goes to the king's target square.
fn exact_squares(board: &Board, mv: Move) -> (u8, u8) {
    let castled = Board::castled_squares(board.side_to_move(), mv.to() > mv.from()).0;
    (mv.from().raw(), if board.is_castling(mv) { castled } else { mv.to().raw() })
}

/// The legal move for two squares of the search; pawns become queens.
fn legal_move(board: &Board, squares: (u8, u8)) -> Option<Move> {
    board.legal_moves().into_iter().find(|&mv| {
        exact_squares(board, mv) == squares
            && (!board.is_promotion(mv) || mv.promotion_kind() == Kind::Queen)
    })
}

/// A score of an iteration, mates as such. The first iteration only evaluates.
fn score_text(depth: u32, score: i32) -> ScoreText {
    let moves = MATE - score.abs();
    if depth >= 2 && (0..=LONGEST_MATE).contains(&moves) {
        ScoreText::Mate(if score > 0 { moves } else { -moves })
    } else {
        ScoreText::Centipawns(score)
    }
}

impl Iteration {
    fn score_text(&self) -> ScoreText {
        score_text(self.depth, self.score)
    }

    /// The best move, if it is legal.
    fn legal_best(&self, board: &Board) -> Option<Move> {
        let (from, to) = self.best?;
        legal_move(board, (from.raw(), to.raw()))
    }
}

/// The program with its hash table.
pub struct MicroMax {
    table: MicroMaxTable,
}

/// The root of a search.
struct SearchRoot<'a> {
    board: &'a Board,
    eval: i32,
    /// The moves to search; `None` for all.
    filter: Option<Vec<(u8, u8)>>,
    /// Keeps the table entries of searches within one generation apart.
    salt: u64,
}

impl MicroMax {
    /// A program with an empty table of so many MiB.
    ///
    /// # Errors
    /// If the memory can't be had.
    pub fn new(hash_mib: usize) -> Result<MicroMax, AllocationError> {
        Ok(MicroMax { table: Table::new(hash_mib)? })
    }

    /// The size of the hash table in MiB.
    #[must_use]
    pub fn hash_mib(&self) -> usize {
        self.table.mebibytes()
    }

    /// Empties the table; every search begins with an empty one anyway. The first time gives it its memory,
    /// on up to `threads` threads and until `hurried` says that somebody waits.
    pub fn clear_until(
        &mut self,
        threads: usize,
        hurried: &mut dyn FnMut() -> bool,
    ) -> Option<Remains> {
        if self.table.is_touched() {
            self.table.next_generation();
            return None;
        }
        self.table.clear_until(threads, hurried)
    }

    /// All iterations of an exact search. `eval` is the root's evaluation, [`root_balance`] if not given;
    /// `hash` turns the table on.
    pub fn iterations(
        &mut self,
        board: &Board,
        eval: Option<i32>,
        limits: &Limits,
        hash: bool,
    ) -> Vec<Iteration> {
        self.table.next_generation();
        let eval = eval.unwrap_or_else(|| root_balance(board));
        let root = SearchRoot { board, eval, filter: None, salt: 0 };
        let control = Control::new();
        let mut run = Run::new(board, hash.then_some(&self.table), &control);
        let mut iterations = Vec::new();
        run.deepen(&root, &IterationLimits::of(limits), &mut |_, iteration| {
            iterations.push(*iteration);
            Verdict::Continue
        });
        iterations
    }

    /// The root moves with their terms and scores in iteration 2, hash off; none if the root
    /// evaluation is so large that there is no iteration 2.
    #[must_use]
    pub fn root_moves(board: &Board) -> Vec<RootMove> {
        let control = Control::new();
        let root = SearchRoot { board, eval: root_balance(board), filter: None, salt: 0 };
        Run::new(board, None, &control).root_moves(&root)
    }

    /// Searches a position as the original does, which is on one thread; the answer is always legal.
    pub fn search(
        &mut self,
        board: &Board,
        limits: &Limits,
        control: &Control,
        sink: &mut dyn FnMut(&Report<'_>) -> Verdict,
    ) -> Outcome {
        control.begin(0);
        self.table.next_generation();
        let legal = movegen::legal_scan(board, Square::new(0, 0));
        let mut wanted = legal.clone();
        wanted.retain(|mv| limits.search_moves.contains(mv));
        let filter = (!wanted.is_empty())
            .then(|| wanted.iter().map(|&mv| exact_squares(board, mv)).collect());
        let root = SearchRoot { board, eval: root_balance(board), filter, salt: 0 };
        let budget = IterationLimits::of(limits);

        let mut last: Option<Iteration> = None;
        let mut lines: Vec<RootLine> = Vec::new();
        let moves = if wanted.is_empty() { &legal } else { &wanted };
        let count = limits.multi_pv.clamp(1, moves.len().max(1));
        let mut run = Run::new(board, Some(&self.table), control);
        run.deepen(&root, &budget, &mut |run, iteration| {
            last = Some(*iteration);
            // One that the cap has ended leaves no nodes for further lines.
            let searched = if run.stopped { 1 } else { count };
            // Before the further lines, whose entries a repetition may have more or fewer of.
            let hash_full = run.hash_full();
            let before = std::mem::take(&mut lines);
            lines = run.lines(&root, iteration, searched);
            if iteration.best.is_some() {
                root_lines::complete(&mut lines, &before, moves, count);
            }
            let mut verdict = Verdict::Continue;
            for (line, rank) in lines.iter().zip(1..) {
                if run.report(iteration.nodes, hash_full, line, rank, false, sink) == Verdict::Stop
                {
                    verdict = Verdict::Stop;
                }
            }
            control.begin_iteration(iteration.depth + 1);
            let mate_found = matches!((iteration.score_text(), limits.mate),
                (ScoreText::Mate(n), Some(asked)) if n > 0 && n as u32 <= asked);
            if mate_found { Verdict::Stop } else { verdict }
        });

        let mut outcome = Outcome {
            best: None,
            ponder: None,
            score: last.map_or(ScoreText::Centipawns(root.eval), |last| last.score_text()),
            depth: last.map_or(0, |iteration| iteration.depth),
            nodes: last.map_or(0, |iteration| iteration.nodes),
            threads: 1,
            leader_nodes: None,
            notes: Vec::new(),
        };
        let answer = last.and_then(|iteration| iteration.best);
        outcome.best = answer.and_then(|(from, to)| legal_move(board, (from.raw(), to.raw())));
        if outcome.best.is_some() {
            outcome.ponder = lines.first().and_then(|line| line.pv.get(1).copied());
        } else {
            let text = answer.map_or("0000".to_owned(), |(from, to)| format!("{from}{to}"));
            outcome.notes.push(format!("exact: {text}"));
            if root.eval.abs() > DECIDED {
                self.search_as_equal(&root, &budget, control, &mut outcome, sink);
            }
            let first = if wanted.is_empty() { &legal } else { &wanted }.first().copied();
            outcome.best = outcome.best.or(first);
        }
        outcome
    }

    /// The original gives no move if the material is too unequal: searches again as if it were equal.
    fn search_as_equal(
        &mut self,
        root: &SearchRoot<'_>,
        budget: &IterationLimits,
        control: &Control,
        outcome: &mut Outcome,
        sink: &mut dyn FnMut(&Report<'_>) -> Verdict,
    ) {
        self.table.next_generation();
        let equal = SearchRoot { board: root.board, eval: 0, filter: root.filter.clone(), salt: 0 };
        let mut run = Run::new(root.board, Some(&self.table), control);
        let mut last = None;
        run.deepen(&equal, budget, &mut |run, iteration| {
            last = Some(*iteration);
            let line = RootLine::new(iteration.score, iteration.depth, &[]);
            run.report(iteration.nodes, run.hash_full(), &line, 1, true, sink)
        });
        if let Some(Iteration { nodes, best: Some((from, to)), .. }) = last {
            outcome.best = legal_move(root.board, (from.raw(), to.raw()));
            outcome.nodes = nodes;
        }
    }
}

/// A search in progress.
struct Run<'a> {
    squares: Squares,
    /// Each side's pieces as a set of squares in scan order.
    pieces: [u64; 2],
    kings: [u8; 2],
    nodes: u64,
    /// Whether the node count is published: of the first line only.
    publishes: bool,
    probe_nodes: u64,
    node_cap: u64,
    /// The node count at which to look at the cap and the stop flag.
    next_poll: u64,
    /// The lock of a stalemated root's probe, which is neither probed nor stored.
    unstored_lock: u64,
    stopped: bool,
    table: Option<&'a MicroMaxTable>,
    control: &'a Control,
    zobrist: &'static Zobrist,
    moves: Vec<Sketch>,
}

impl<'a> Run<'a> {
    fn new(board: &Board, table: Option<&'a MicroMaxTable>, control: &'a Control) -> Run<'a> {
        let mut run = Run {
            squares: *board.squares(),
            pieces: [0; 2],
            kings: Side::ALL.map(|side| board.king(side).raw()),
            nodes: 0,
            publishes: true,
            probe_nodes: 0,
            node_cap: u64::MAX,
            // Not before: there is no move yet.
            next_poll: super::POLL_INTERVAL,
            unstored_lock: NO_LOCK,
            stopped: false,
            table,
            control,
            zobrist: Zobrist::get(),
            moves: Vec::with_capacity(4096),
        };
        for square in Square::all() {
            if let Some(piece) = board.piece_on(square) {
                run.pieces[piece.side().index()] |= 1 << scan_number(square.raw());
            }
        }
        // Only the orthodox castlings exist here: a king on the e-file and a rook in the corner.
        for side in Side::ALL {
            let king = board.king(side);
            for king_side in [false, true] {
                let corner = if king_side { 7 } else { 0 };
                let rook = board.castling_rook(side, king_side);
                if let Some(rook) = rook.filter(|rook| rook.file() == corner && king.file() == 4) {
                    run.squares[rook.index()] |= VIRGIN;
                    run.squares[king.index()] |= VIRGIN;
                }
            }
        }
        run
    }

    /// Counts a node, unless the search stops before it: the one place for both. Returns whether to go on.
    #[inline(always)]
    fn count_node(&mut self) -> bool {
        if self.nodes >= self.next_poll && !self.poll() {
            return false;
        }
        self.nodes += 1;
        true
    }

    /// Looks at the cap and the stop flag. Returns whether to go on.
    #[cold]
    fn poll(&mut self) -> bool {
        if self.publishes {
            self.control.publish(self.nodes);
        }
        self.stopped |= self.nodes >= self.node_cap || self.control.is_stopped();
        self.next_poll = self.node_cap.min(self.nodes + super::POLL_INTERVAL);
        !self.stopped
    }

    fn root_node(&self, root: &SearchRoot<'_>) -> Node {
        let mut keys = Keys { index: root.salt, lock: root.salt };
        for square in Square::all() {
            let piece = at(&self.squares, square.raw());
            if piece != 0 {
                keys ^= self.piece_keys(piece, square.raw());
            }
        }
        Node {
            side: root.board.side_to_move(),
            alpha: -INFINITY,
            beta: INFINITY,
            eval: root.eval,
            keys,
            en_passant: root.board.raw_en_passant().map_or(NONE, Square::raw),
            previous_to: ROOT,
            king_can_be_taken: false,
        }
    }

    /// The outermost node: iterations until a limit is reached, the last one completed. One that is stopped
    /// counts as not begun; of one that the cap has ended, a better move counts.
    fn deepen(
        &mut self,
        root: &SearchRoot<'_>,
        budget: &IterationLimits,
        each: &mut dyn FnMut(&Run<'a>, &Iteration) -> Verdict,
    ) {
        let node = self.root_node(root);
        let keys = self.lookup_keys(&node);
        self.probe_nodes = budget.probe_nodes;
        self.node_cap = budget.node_cap;
        self.next_poll = self.next_poll.min(self.node_cap);
        let mut best = BestMove::NONE;
        let range = root.filter.as_ref().map(|filter| {
            let (first, _) = self.generate(&node);
            self.moves.retain(|mv| filter.contains(&(mv.from, mv.to)));
            (first, self.moves.len())
        });
        let mut scratch = Scratch { range, in_check: None };
        if !self.count_node() {
            return;
        }
        let mut depth = 0;
        while budget.begins(depth + 1, self.nodes) {
            depth += 1;
            let before = best;
            let mut score = self.iterate(&node, depth, &mut best, &mut scratch);
            let stored_depth = if score.abs() > DECIDED { DECIDED_DEPTH } else { depth };
            if score == -INFINITY && !self.stopped {
                score = -self.probe(&node) / 2;
            }
            // Castling is not searched first, so that any move seems better than the last best one.
            let is_better = best != before && (before.normal || !before.exists());
            if self.stopped && !(is_better && self.nodes >= self.node_cap) {
                return;
            }
            if !self.stopped {
                self.store(&node, keys, 0, stored_depth, score, best);
            }
            let square = Square::from_index_masked;
            let best = best.exists().then(|| (square(best.from), square(best.to)));
            let iteration = Iteration { depth: depth as u32, nodes: self.nodes, score, best };
            let verdict = each(self, &iteration);
            if verdict == Verdict::Stop || stored_depth == DECIDED_DEPTH || self.stopped {
                return;
            }
        }
    }

    /// Iteration 2 of the root, move by move.
    fn root_moves(&mut self, root: &SearchRoot<'_>) -> Vec<RootMove> {
        let node = self.root_node(root);
        if root.eval.abs() > DECIDED {
            return Vec::new();
        }
        let (first, end) = self.generate(&node);
        let mut scratch = Scratch::default();
        let mut score = -INFINITY;
        let mut found = Vec::new();
        for i in first..end {
            let mv = self.describe(&node, self.moves[i]);
            let result = self.try_move(&node, &mv, score, 2, &mut scratch);
            score = score.max(result);
            let promotes = is_pawn(mv.moved) && !is_pawn(mv.placed);
            let gain =
                MATERIAL[usize::from(mv.captured & 7)] + if promotes { PROMOTION_GAIN } else { 0 };
            found.push(RootMove {
                from: Square::from_index_masked(mv.from),
                to: Square::from_index_masked(mv.to),
                positional: i32::from(mv.delta) - gain,
                gain,
                en_passant: Square::from_index(mv.skipped),
                castling: mv.rook_from != NONE,
                score: result,
            });
        }
        found
    }

    /// How full the table is of this search, in permill.
    fn hash_full(&self) -> u32 {
        self.table.map_or(0, |table| {
            let generation = table.generation();
            table.fill(|entry| entry.generation == generation)
        })
    }

    fn report(
        &self,
        nodes: u64,
        hash_full: u32,
        line: &RootLine,
        multi_pv: usize,
        silent: bool,
        sink: &mut dyn FnMut(&Report<'_>) -> Verdict,
    ) -> Verdict {
        sink(&Report {
            depth: line.depth,
            seldepth: None,
            multi_pv,
            score: score_text(line.depth, line.score),
            by_tables: false,
            bound: Bound::Exact,
            nodes,
            hash_full,
            table_hits: None,
            effort: None,
            pv: &line.pv,
            silent,
        })
    }

    /// The lines of an iteration (MultiPV), best first; fewer if the search is stopped. The first is the exact
    /// search's. For each other one an exact search to the same depth without the moves of the lines before;
    /// its score is capped at the first line's, as that search found no better move. Their nodes are not
    /// counted: a count of the exact search alone repeats it.
    fn lines(&self, root: &SearchRoot<'_>, iteration: &Iteration, count: usize) -> Vec<RootLine> {
        // A decided line ends early, but is shown with the depth of the others.
        let line = |run: &Run<'_>, root: &SearchRoot<'_>, result: &Iteration| RootLine {
            mv: result.legal_best(root.board),
            ..RootLine::new(
                result.score.min(iteration.score),
                iteration.depth,
                &run.principal_variation(root, result),
            )
        };
        let mut lines = vec![line(self, root, iteration)];
        let mut filter = root.filter.clone().unwrap_or_else(|| {
            root.board.legal_moves().iter().map(|&mv| exact_squares(root.board, mv)).collect()
        });
        let mut better = iteration.best;
        for number in 2..=count {
            let Some((from, to)) = better else { break };
            filter.retain(|&squares| squares != (from.raw(), to.raw()));
            let salt = (u64::from(iteration.depth) << 32 | number as u64)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let root = SearchRoot { filter: Some(filter.clone()), salt, ..*root };
            let mut run = Run::new(root.board, self.table, self.control);
            run.publishes = false;
            let mut last = None;
            let limits = IterationLimits::fixed(iteration.depth as i32, self.node_cap);
            run.deepen(&root, &limits, &mut |_, iteration| {
                last = Some(*iteration);
                Verdict::Continue
            });
            let Some(result) = last.filter(|_| !run.stopped) else { break };
            lines.push(line(&run, &root, &result));
            better = result.best;
        }
        root_lines::sort(&mut lines);
        lines
    }

    /// The principal variation from the table, as far as it is legal and the game goes on. Empty for a mate
    /// score if it does not end in mate.
    fn principal_variation(&self, root: &SearchRoot<'_>, iteration: &Iteration) -> Vec<Move> {
        let announced = match iteration.score_text() {
            ScoreText::Mate(n) if n > 0 => Some(2 * n as usize - 1),
            ScoreText::Mate(n) => Some(2 * n.unsigned_abs() as usize),
            ScoreText::Centipawns(_) => None,
        };
        let mut pv = Vec::new();
        let mut board = root.board.clone();
        let mut castled = Keys { index: root.salt, lock: root.salt };
        let mut next = iteration.best.map(|(from, to)| (from.raw(), to.raw()));
        while let Some(mv) = next.and_then(|squares| legal_move(&board, squares)) {
            let (from, to) = exact_squares(&board, mv);
            let castling = to != mv.to().raw();
            let mut en_passant = NONE;
            if castling {
                castled ^= self.zobrist.castled(board.side_to_move(), to > from);
                en_passant = from.midpoint(to);
            }
            board.play(mv);
            pv.push(mv);
            let line_is_full = pv.len() >= announced.unwrap_or(2 * iteration.depth as usize);
            if line_is_full || board.repetitions() > 0 || board.outcome().is_some() {
                break;
            }
            if let Some(square) = board.raw_en_passant() {
                en_passant = square.raw();
            }
            next = self.stored_move(&board, castled, en_passant);
        }
        match announced {
            Some(length) if pv.len() != length || !board.is_checkmate() => Vec::new(),
            _ => pv,
        }
    }

    /// The table's best move of a position below the root. Probed without en-passant square too, as a double
    /// push made out of turn passes none on.
    fn stored_move(&self, board: &Board, castled: Keys, en_passant: u8) -> Option<(u8, u8)> {
        let table = self.table?;
        let placement = Square::all()
            .filter_map(|square| Some(self.zobrist.piece(board.piece_on(square)?, square)))
            .fold(castled, |keys, piece| keys ^ piece);
        [en_passant, NONE].into_iter().find_map(|en_passant| {
            let node = Node {
                side: board.side_to_move(),
                alpha: 0,
                beta: 0,
                eval: 0,
                keys: placement,
                en_passant,
                previous_to: ROOT,
                king_can_be_taken: false,
            };
            let keys = self.lookup_keys(&node);
            let slots = table.slots(keys);
            let entry = (0..SLOTS)
                .map(|slot| slots.load(slot))
                .find(|entry| entry.generation == table.generation() && entry.lock == keys.lock)?;
            let normal = entry.flags & NORMAL != 0;
            let best = BestMove { from: entry.from, to: entry.to, normal };
            best.exists().then_some((best.from, best.to))
        })
    }

    /// The node, in the original's steps: hash, count, then one iteration after the other.
    fn search_node(&mut self, node: Node, n: i32) -> i32 {
        let mut depth = 0;
        let mut best = BestMove::NONE;
        let lookup = self.lookup_keys(&node);
        let mut slot = 0;
        if let Some(table) = self.table {
            let slots = table.slots(lookup);
            let generation = table.generation();
            while slot < SLOTS {
                let entry = slots.load(slot);
                if entry.generation != generation {
                    break;
                }
                if entry.lock != lookup.lock {
                    slot += 1;
                    continue;
                }
                depth = i32::from(entry.depth);
                let score = i32::from(entry.score);
                if depth >= n {
                    let above = score >= node.beta || entry.flags & UPPER != 0;
                    let below = score <= node.alpha || entry.flags & LOWER != 0;
                    if above && below {
                        return score;
                    }
                    depth = n - 1;
                }
                best.from = entry.from;
                if depth > 0 {
                    best.to = entry.to;
                    best.normal = entry.flags & NORMAL != 0;
                }
                break;
            }
        }
        if !self.count_node() {
            return 0;
        }
        let moves_before = self.moves.len();
        let mut scratch = Scratch::default();
        let mut score = 0;
        while depth < n {
            depth += 1;
            score = self.iterate(&node, depth, &mut best, &mut scratch);
            if self.stopped {
                break;
            }
            if score.abs() > DECIDED {
                depth = DECIDED_DEPTH;
            }
            if score == -INFINITY {
                score = -self.probe(&node) / 2;
                if self.stopped {
                    break;
                }
            }
            self.store(&node, lookup, slot, depth, score, best);
        }
        self.moves.truncate(moves_before);
        score
    }

    #[inline(always)]
    fn lookup_keys(&self, node: &Node) -> Keys {
        let mut keys = self.lookup_keys_of(node.side, node.keys, node.en_passant);
        // The probe of a stalemated root, met again below itself.
        if node.keys.lock == self.unstored_lock {
            keys.lock = NO_LOCK;
        }
        keys
    }

    /// The keys that a placement is probed with.
    #[inline(always)]
    fn lookup_keys_of(&self, side: Side, placement: Keys, en_passant: u8) -> Keys {
        let mut keys = placement;
        if side == Side::Black {
            keys ^= self.zobrist.side();
        }
        if let Some(square) = Square::from_index(en_passant) {
            keys ^= self.zobrist.en_passant(square);
        }
        keys
    }

    /// Stores an iteration's result from the slot on where the probe ended: descendants may have filled slots
    /// since. Replaces everything but a deeper exact entry.
    #[inline(always)]
    fn store(&self, node: &Node, keys: Keys, slot: usize, depth: i32, score: i32, best: BestMove) {
        let Some(table) = self.table else { return };
        if keys.lock == NO_LOCK {
            return;
        }
        let generation = table.generation();
        let slots = table.slots(keys);
        for slot in slot..SLOTS {
            let old = slots.load(slot);
            let empty = old.generation != generation;
            if !empty && old.lock != keys.lock {
                continue;
            }
            if empty || old.flags & EXACT != EXACT || i32::from(old.depth) <= depth {
                let lower = if score > node.alpha { LOWER } else { 0 };
                let upper = if score < node.beta { UPPER } else { 0 };
                let normal = if best.normal { NORMAL } else { 0 };
                let entry = MicroMaxEntry {
                    lock: keys.lock,
                    score: score as i16,
                    depth: depth as u8,
                    from: best.from,
                    to: best.to,
                    flags: lower | upper | normal,
                    generation,
                };
                slots.store(slot, entry);
            }
            return;
        }
    }

    /// One iteration: all moves to this depth, best move first.
    fn iterate(
        &mut self,
        node: &Node,
        depth: i32,
        best: &mut BestMove,
        scratch: &mut Scratch,
    ) -> i32 {
        let king_can_be_taken = node.king_can_be_taken;
        if depth == 1 && !king_can_be_taken {
            return self.recaptures(node, best, scratch);
        }
        let mut score = if depth == 1 { node.eval } else { -INFINITY };
        let start = best.from;
        let mut without_pushes = false;
        if best.normal {
            let mv = self.complete(node, best.from, best.to);
            if mv.takes_king {
                return INFINITY;
            }
            score = self.try_move(node, &mv, score, depth, scratch);
            if self.stopped || (score >= node.beta && !king_can_be_taken) {
                return score;
            }
            // A best move that is a pawn's capture consumes the pawn's straight step, so that its
            // pushes are not looked at in this iteration: a quirk of the original.
            without_pushes = is_pawn(mv.moved) && mv.from & 15 != mv.to & 15;
        }

        let (first, end) = *scratch.range.get_or_insert_with(|| self.generate(node));
        let in_scan_order = |mv: &Sketch| scan_number(mv.from) < scan_number(start);
        let middle = first + self.moves[first..end].partition_point(in_scan_order);
        let mut ahead = (middle..end).chain(first..middle);
        let mut window = [None; PREFETCH_DISTANCE];
        for coming in &mut window {
            *coming = ahead.next().map(|i| self.announce(node, self.moves[i]));
        }
        for turn in 0.. {
            let coming = &mut window[turn % PREFETCH_DISTANCE];
            let Some(mv) = *coming else { break };
            *coming = ahead.next().map(|i| self.announce(node, self.moves[i]));
            if without_pushes && mv.from == start && mv.from & 15 == mv.to & 15 {
                continue;
            }
            if mv.takes_king {
                score = INFINITY;
            }
            if score >= node.beta {
                break;
            }
            if depth == 1 && mv.to != node.previous_to {
                continue;
            }
            let result = self.try_move(node, &mv, score, depth, scratch);
            if self.stopped {
                return score;
            }
            if result > score {
                score = result;
                *best = BestMove { from: mv.from, to: mv.to, normal: mv.rook_from == NONE };
                if score >= node.beta && !king_can_be_taken {
                    break;
                }
            }
        }
        score
    }

    /// An iteration of depth 1 where no king can be taken: stand pat, or recapture on the square
    /// that the opponent has just moved to.
    fn recaptures(&mut self, node: &Node, best: &mut BestMove, scratch: &mut Scratch) -> i32 {
        let mut score = node.eval;
        let target = at(&self.squares, node.previous_to);
        if score >= node.beta || target & node.side.other().bit() == 0 {
            return score;
        }
        let capturers = self.attackers(node.side, node.previous_to);
        for from in cyclic(capturers, best.from) {
            let mv = self.complete(node, from, node.previous_to);
            let result = self.try_move(node, &mv, score, 1, scratch);
            if self.stopped {
                return score;
            }
            if result > score {
                score = result;
                *best = BestMove { from, to: mv.to, normal: true };
                if score >= node.beta {
                    break;
                }
            }
        }
        score
    }

    /// The pieces of a side that attack a square.
    #[inline(always)]
    fn attackers(&self, side: Side, target: u8) -> u64 {
        let mut found = 0;
        for from in cyclic(self.pieces[side.index()], 0) {
            if attacks(&self.squares, at(&self.squares, from), from, target, |_| false) {
                found |= 1 << scan_number(from);
            }
        }
        found
    }

    /// Whether this move left its side's king to be taken: by a king's move, an en-passant capture, a check
    /// that was there before, or a piece that leaves the line between king and slider.
    #[inline(always)]
    fn leaves_king(&self, node: &Node, mv: &Pseudo, in_check: bool) -> bool {
        let us = node.side;
        let king = self.kings[us.index()];
        if in_check || mv.to == king || mv.captured_on != mv.to {
            return mv.rook_from != NONE || self.attacks_king(us.other());
        }
        let step = line_step(king, mv.from);
        if step == 0 {
            return false;
        }
        let mut square = king.wrapping_add_signed(step);
        while on_board(square) {
            let piece = at(&self.squares, square);
            if piece != 0 {
                return piece & us.bit() == 0
                    && Piece::from_raw_occupied(piece & !VIRGIN).kind().is_slider()
                    && reaches(piece, square, king);
            }
            square = square.wrapping_add_signed(step);
        }
        false
    }

    #[inline(always)]
    fn attacks_king(&self, side: Side) -> bool {
        let king = self.kings[side.other().index()];
        cyclic(self.pieces[side.index()], 0)
            .any(|from| attacks(&self.squares, at(&self.squares, from), from, king, |_| false))
    }

    /// No move keeps the king: mate if it is attacked, else stalemate. Tested by a move of the opponent.
    fn probe(&mut self, node: &Node) -> i32 {
        if node.previous_to == ROOT {
            return self.root_probe(node);
        }
        if !self.count_node() {
            return 0;
        }
        if self.attacks_king(node.side.other()) { INFINITY } else { 0 }
    }

    /// The probe at the root searches the opponent's move by iterative deepening up to the node limit: a quirk
    /// of the original. If the opponent is stalemated too, the turn goes back and forth, a node each time.
    fn root_probe(&mut self, node: &Node) -> i32 {
        let mut keys = node.keys;
        keys.lock ^= PROBE_SALT;
        self.unstored_lock = keys.lock;
        let mut side = node.side.other();
        loop {
            if self.stopped || !self.count_node() {
                return 0;
            }
            if self.attacks_king(side) {
                return INFINITY;
            }
            let probe = Node {
                side,
                alpha: -INFINITY,
                beta: INFINITY,
                eval: 0,
                keys,
                en_passant: NONE,
                previous_to: ROOT,
                king_can_be_taken: false,
            };
            let score = self.deepen_probe(&probe);
            if score != -INFINITY {
                return score;
            }
            side = side.other();
        }
    }

    fn deepen_probe(&mut self, probe: &Node) -> i32 {
        let mut score = probe.eval;
        let mut best = BestMove::NONE;
        let mut scratch = Scratch::default();
        for depth in 2..THINKING_END {
            if self.nodes >= self.probe_nodes || score.abs() > DECIDED || self.stopped {
                break;
            }
            score = self.iterate(probe, depth, &mut best, &mut scratch);
        }
        score
    }

    /// Makes a move, searches the reply and takes it back. Delayed gain: a result above the node's own
    /// evaluation loses a point, and beta is opened by as much.
    #[inline(always)]
    fn try_move(
        &mut self,
        node: &Node,
        mv: &Pseudo,
        score: i32,
        depth: i32,
        scratch: &mut Scratch,
    ) -> i32 {
        let extends = mv.to == node.previous_to;
        let in_check =
            *scratch.in_check.get_or_insert_with(|| self.attacks_king(node.side.other()));
        self.make(node.side, mv);
        let child = Node {
            side: node.side.other(),
            alpha: -node.beta - i32::from(node.beta > node.eval),
            beta: -score.max(node.alpha),
            eval: -(node.eval + i32::from(mv.delta)),
            keys: mv.keys,
            en_passant: mv.skipped,
            previous_to: mv.to,
            king_can_be_taken: self.leaves_king(node, mv, in_check),
        };
        let result = -self.search_node(child, if extends { depth } else { depth - 1 });
        self.unmake(node.side, mv);
        if result > node.eval { result - 1 } else { result }
    }

    /// Completes a move and prefetches the table entry of the position after it.
    #[inline(always)]
    fn announce(&self, node: &Node, sketch: Sketch) -> Pseudo {
        let mut mv = self.describe(node, sketch);
        if let Some(table) = self.table {
            mv.keys = self.keys_after(node, &mv);
            table.prefetch(self.lookup_keys_of(node.side.other(), mv.keys, mv.skipped));
        }
        mv
    }

    #[inline(always)]
    fn piece_keys(&self, piece: u8, square: u8) -> Keys {
        let piece = Piece::from_raw_occupied(piece & !VIRGIN);
        self.zobrist.piece(piece, Square::from_index_masked(square))
    }

    #[inline(always)]
    fn keys_after(&self, node: &Node, mv: &Pseudo) -> Keys {
        let mut keys = node.keys;
        keys ^= self.piece_keys(mv.moved, mv.from) ^ self.piece_keys(mv.placed, mv.to);
        if mv.captured != 0 {
            keys ^= self.piece_keys(mv.captured, mv.captured_on);
        }
        if mv.rook_from != NONE {
            let rook = Piece::new(node.side, Kind::Rook).raw();
            keys ^= self.piece_keys(rook, mv.rook_from) ^ self.piece_keys(rook, mv.skipped);
            keys ^= self.zobrist.castled(node.side, mv.rook_from > mv.from);
        }
        keys
    }

    #[inline(always)]
    fn make(&mut self, side: Side, mv: &Pseudo) {
        let (us, them) = (side.index(), side.other().index());
        if mv.captured != 0 {
            self.squares[usize::from(mv.captured_on & 0x7f)] = 0;
            self.pieces[them] ^= 1 << scan_number(mv.captured_on);
        }
        self.squares[usize::from(mv.from & 0x7f)] = 0;
        self.squares[usize::from(mv.to & 0x7f)] = mv.placed;
        self.pieces[us] ^= 1 << scan_number(mv.from) | 1 << scan_number(mv.to);
        if mv.moved & 7 == Kind::King as u8 {
            self.kings[us] = mv.to;
        }
        if mv.rook_from != NONE {
            self.squares[usize::from(mv.rook_from & 0x7f)] = 0;
            self.squares[usize::from(mv.skipped & 0x7f)] = Piece::new(side, Kind::Rook).raw();
            self.pieces[us] ^= 1 << scan_number(mv.rook_from) | 1 << scan_number(mv.skipped);
        }
    }

    #[inline(always)]
    fn unmake(&mut self, side: Side, mv: &Pseudo) {
        let (us, them) = (side.index(), side.other().index());
        if mv.rook_from != NONE {
            self.squares[usize::from(mv.skipped & 0x7f)] = 0;
            self.squares[usize::from(mv.rook_from & 0x7f)] =
                Piece::new(side, Kind::Rook).raw() | VIRGIN;
            self.pieces[us] ^= 1 << scan_number(mv.rook_from) | 1 << scan_number(mv.skipped);
        }
        if mv.moved & 7 == Kind::King as u8 {
            self.kings[us] = mv.from;
        }
        self.pieces[us] ^= 1 << scan_number(mv.from) | 1 << scan_number(mv.to);
        self.squares[usize::from(mv.to & 0x7f)] = 0;
        self.squares[usize::from(mv.from & 0x7f)] = mv.moved;
        if mv.captured != 0 {
            self.squares[usize::from(mv.captured_on & 0x7f)] = mv.captured;
            self.pieces[them] ^= 1 << scan_number(mv.captured_on);
        }
    }

    /// The move between two squares when it is made out of turn, as best move or recapture. A double push then
    /// passes no en-passant square on: a quirk of the original.
    #[inline(always)]
    fn complete(&self, node: &Node, from: u8, to: u8) -> Pseudo {
        let en_passant = is_pawn(at(&self.squares, from)) && to == node.en_passant;
        let captured_on = if en_passant { to ^ 16 } else { to };
        self.announce(node, Sketch { captured_on, ..Sketch::plain(from, to) })
    }

    #[inline(always)]
    fn describe(&self, node: &Node, sketch: Sketch) -> Pseudo {
        let Sketch { from, to, captured_on, skipped, rook_from } = sketch;
        let moved = at(&self.squares, from);
        let captured = at(&self.squares, captured_on);
        let mut placed = moved & !VIRGIN;
        let mut delta = MATERIAL[usize::from(captured & 7)];
        if moved & 7 <= Kind::Bishop as u8 {
            delta += i32::from(CENTRE[usize::from(from & 0x7f)])
                - i32::from(CENTRE[usize::from(to & 0x7f)]);
        }
        if is_pawn(moved) {
            let fellow = |square: u8| on_board(square) && at(&self.squares, square) == placed;
            let missing =
                i32::from(!fellow(from.wrapping_sub(2))) + i32::from(!fellow(from.wrapping_add(2)));
            delta -= MISSING_NEIGHBOUR * (missing - 1);
            if to >> 4 == node.side.promotion_row() {
                placed = Piece::new(node.side, Kind::Queen).raw();
                delta += PROMOTION_GAIN;
            }
        }
        if rook_from != NONE {
            delta += CASTLING_BONUS;
        }
        let takes_king = node.king_can_be_taken && self.counts_as_taking_king(node, to, captured);
        Pseudo {
            keys: node.keys,
            from,
            to,
            captured_on,
            captured,
            moved,
            placed,
            skipped,
            rook_from,
            delta: delta as i16,
            takes_king,
        }
    }

    fn counts_as_taking_king(&self, node: &Node, to: u8, captured: u8) -> bool {
        let castled = node.en_passant != NONE && at(&self.squares, node.en_passant) != 0;
        (captured != 0 && captured & 7 == Kind::King as u8)
            || (castled && to.abs_diff(node.en_passant) <= 1)
    }

    /// All moves of a node in scan order from a8: three nested loops over pieces, directions and
    /// squares.
    fn generate(&mut self, node: &Node) -> (usize, usize) {
        let first = self.moves.len();
        let us = node.side;
        for from in cyclic(self.pieces[us.index()], 0) {
            let moved = at(&self.squares, from);
            match Piece::from_raw_occupied(moved & !VIRGIN).kind() {
                pawn @ (Kind::WhitePawn | Kind::BlackPawn) => {
                    self.generate_pawn(node, from, steps(pawn));
                }
                Kind::Knight => {
                    for &step in steps(Kind::Knight) {
                        self.generate_step(us, from, step);
                    }
                }
                Kind::King => {
                    for &step in steps(Kind::King) {
                        let quiet = self.generate_step(us, from, step);
                        if quiet && moved & VIRGIN != 0 && step.abs() == 1 {
                            self.generate_castling(from, step);
                        }
                    }
                }
                Kind::Bishop => self.generate_rays(us, from, steps(Kind::Bishop)),
                Kind::Rook => self.generate_rays(us, from, steps(Kind::Rook)),
                Kind::Queen => self.generate_rays(us, from, steps(Kind::Queen)),
            }
        }
        (first, self.moves.len())
    }

    /// One step of a leaper; whether it goes to an empty square.
    #[inline(always)]
    fn generate_step(&mut self, us: Side, from: u8, step: i8) -> bool {
        let to = from.wrapping_add_signed(step);
        if !on_board(to) || at(&self.squares, to) & us.bit() != 0 {
            return false;
        }
        self.moves.push(Sketch::plain(from, to));
        at(&self.squares, to) == 0
    }

    #[inline(always)]
    fn generate_rays(&mut self, us: Side, from: u8, steps: &[i8]) {
        for &step in steps {
            let mut to = from.wrapping_add_signed(step);
            while on_board(to) {
                let target = at(&self.squares, to);
                if target & us.bit() != 0 {
                    break;
                }
                self.moves.push(Sketch::plain(from, to));
                if target != 0 {
                    break;
                }
                to = to.wrapping_add_signed(step);
            }
        }
    }

    /// A king's second step sideways, over a square just found empty, if the corner holds a rook
    /// that has never moved and the two squares next to it are empty.
    fn generate_castling(&mut self, from: u8, step: i8) {
        let rook_from = if step > 0 { (from & 0x70) + 7 } else { from & 0x70 };
        let beside = rook_from.wrapping_add_signed(-step);
        let free = at(&self.squares, beside) == 0
            && at(&self.squares, beside.wrapping_add_signed(-step)) == 0;
        if free && at(&self.squares, rook_from) & VIRGIN != 0 {
            let skipped = from.wrapping_add_signed(step);
            let to = skipped.wrapping_add_signed(step);
            self.moves.push(Sketch { skipped, rook_from, ..Sketch::plain(from, to) });
        }
    }

    #[inline(always)]
    fn generate_pawn(&mut self, node: &Node, from: u8, steps: &[i8]) {
        let [push, captures @ ..] = steps else { return };
        let third_row = if node.side == Side::White { 5 } else { 2 };
        let to = from.wrapping_add_signed(*push);
        // Straight steps are shifted by the en-passant rule too, but that never lets a move through:
        // the square behind holds the pawn itself.
        if on_board(to) && at(&self.squares, to) == 0 && to != node.en_passant {
            self.moves.push(Sketch::plain(from, to));
            let skipped = to;
            let to = to.wrapping_add_signed(*push);
            if skipped >> 4 == third_row && at(&self.squares, to) == 0 && to != node.en_passant {
                self.moves.push(Sketch { skipped, ..Sketch::plain(from, to) });
            }
        }
        for &step in captures {
            let to = from.wrapping_add_signed(step);
            let captured_on = if to == node.en_passant { to ^ 16 } else { to };
            let target = if on_board(to) { at(&self.squares, captured_on) } else { 0 };
            if target != 0 && target & node.side.bit() == 0 {
                self.moves.push(Sketch { captured_on, ..Sketch::plain(from, to) });
            }
        }
    }
}
