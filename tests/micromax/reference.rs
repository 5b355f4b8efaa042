//! A plain, literal reference implementation of the micro-Max 3.2 search, used as a test oracle.
//!
//! It follows `design/micromax.md` sentence by sentence and is meant to be compared with that text,
//! not to be fast. It shares nothing with the engine: it has its own 0x88 board, its own FEN reading
//! and an unlimited hash map for a table. Section numbers in the comments are those of the text.
//!
//! * [`search`] runs one search with a fresh table, at a fixed depth or under a node limit.
//! * [`root_moves`] lists the root moves as `rootmoves.jsonl` records them.
//! * [`Game`] carries position, e.p. square and root eval through a game (sections 2 and 7).
//!
//! Squares are 0x88 numbers: `16 * row + file`, row 0 is rank 8, so a8 = 0 and h1 = 119.
#![allow(dead_code, unreachable_pub)]

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// "No square" (section 1).
pub const NONE: u8 = 128;

const WHITE: u8 = 8;
const BLACK: u8 = 16;
const VIRGIN: u8 = 32;

const WHITE_PAWN: u8 = 1;
const BLACK_PAWN: u8 = 2;
const KNIGHT: u8 = 3;
const KING: u8 = 4;
const BISHOP: u8 = 5;
const ROOK: u8 = 6;
const QUEEN: u8 = 7;

/// The king's value, called I in the text; nothing scores higher.
const INFINITY: i32 = 8000;
/// Scores beyond this end the deepening of a node ("d = 99").
const MATE_LIKE: i32 = INFINITY / 4;
/// Added to the gain of a promotion, which is always to a queen.
const PROMOTION: i32 = 799;

/// `prevTo` of the thinking call: an impossible square.
const ROOT: u8 = 8;
/// `prevTo` of the call that executes a game move: another impossible square.
const EXECUTE: u8 = 9;

/// One completed root iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// The internal d of the iteration (before it became 99).
    pub depth: u32,
    /// Nodes since the start of the search.
    pub nodes: u64,
    /// The score from the view of the side to move.
    pub score: i32,
    /// Best move (from, to), if there is one yet.
    pub best: Option<(u8, u8)>,
}

/// One pseudo-legal root move, as generated and scored by iteration 2 with the hash off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootMove {
    /// Square of origin.
    pub from: u8,
    /// Square of destination.
    pub to: u8,
    /// A pawn reached the last row and became a queen.
    pub promotion: bool,
    /// Positional term, castling and pawn terms included.
    pub positional: i32,
    /// Material gain.
    pub gain: i32,
    /// E.p. square handed to the child; the passed-over square for castling.
    pub child_ep: Option<u8>,
    /// Whether the move is castling.
    pub castling: bool,
    /// Score after the one-point penalty, with the running root window; -8000 loses the king.
    pub score: i32,
}

impl RootMove {
    /// The move in UCI notation, with a `q` for a promotion.
    pub fn text(&self) -> String {
        let tail = if self.promotion { "q" } else { "" };
        move_text(Some((self.from, self.to))) + tail
    }
}

/// Searches `fen` with a fresh table and returns the completed root iterations in order.
///
/// `depth` n with `node_limit` 0 is the fixed-depth mode (n at most 98); `depth` 0 with a positive
/// `node_limit` is the thinking mode, whose limit is tested between root iterations only.
/// `root_eval` of `None` stands for the plain material difference of the position.
pub fn search(
    fen: &str,
    root_eval: Option<i32>,
    depth: u32,
    node_limit: u64,
    hash: bool,
) -> Vec<Iteration> {
    let mut game = Game::new(fen);
    if let Some(eval) = root_eval {
        game.root_eval = eval;
    }
    game.search(depth, node_limit, hash)
}

/// The pseudo-legal root moves of `fen` in search order, from iteration 2 with the hash off and the
/// plain material difference as root eval.
///
/// Empty when there is no iteration 2, i.e. when the root eval is beyond 2000.
pub fn root_moves(fen: &str) -> Vec<RootMove> {
    Game::new(fen).root_moves()
}

/// Material difference of a position from the view of its side to move (section 2).
pub fn material(fen: &str) -> i32 {
    Game::new(fen).root_eval
}

