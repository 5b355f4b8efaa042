//! The evaluation by a network: the sums of its first layer follow the board.
//!
//! Moves are only noted down when they are made. When a position is to be evaluated, the sums that it needs
//! are made from the last ones that were: columns of pieces that came are added and those of pieces that
//! went are taken off, all in one pass. Many positions are never evaluated, as draws and cutoffs come first.
//!
//! A side sees the board mirrored by the half that its king stands on. When the king goes over to the other
//! half, the inputs of all pieces change; the sums are then made from those of the last position with the king
//! on that half, by what is different on the board.
//!
//! Sources: <https://www.chessprogramming.org/NNUE#Accumulator>; lazy updates and the cache by the king's
//! place ("Finny tables", after the author of Koivisto) as in many engines.

use super::network::{self, Network, NetworkError, feature, turn};
use super::{Damping, Evaluator};
use crate::board::{Board, Observer};
use crate::machine::network::{Block, Kernels, LANES};
use crate::moves::Move;
use crate::piece::{Kind, Piece, Side};
use crate::score::{Score, clamp_evaluation};
use crate::square::Square;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// A network laid out for speed.
pub struct PackedNetwork {
    network: Network,
    identity: NetworkIdentity,
    /// The blocks of a column.
    blocks: usize,
    columns: Vec<Block>,
    column_bias: Vec<Block>,
    /// For each bucket the weights for the side to move and those for the other one.
    output_weights: Vec<Block>,
}

impl PackedNetwork {
    /// Lays out a network.
    #[must_use]
    pub fn new(network: Network) -> Arc<PackedNetwork> {
        let hidden = network.hidden();
        Arc::new(PackedNetwork {
            blocks: hidden.div_ceil(LANES),
            columns: packed(network.columns(), hidden),
            column_bias: packed(network.column_bias(), hidden),
            output_weights: packed(network.output_weights(), hidden),
            identity: NetworkIdentity {
                hidden,
                buckets: network.buckets(),
                generation: network.generation(),
                checksum: network.checksum(),
            },
            network,
        })
    }

    /// The network in the bytes of a file.
    ///
    /// # Errors
    /// If they are not one, with what is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Arc<PackedNetwork>, NetworkError> {
        Network::from_bytes(bytes).map(PackedNetwork::new)
    }

    /// The network that is built in, if there is one.
    ///
    /// # Errors
    /// If what was built in is no network that can be used.
    pub fn built_in() -> Result<Option<Arc<PackedNetwork>>, NetworkError> {
        static BYTES: &[u8] = include_bytes!(env!("CAIRN_NETWORK"));
        static BUILT_IN: LazyLock<Result<Option<Arc<PackedNetwork>>, NetworkError>> =
            LazyLock::new(|| match BYTES {
                [] => Ok(None),
                bytes => PackedNetwork::from_bytes(bytes).map(Some),
            });
        BUILT_IN.clone()
    }

    /// What tells the network from others.
    #[must_use]
    pub const fn identity(&self) -> NetworkIdentity {
        self.identity
    }

    /// Which set of output weights a position is evaluated with, from 0.
    #[must_use]
    pub fn bucket_of(&self, board: &Board) -> usize {
        self.bucket(board, 0)
    }

    /// The bucket of a position with so many pieces left out.
    #[inline]
    fn bucket(&self, board: &Board, less: usize) -> usize {
        match self.network.buckets() {
            1 => 0,
            buckets => network::bucket(piece_count(board) - less, buckets),
        }
    }

    #[inline]
    fn column(&self, number: usize) -> &[Block] {
        &self.columns[number * self.blocks..(number + 1) * self.blocks]
    }
}

/// Networks are equal if nothing tells them apart.
impl PartialEq for PackedNetwork {
    fn eq(&self, other: &PackedNetwork) -> bool {
        self.identity == other.identity
    }
}

impl Eq for PackedNetwork {}