/// Name of a square, such as `e4`; `-` for [`NONE`].
pub fn square_name(square: u8) -> String {
    if square & 0x88 != 0 {
        return "-".to_string();
    }
    let file = (b'a' + (square & 7)) as char;
    let rank = 8 - (square >> 4);
    format!("{file}{rank}")
}

/// From and to square of a move, `0000` for none. A promotion is not marked here, since the two
/// squares do not tell: see [`best_text`].
pub fn move_text(best: Option<(u8, u8)>) -> String {
    match best {
        None => "0000".to_string(),
        Some((from, to)) => square_name(from) + &square_name(to),
    }
}

/// The best move of `fen` as the golden files write it: `0000`, `e2e4`, or `a7b8q` for a promotion.
pub fn best_text(fen: &str, best: Option<(u8, u8)>) -> String {
    Game::new(fen).best_text(best)
}

/// A game in progress: the board, the raw e.p. square and the balance that becomes the root eval.
#[derive(Clone)]
pub struct Game {
    board: [u8; 128],
    side: u8,
    ep: u8,
    root_eval: i32,
}

impl Game {
    /// Reads a FEN; the root eval is the plain material difference, the e.p. field is taken raw.
    ///
    /// # Panics
    ///
    /// On text that is no FEN.
    pub fn new(fen: &str) -> Game {
        let mut fields = fen.split_whitespace();
        let mut board = [0; 128];
        let (mut row, mut file) = (0, 0);
        for letter in fields.next().expect("a placement field").chars() {
            match letter {
                '/' => (row, file) = (row + 1, 0),
                '1'..='8' => file += letter as usize - '0' as usize,
                _ => {
                    board[16 * row + file] = man_of(letter);
                    file += 1;
                }
            }
        }
        let side = match fields.next() {
            Some("b") => BLACK,
            _ => WHITE,
        };
        // Section 1: each castling letter marks that corner's rook and that king as never moved.
        for letter in fields.next().unwrap_or("-").chars() {
            let (corner, colour) = match letter {
                'K' => (119, WHITE),
                'Q' => (112, WHITE),
                'k' => (7, BLACK),
                'q' => (0, BLACK),
                _ => continue,
            };
            if board[corner] & !VIRGIN == colour | ROOK {
                board[corner] |= VIRGIN;
            }
            for man in &mut board {
                if *man & !VIRGIN == colour | KING {
                    *man |= VIRGIN;
                }
            }
        }
        let ep = match fields.next().unwrap_or("-").as_bytes() {
            [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => 16 * (b'8' - rank) + (file - b'a'),
            _ => NONE,
        };
        let mut root_eval = 0;
        for man in board {
            if man != 0 && man & 7 != KING {
                let value = material_of(man);
                root_eval += if man & side != 0 { value } else { -value };
            }
        }
        Game { board, side, ep, root_eval }
    }

    /// The balance from the view of the side to move.
    pub fn root_eval(&self) -> i32 {
        self.root_eval
    }

    /// Replaces the balance.
    pub fn set_root_eval(&mut self, eval: i32) {
        self.root_eval = eval;
    }

    /// The raw e.p. square: set after every double push, whether or not a pawn can capture there.
    ///
    /// After castling it is `None`: sections 7 and 12 read as if the passed-over square were kept,
    /// but the records of `game.jsonl` after a castling move agree only with a root without one.
    /// It enters nothing there but the root's own key.
    pub fn ep(&self) -> Option<u8> {
        square(self.ep)
    }

    /// Searches the position with a fresh table; the arguments are those of the free [`search`].
    pub fn search(&self, depth: u32, node_limit: u64, hash: bool) -> Vec<Iteration> {
        assert!(depth <= 98, "section 7: d = 99 must stop the loop");
        let mut searcher = Searcher::new(self, node_limit, hash);
        // The probe of a root where neither side can move nests once per node (section 6), hence
        // a stack that grows with the limit.
        let frame = if cfg!(debug_assertions) { 4096 } else { 1024 };
        let stack = (16 << 20) + (node_limit.min(1 << 20) as usize) * frame;
        std::thread::scope(|scope| {
            let run = || {
                searcher.think(depth as i32);
                searcher.iterations
            };
            let thread = std::thread::Builder::new().stack_size(stack);
            let handle = thread.spawn_scoped(scope, run).expect("a thread");
            handle.join().expect("the search ends")
        })
    }

    /// The root moves as the free [`root_moves`] lists them, for the game's own root eval.
    pub fn root_moves(&self) -> Vec<RootMove> {
        let mut searcher = Searcher::new(self, 0, false);
        searcher.think(2);
        searcher.root_moves
    }

    /// Executes a move as the second special caller of section 7 does, except that a balance
    /// beyond 2000 does not prevent it. Returns false, changing nothing, if the move does not exist
    /// or loses the king. Promotion is to a queen.
    pub fn play(&mut self, from: u8, to: u8) -> bool {
        let mut searcher = Searcher::new(self, 0, false);
        searcher.execute = Some((from, to));
        // Eval 0 instead of the balance: it changes no legality answer in this open window, and
        // iteration 2 is always reached.
        let (side, start) = (self.side, Key { j: 1, z: 1 });
        searcher.search(side, -INFINITY, INFINITY, 0, start, self.ep, EXECUTE, 2, true);
        let Some((gain, skip)) = searcher.executed else {
            return false;
        };
        self.board = searcher.board;
        self.side = 24 - self.side;
        self.ep = skip;
        self.root_eval = -(self.root_eval + gain);
        true
    }

    /// The best move of this position as the golden files write it.
    pub fn best_text(&self, best: Option<(u8, u8)>) -> String {
        let mut text = move_text(best);
        if let Some((from, to)) = best
            && is_pawn(self.board[from as usize])
            && is_last_row(to)
        {
            text.push('q');
        }
        text
    }

    /// The placement field of the FEN of this position.
    pub fn placement(&self) -> String {
        let mut text = String::new();
        for row in 0..8 {
            let mut empty = 0;
            for file in 0..8 {
                let man = self.board[16 * row + file];
                if man == 0 {
                    empty += 1;
                    continue;
                }
                if empty > 0 {
                    text += &empty.to_string();
                    empty = 0;
                }
                let letter = b" ppnkbrq"[(man & 7) as usize] as char;
                text.push(if man & WHITE != 0 { letter.to_ascii_uppercase() } else { letter });
            }
            if empty > 0 {
                text += &empty.to_string();
            }
            if row < 7 {
                text.push('/');
            }
        }
        text
    }
}

fn man_of(letter: char) -> u8 {
    let white = letter.is_ascii_uppercase();
    let kind = match letter.to_ascii_lowercase() {
        'p' if white => WHITE_PAWN,
        'p' => BLACK_PAWN,
        'n' => KNIGHT,
        'k' => KING,
        'b' => BISHOP,
        'r' => ROOK,
        'q' => QUEEN,
        _ => panic!("no man is called {letter}"),
    };
    kind | if white { WHITE } else { BLACK }
}

fn square(raw: u8) -> Option<u8> {
    (raw & 0x88 == 0).then_some(raw)
}

fn is_pawn(man: u8) -> bool {
    matches!(man & 7, WHITE_PAWN | BLACK_PAWN)
}

fn is_last_row(square: u8) -> bool {
    matches!(square >> 4, 0 | 7)
}

/// Section 2, material; 0 for no man.
fn material_of(man: u8) -> i32 {
    [0, 99, 99, 297, -99, 297, 495, 891][(man & 7) as usize]
}

/// Section 2, centre table: lower is better.
fn centre(square: u8) -> i32 {
    const FILE_TERM: [i32; 8] = [16, 9, 4, 1, 0, 1, 4, 9];
    const ROW_TERM: [i32; 8] = [12, 6, 2, 0, 0, 2, 6, 12];
    FILE_TERM[(square & 7) as usize] + ROW_TERM[(square >> 4) as usize]
}

/// Section 3, the steps of a type in the order they are tried.
fn steps(kind: u8) -> &'static [i32] {
    match kind {
        WHITE_PAWN => &[-16, -15, -17],
        BLACK_PAWN => &[16, 15, 17],
        KNIGHT => &[-14, 14, -18, 18, -31, 31, -33, 33],
        BISHOP => &[-15, 15, -17, 17],
        ROOK => &[-1, 1, -16, 16],
        KING | QUEEN => &[-1, 1, -16, 16, -15, 15, -17, 17],
        _ => unreachable!("types are 1 to 7"),
    }
}