impl fmt::Debug for PackedNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PackedNetwork({})", self.identity)
    }
}

/// Rows of weights, each filled up with zeros to whole blocks.
fn packed(weights: &[i16], row: usize) -> Vec<Block> {
    let pack = |weights: &[i16]| {
        let mut block = Block::ZERO;
        block.0[..weights.len()].copy_from_slice(weights);
        block
    };
    weights.chunks(row).flat_map(|row| row.chunks(LANES).map(pack)).collect()
}

/// What tells one network from another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NetworkIdentity {
    /// The neurons of one side.
    pub hidden: usize,
    /// The sets of output weights.
    pub buckets: usize,
    /// Which generation of the engine's own games it was trained on, from 1; 0 if nobody said.
    pub generation: u32,
    /// The checksum in its file.
    pub checksum: u64,
}

/// As a person wants it: `generation 2, 128 neurons, 1 bucket, checksum 0123456789abcdef`.
impl fmt::Display for NetworkIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.buckets == 1 { "" } else { "s" };
        write!(
            f,
            "generation {}, {} neurons, {} bucket{plural}, checksum {:016x}",
            self.generation, self.hidden, self.buckets, self.checksum
        )
    }
}

/// What each piece is worth in a position: the evaluation less that of the position without it, from white's
/// view, by square. Nothing on empty squares and for kings.
#[must_use]
pub fn piece_values(network: &Arc<PackedNetwork>, board: &Board) -> Vec<(Square, Score)> {
    let view = if board.side_to_move() == Side::White { 1 } else { -1 };
    let mut eval = Neural::of(board, network);
    let whole = eval.output(board, network.bucket(board, 0));
    let mut values = Vec::new();
    for square in Square::all() {
        if let Some(piece) = board.piece_on(square).filter(|piece| piece.kind() != Kind::King) {
            eval.begin_change();
            eval.vanish(piece, square);
            values.push((square, view * (whole - eval.output(board, network.bucket(board, 1)))));
            eval.pop();
        }
    }
    values
}

/// How many pieces stand on the board, kings too.
#[inline]
fn piece_count(board: &Board) -> usize {
    Side::ALL.iter().map(|&side| board.list(side).all().count_ones() as usize).sum()
}

/// Pieces on squares: those that came or went by a move, two at most.
#[derive(Clone, Copy, Debug)]
struct Change {
    pieces: [(Piece, Square); 2],
    count: u8,
}

impl Change {
    const NONE: Change = {
        let nothing = (Piece::new(Side::White, Kind::King), Square::new(0, 0));
        Change { pieces: [nothing; 2], count: 0 }
    };

    #[inline(always)]
    fn note(&mut self, piece: Piece, square: Square) {
        self.pieces[usize::from(self.count & 1)] = (piece, square);
        self.count += 1;
    }
}

/// What is known of a position on the way from where the evaluation began.
#[derive(Clone, Copy, Debug)]
struct Ply {
    /// The pieces that went and came by the move that led here.
    went: Change,
    came: Change,
    /// How each side sees the board: what turns and mirrors a square number.
    turns: [u8; 2],
    /// Whether each side's sums are made.
    made: [bool; 2],
    /// What it is worth, by the side to move, once asked.
    scores: [Option<Score>; 2],
}

impl Ply {
    fn new(turns: [u8; 2]) -> Ply {
        Ply { went: Change::NONE, came: Change::NONE, turns, made: [false; 2], scores: [None; 2] }
    }
}

/// The sums of a position, and which one it was.
#[derive(Clone)]
struct Remembered {
    pieces: [Option<Piece>; 64],
    sums: Vec<Block>,
}

/// An evaluation by a network.
pub struct Neural {
    network: Arc<PackedNetwork>,
    kernels: Kernels,
    plies: Vec<Ply>,
    /// The sums by ply and side, each as long as a column.
    sums: Vec<Block>,
    /// The ply that the board is at.
    now: usize,
    /// By side, and then by which half its king stands on.
    remembered: [[Remembered; 2]; 2],
}