/// The sums J and Z of section 8. Side and e.p. square are further fields of [`Slot`].
///
/// A Z of 0 is the original's mark of an empty slot: it is never found and never stored. Only the
/// mate/stalemate probe has it, and positions below a probe with the placement the probe had.
#[derive(Clone, Copy)]
struct Key {
    j: u64,
    z: u64,
}

/// What the table is indexed by: the exact position classes of section 8.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Slot {
    j: u64,
    z: u64,
    side: u8,
    ep: u8,
}

/// A table entry (section 8).
#[derive(Clone, Copy)]
struct Entry {
    score: i32,
    depth: i32,
    from: u8,
    to: u8,
    normal: bool,
    is_lower: bool,
    is_upper: bool,
}

/// A hasher good enough for keys that are random already.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

/// The random numbers behind the keys.
struct Randoms {
    j: [[u64; 128]; 24],
    z: [[u64; 128]; 24],
    /// One constant for each castling move, by the corner the rook left.
    castling: [u64; 128],
}

impl Randoms {
    fn new() -> Box<Randoms> {
        let mut state = 0x6D69_6372_6F4D_6178_u64;
        let mut next = || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut value = state;
            value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            value ^ (value >> 31)
        };
        let mut randoms =
            Box::new(Randoms { j: [[0; 128]; 24], z: [[0; 128]; 24], castling: [0; 128] });
        for man in WHITE as usize + 1..24 {
            for square in 0..128 {
                randoms.j[man][square] = next();
                randoms.z[man][square] = next();
            }
        }
        for corner in [0, 7, 112, 119] {
            randoms.castling[corner] = next();
        }
        randoms
    }
}