/// For so many plies there is room at first.
const FIRST_PLIES: usize = 32;

impl Neural {
    /// Sums up one side's view of the board from what is remembered.
    #[cold]
    fn refresh(&mut self, side: Side, board: &Board) {
        let king = board.king(side);
        let half = usize::from(king.file() < 4);
        let remembered = &mut self.remembered[side.index()][half];
        let (mut came, mut went) = ([0; 64], [0; 64]);
        let (mut coming, mut going) = (0, 0);
        for (square, before) in Square::all().zip(&mut remembered.pieces) {
            let after = board.piece_on(square);
            if after == *before {
                continue;
            }
            if let Some(piece) = after {
                came[coming] = feature(side, king, piece, square) as u16;
                coming += 1;
            }
            if let Some(piece) = *before {
                went[going] = feature(side, king, piece, square) as u16;
                going += 1;
            }
            *before = after;
        }
        let columns = &self.network.columns;
        self.kernels.apply(&mut remembered.sums, columns, &came[..coming], &went[..going]);
        let blocks = self.network.blocks;
        let start = (2 * self.now + side.index()) * blocks;
        self.sums[start..start + blocks].copy_from_slice(&remembered.sums);
        self.plies[self.now].made[side.index()] = true;
    }

    /// Makes one side's sums of this position, if they are not yet.
    #[inline]
    fn catch_up(&mut self, side: Side, board: &Board) {
        let number = side.index();
        let turn = self.plies[self.now].turns[number];
        let mut ply = self.now;
        while !self.plies[ply].made[number] {
            if self.plies[ply].turns[number] != turn || ply == 0 {
                return self.refresh(side, board);
            }
            ply -= 1;
        }
        if self.plies[ply].turns[number] != turn {
            return self.refresh(side, board);
        }
        while ply < self.now {
            ply += 1;
            self.follow(side, ply);
        }
    }

    /// Makes one side's sums at a ply from those at the one before.
    #[inline]
    fn follow(&mut self, side: Side, ply: usize) {
        let Neural { network, kernels, plies, sums, .. } = self;
        let (blocks, here) = (network.blocks, &mut plies[ply]);
        here.made[side.index()] = true;
        let turn = here.turns[side.index()];
        let (came, went) = (&here.came, &here.went);
        let column = |change: &Change, number: usize| {
            let (piece, square) = change.pieces[number];
            let plane = piece.compact_seen_by(side);
            network.column(64 * plane + usize::from(square.compact() ^ turn))
        };
        let (before, after) = sums.split_at_mut(2 * ply * blocks);
        let from = &before[(2 * ply - 2 + side.index()) * blocks..][..blocks];
        let to = &mut after[side.index() * blocks..][..blocks];
        match (came.count, went.count) {
            (1, 1) => kernels.update(to, from, [column(came, 0)], [column(went, 0)]),
            (1, 2) => {
                kernels.update(to, from, [column(came, 0)], [column(went, 0), column(went, 1)]);
            }
            (0, 1) => kernels.update(to, from, [], [column(went, 0)]),
            _ => {
                let came = [column(came, 0), column(came, 1)];
                kernels.update(to, from, came, [column(went, 0), column(went, 1)]);
            }
        }
    }

    /// What the network says to the side to move, by the weights of this bucket.
    #[inline]
    fn output(&mut self, board: &Board, bucket: usize) -> Score {
        for side in Side::ALL {
            self.catch_up(side, board);
        }
        let blocks = self.network.blocks;
        let sums = &self.sums[2 * self.now * blocks..][..2 * blocks];
        let (white, black) = sums.split_at(blocks);
        let sums = match board.side_to_move() {
            Side::White => [white, black],
            Side::Black => [black, white],
        };
        let weights = &self.network.output_weights[2 * bucket * blocks..][..2 * blocks];
        let (own, other) = weights.split_at(blocks);
        self.network.network.output(self.kernels.output(sums, [own, other]), bucket)
    }