struct Searcher {
    board: [u8; 128],
    side: u8,
    ep: u8,
    eval: i32,
    nodes: u64,
    node_limit: u64,
    /// `None` when the hash is off.
    table: Option<HashMap<Slot, Entry, BuildHasherDefault<Mix>>>,
    randoms: Box<Randoms>,
    iterations: Vec<Iteration>,
    /// The moves of the outermost call's iteration 2.
    root_moves: Vec<RootMove>,
    /// The game move to execute (K and L of section 7), and what came of it: gain and the
    /// game's e.p. square.
    execute: Option<(u8, u8)>,
    executed: Option<(i32, u8)>,
}

impl Searcher {
    fn new(game: &Game, node_limit: u64, hash: bool) -> Searcher {
        Searcher {
            board: game.board,
            side: game.side,
            ep: game.ep,
            eval: game.root_eval,
            nodes: 0,
            node_limit,
            table: hash.then(HashMap::default),
            randoms: Randoms::new(),
            iterations: Vec::new(),
            root_moves: Vec::new(),
            execute: None,
            executed: None,
        }
    }

    /// Section 7, thinking and fixed depth.
    fn think(&mut self, n: i32) {
        let (side, eval, start) = (self.side, self.eval, Key { j: 1, z: 1 });
        self.search(side, -INFINITY, INFINITY, eval, start, self.ep, ROOT, n, true);
    }

    /// Adds a man on a square to the key.
    fn add(&self, key: &mut Key, man: u8, square: u8) {
        let (man, square) = ((man & !VIRGIN) as usize, square as usize);
        key.j = key.j.wrapping_add(self.randoms.j[man][square]);
        key.z = key.z.wrapping_add(self.randoms.z[man][square]);
    }

    /// Removes a man on a square from the key.
    fn subtract(&self, key: &mut Key, man: u8, square: u8) {
        let (man, square) = ((man & !VIRGIN) as usize, square as usize);
        key.j = key.j.wrapping_sub(self.randoms.j[man][square]);
        key.z = key.z.wrapping_sub(self.randoms.z[man][square]);
    }

    /// The entry of a position, if any.
    fn look_up(&self, slot: Slot) -> Option<Entry> {
        if slot.z == 0 {
            return None;
        }
        self.table.as_ref()?.get(&slot).copied()
    }