    /// A ply more, at which nothing is known yet.
    #[inline]
    fn begin_change(&mut self) {
        let turns = self.plies[self.now].turns;
        self.now += 1;
        if self.now == self.plies.len() {
            self.grow();
        }
        self.plies[self.now] = Ply::new(turns);
    }

    #[cold]
    fn grow(&mut self) {
        let plies = 2 * self.plies.len();
        self.plies.resize(plies, Ply::new([0; 2]));
        self.sums.resize(2 * plies * self.network.blocks, Block::ZERO);
    }
}

impl Observer for Neural {
    #[inline]
    fn push(&mut self, _board: &Board, _mv: Move) {
        self.begin_change();
    }

    #[inline]
    fn vanish(&mut self, piece: Piece, square: Square) {
        self.plies[self.now].went.note(piece, square);
    }

    #[inline]
    fn appear(&mut self, piece: Piece, square: Square) {
        self.plies[self.now].came.note(piece, square);
    }

    #[inline]
    fn finish_move(&mut self, board: &Board) {
        let mover = board.side_to_move().other();
        self.plies[self.now].turns[mover.index()] = turn(mover, board.king(mover));
    }

    #[inline]
    fn pop(&mut self) {
        self.now = self.now.saturating_sub(1);
    }
}

impl Evaluator for Neural {
    type Weights = Arc<PackedNetwork>;

    fn of(board: &Board, weights: &Arc<PackedNetwork>) -> Neural {
        let empty = Remembered { pieces: [None; 64], sums: weights.column_bias.clone() };
        let turns = Side::ALL.map(|side| turn(side, board.king(side)));
        Neural {
            kernels: Kernels::new(),
            plies: vec![Ply::new(turns); FIRST_PLIES],
            sums: vec![Block::ZERO; 2 * FIRST_PLIES * weights.blocks],
            now: 0,
            remembered: [(); 2].map(|()| [empty.clone(), empty.clone()]),
            network: Arc::clone(weights),
        }
    }

    #[inline]
    fn evaluate(&mut self, board: &Board) -> Score {
        let us = board.side_to_move().index();
        if let Some(score) = self.plies[self.now].scores[us] {
            return score;
        }
        let score = self.output(board, self.network.bucket(board, 0));
        let score = clamp_evaluation(Damping::of_networks().damped(score));
        self.plies[self.now].scores[us] = Some(score);
        score
    }
}