    /// Section 8, store: only a deeper exact entry resists.
    fn store(&mut self, slot: Slot, entry: Entry) {
        let old = self.look_up(slot);
        let Some(table) = &mut self.table else { return };
        if slot.z == 0 {
            return;
        }
        let resists = old.is_some_and(|old| {
            let exact = old.is_lower && old.is_upper;
            exact && old.depth > entry.depth
        });
        if !resists {
            table.insert(slot, entry);
        }
    }

    /// The node of section 6. `outermost` tells the two special callers from everything below.
    #[allow(clippy::too_many_arguments, clippy::too_many_lines)]
    fn search(
        &mut self,
        side: u8,
        alpha: i32,
        beta: i32,
        eval: i32,
        key: Key,
        ep: u8,
        prev_to: u8,
        n: i32,
        outermost: bool,
    ) -> i32 {
        let slot = Slot { j: key.j, z: key.z, side, ep };
        let mut d = 0;
        let (mut best_from, mut best_to, mut best_normal) = (0, 0, false);
        if let Some(entry) = self.look_up(slot) {
            d = entry.depth;
            if d >= n {
                if (entry.score >= beta || entry.is_upper)
                    && (entry.score <= alpha || entry.is_lower)
                {
                    return entry.score; // not counted as a node
                }
                d = n - 1;
            }
            best_from = entry.from;
            if d > 0 {
                (best_to, best_normal) = (entry.to, entry.normal);
            }
        }
        self.nodes += 1;

        let mut m = eval; // only returned as it is if there is no iteration at all
        loop {
            let go = d < n;
            d += 1;
            let deepen = prev_to == ROOT && self.nodes < self.node_limit && d < 98;
            if !go && !deepen {
                break;
            }
            let start = best_from;
            let mut sneak = best_normal;
            m = if d == 1 { eval } else { -INFINITY };

            // The scan; leaving it by its label is the "goto FINISH".
            let mut x = start;
            'scan: loop {
                let man = self.board[x as usize];
                if man & side != 0 {
                    let kind = man & 7;
                    for &r in steps(kind) {
                        // ray(x, r), section 4
                        let mut y = x;
                        let (mut rook_sq, mut skip) = (NONE, NONE);
                        loop {
                            let ahead = i32::from(y) + r;
                            if sneak {
                                y = best_to;
                            } else if ahead & 0x88 != 0 {
                                break;
                            } else {
                                y = ahead as u8;
                            }
                            let mut cap = y;
                            if is_pawn(man) && y == ep {
                                cap = y ^ 16;
                            }
                            let t = self.board[cap as usize];
                            if t & side != 0 {
                                break;
                            }
                            let straight = r % 8 == 0;
                            if is_pawn(man) && straight == (t != 0) {
                                break;
                            }

                            // From here on: a pseudo-legal move.
                            let castled_through =
                                ep != NONE && self.board[ep as usize] != 0 && y.abs_diff(ep) <= 1;
                            if (t != 0 && t & 7 == KING) || castled_through {
                                m = INFINITY;
                            }
                            if m >= beta {
                                break 'scan;
                            }
                            let h = d - i32::from(y != prev_to);
                            if h != 0 {
                                // Section 5
                                let castling = rook_sq != NONE;
                                let colour = man & (WHITE | BLACK);
                                let rook = colour | ROOK;
                                let mut child_key = key;
                                let mut gain = material_of(t);
                                let mut v = 0;
                                if kind <= BISHOP {
                                    v += centre(x) - centre(y);
                                }
                                if castling {
                                    self.board[rook_sq as usize] = 0;
                                }
                                self.board[cap as usize] = 0;
                                self.board[x as usize] = 0;
                                self.board[y as usize] = man & !VIRGIN;
                                if castling {
                                    self.board[skip as usize] = rook;
                                    v += 30;
                                    self.subtract(&mut child_key, rook, rook_sq);
                                    self.add(&mut child_key, rook, skip);
                                    let constant = self.randoms.castling[rook_sq as usize];
                                    child_key.z = child_key.z.wrapping_add(constant);
                                }
                                let promotion = is_pawn(man) && is_last_row(y);
                                if is_pawn(man) {
                                    let mut missing = 0;
                                    for beside in [i32::from(x) - 2, i32::from(x) + 2] {
                                        if beside & 0x88 != 0 || self.board[beside as usize] != man
                                        {
                                            missing += 1;
                                        }
                                    }
                                    v += -9 * (missing - 1);
                                    if promotion {
                                        self.board[y as usize] = colour | QUEEN;
                                        gain += PROMOTION;
                                    }
                                }
                                self.add(&mut child_key, self.board[y as usize], y);
                                self.subtract(&mut child_key, man, x);
                                if t != 0 {
                                    self.subtract(&mut child_key, t, cap);
                                }
                                let child_ep = skip;

                                let mut s = -self.search(
                                    24 - side,
                                    -beta - i32::from(beta > eval),
                                    -m.max(alpha),
                                    -(eval + v + gain),
                                    child_key,
                                    child_ep,
                                    y,
                                    h,
                                    false,
                                );
                                if s > eval {
                                    s -= 1; // delayed-gain penalty
                                }

                                if outermost && d == 2 {
                                    if let Some(wanted) = self.execute {
                                        if wanted == (x, y) && s != -INFINITY {
                                            let kept = if castling { NONE } else { skip };
                                            self.executed = Some((gain, kept));
                                            return INFINITY; // the move is left made
                                        }
                                        s = m;
                                    }
                                    self.root_moves.push(RootMove {
                                        from: x,
                                        to: y,
                                        promotion,
                                        positional: v,
                                        gain,
                                        child_ep: square(child_ep),
                                        castling,
                                        score: s,
                                    });
                                }

                                // Undo
                                if castling {
                                    self.board[rook_sq as usize] = rook | VIRGIN;
                                    self.board[skip as usize] = 0;
                                }
                                self.board[y as usize] = 0;
                                self.board[x as usize] = man;
                                self.board[cap as usize] = t;

                                if sneak {
                                    m = s;
                                    sneak = false;
                                    // Start the same step over.
                                    y = x;
                                    (rook_sq, skip) = (NONE, NONE);
                                    continue;
                                } else if s > m {
                                    m = s;
                                    (best_from, best_to, best_normal) = (x, y, !castling);
                                }
                            }

                            let leaper = kind <= KING;
                            let mut stop = t != 0 || leaper;
                            let third_row = if side == WHITE { 5 } else { 2 };
                            if is_pawn(man) && y >> 4 == third_row {
                                skip = y;
                                stop = t != 0;
                            } else if kind == KING
                                && man & VIRGIN != 0
                                && r.abs() == 1
                                && rook_sq == NONE
                            {
                                let row = x & 0x70;
                                rook_sq = if r < 0 { row } else { row + 7 };
                                // The two squares next to the corner, towards the king.
                                let near = (i32::from(rook_sq) - r) as usize;
                                let far = (i32::from(rook_sq) - 2 * r) as usize;
                                if self.board[rook_sq as usize] & VIRGIN != 0
                                    && self.board[near] == 0
                                    && self.board[far] == 0
                                {
                                    skip = y;
                                    stop = t != 0;
                                }
                            }
                            if stop {
                                break;
                            }
                        }
                    }
                }
                x = (x + 9) & !0x88;
                if x == start {
                    break;
                }
            }

            // FINISH
            let depth = d as u32;
            if !(-MATE_LIKE..=MATE_LIKE).contains(&m) {
                d = 99;
            }
            if m == -INFINITY {
                // The mate/stalemate probe: its Z is 0, so it neither reads nor writes the table.
                let probe = Key { j: key.j, z: 0 };
                let (low, high) = (-INFINITY, INFINITY);
                m = -self.search(24 - side, low, high, 0, probe, NONE, prev_to, 1, false) / 2;
            }
            let entry = Entry {
                score: m,
                depth: d,
                from: best_from,
                to: best_to,
                normal: best_normal,
                is_lower: m > alpha,
                is_upper: m < beta,
            };
            self.store(slot, entry);
            if outermost {
                self.iterations.push(Iteration {
                    depth,
                    nodes: self.nodes,
                    score: m,
                    best: (best_from != best_to).then_some((best_from, best_to)),
                });
            }
        }
        m
    }
}