#[cfg(test)]
mod tests {
    use super::network::{INPUTS, evaluate_reference};
    use super::*;
    use crate::machine::instructions::InstructionSet;
    use crate::params;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// A network of random weights of the size that trained ones have.
    fn random(hidden: usize, buckets: usize) -> Arc<PackedNetwork> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(hidden as u64);
        let mut words = |count: usize, most: i64| -> Vec<i16> {
            (0..count).map(|_| (random.next_u64() as i64 % (most + 1)) as i16).collect()
        };
        let (columns, bias) = (words(INPUTS * hidden, 90), words(hidden, 300));
        let weights = words(2 * hidden * buckets, 31);
        let outputs = words(buckets, 1000).into_iter().map(i32::from).collect();
        PackedNetwork::new(Network::new(5, columns, bias, weights, outputs).unwrap())
    }

    fn all_kernels() -> impl Iterator<Item = Kernels> {
        InstructionSet::ALL.into_iter().filter_map(Kernels::with)
    }

    /// What random games have shown.
    #[derive(Default, Debug)]
    struct Seen {
        castlings: u32,
        en_passants: u32,
        promotions: u32,
        crossings: u32,
        evaluated: u32,
    }

    impl Seen {
        fn note(&mut self, board: &Board, mv: Move) {
            let Some(piece) = board.piece_on(mv.from()) else { return };
            let castling = board.piece_on(mv.to()).is_some_and(|rook| rook.side() == piece.side());
            let pawn = piece.kind().is_pawn();
            let promotion = pawn && mv.to().row() == piece.side().promotion_row();
            let crosses = (mv.from().file() < 4) != (mv.to().file() < 4);
            self.castlings += u32::from(castling);
            self.en_passants += u32::from(is_en_passant(board, mv));
            self.promotions += u32::from(promotion);
            self.crossings += u32::from(piece.kind() == Kind::King && !castling && crosses);
        }
    }

    fn is_en_passant(board: &Board, mv: Move) -> bool {
        let pawn = board.piece_on(mv.from()).is_some_and(|piece| piece.kind().is_pawn());
        pawn && Some(mv.to()) == board.en_passant()
    }

    const STARTS: [&str; 6] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        // Kings and rooks that swap squares or cross the middle by castling.
        "1r2kr2/pppppppp/8/8/8/8/PPPPPPPP/1R2KR2 w FBfb - 0 1",
        "rk4r1/pppppppp/8/8/8/8/PPPPPPPP/RK4R1 w GAga - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "4k3/PPP3PP/8/8/8/8/ppp3pp/4K3 w - - 0 1",
    ];

    #[test]
    fn sums_that_follow_a_game_agree_with_the_reference() {
        for (hidden, buckets) in [(8, 3), (32, 1), (72, 1), (128, 8)] {
            let network = random(hidden, buckets);
            for kernels in all_kernels() {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
                let mut seen = Seen::default();
                for fen in STARTS.iter().cycle().take(4 * STARTS.len()) {
                    let mut board = Board::from_fen(fen).unwrap();
                    let mut eval = Neural { kernels, ..Neural::of(&board, &network) };
                    walk(&mut random, &mut board, &mut eval, &mut seen);
                }
                let kinds = [seen.castlings, seen.en_passants, seen.promotions, seen.crossings];
                assert!(kinds.iter().all(|&count| count > 5), "{seen:?}");
                assert!(seen.evaluated > 1000, "{seen:?}");
            }
        }
    }

    /// Random moves forth and back, evaluated now and then.
    fn walk(
        random: &mut Xoshiro256PlusPlus,
        board: &mut Board,
        eval: &mut Neural,
        seen: &mut Seen,
    ) {
        let network = Arc::clone(&eval.network);
        for _ in 0..200 {
            let moves = board.legal_moves();
            if moves.is_empty() || random.next_u64().is_multiple_of(4) {
                let back = random.next_u64() % 4;
                (0..back).for_each(|_| board.unmake(eval));
            } else if random.next_u64().is_multiple_of(8) && !board.in_check() {
                board.make_null();
            } else {
                let any = moves[random.next_u64() as usize % moves.len()];
                let captures = |mv: &&Move| is_en_passant(board, **mv);
                let mv = moves.iter().find(captures).copied().unwrap_or(any);
                seen.note(board, mv);
                board.make(mv, eval);
            }
            if random.next_u64().is_multiple_of(3) {
                let expected = evaluate_reference(&network.network, board);
                assert_eq!(
                    eval.output(board, network.bucket(board, 0)),
                    expected,
                    "{}",
                    board.to_fen()
                );
                let again = Neural::of(board, &network).evaluate(board);
                assert_eq!(eval.evaluate(board), again, "{}", board.to_fen());
                assert_eq!(eval.evaluate(board), again, "remembered");
                seen.evaluated += 1;
            }
        }
        while !board.history().is_empty() {
            board.unmake(eval);
        }
        assert_eq!(eval.now, 0);
    }

    #[test]
    fn all_instructions_agree_at_the_limits() {
        let large = network::LARGEST_OUTPUT;
        for hidden in [32usize, 64, 96, 128] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
            let mut any = |from: i16, to: i16| {
                let width = (i64::from(to) - i64::from(from) + 1) as u64;
                (i64::from(from) + (random.next_u64() % width) as i64) as i16
            };
            for (least, most) in [(i16::MIN, i16::MAX), (0, 255), (255, 255), (-5, 260)] {
                for (lowest, highest) in [(-large, large), (large, large), (-large, -large)] {
                    let mut words = |count, from, to| {
                        packed(&(0..count).map(|_| any(from, to)).collect::<Vec<_>>(), count)
                    };
                    let [own, other] = [(); 2].map(|()| words(hidden, least, most));
                    let [first, second] = [(); 2].map(|()| words(hidden, lowest, highest));
                    let outputs: Vec<i32> = all_kernels()
                        .map(|kernels| kernels.output([&own, &other], [&first, &second]))
                        .collect();
                    let exact: i64 = own
                        .iter()
                        .zip(&first)
                        .chain(other.iter().zip(&second))
                        .flat_map(|(sums, weights)| sums.0.into_iter().zip(weights.0))
                        .map(|(sum, weight)| {
                            i64::from(sum.clamp(0, 255)).pow(2) * i64::from(weight)
                        })
                        .sum();
                    assert!(
                        outputs.iter().all(|&output| i64::from(output) == exact),
                        "{outputs:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_piece_is_worth_what_the_network_misses_without_it() {
        let network = random(32, 4);
        for fen in crate::bench::POSITIONS {
            let board = Board::from_fen(fen).unwrap();
            let view = if board.side_to_move() == Side::White { 1 } else { -1 };
            let whole = view * evaluate_reference(&network.network, &board);
            let values = piece_values(&network, &board);
            assert_eq!(values.len(), piece_count(&board) - 2, "{fen}");
            for (square, value) in values {
                if let Some(without) = board_without(&board, square) {
                    let rest = view * evaluate_reference(&network.network, &without);
                    assert_eq!(value, whole - rest, "{fen}: {square}");
                }
            }
        }
    }

    /// The board without a piece, unless that is no valid position.
    fn board_without(board: &Board, square: Square) -> Option<Board> {
        let fen = board.to_fen();
        let mut fields = fen.split(' ');
        let (_, side) = (fields.next()?, fields.next()?);
        let row = |row: u8| -> String {
            let letters = (0..8).map(|file| Square::new(row, file)).map(|at| {
                let piece = board.piece_on(at).filter(|_| at != square);
                piece.map_or('1', Piece::letter)
            });
            letters.collect()
        };
        let rows: Vec<String> = (0..8).map(row).collect();
        Board::from_fen(&format!("{} {side} - - 0 1", rows.join("/"))).ok()
    }

    #[test]
    fn evaluations_stay_below_mates() {
        let bound = params::won_eval();
        let extreme = Network::new(0, vec![0; INPUTS * 8], vec![0; 8], vec![0; 16], vec![i32::MAX]);
        let network = PackedNetwork::new(extreme.unwrap());
        let board = Board::startpos();
        let score = Neural::of(&board, &network).evaluate(&board);
        assert!(score > bound && score < crate::score::TB_BAND, "{score}");
    }

    #[test]
    fn a_network_is_built_in() {
        let built_in = PackedNetwork::built_in().unwrap();
        assert!(built_in.is_some(), "without one the tables play");
    }

    #[test]
    fn an_identity_names_what_the_file_says() {
        let network = random(72, 3);
        let bytes = network.network.to_bytes();
        let identity = PackedNetwork::from_bytes(&bytes).unwrap().identity();
        assert_eq!((identity.hidden, identity.buckets, identity.generation), (72, 3, 5));
        assert_eq!(identity.checksum.to_le_bytes(), bytes[40..48]);
        let text = identity.to_string();
        assert!(text.starts_with("generation 5, 72 neurons, 3 buckets"), "{text}");
    }
}
