//! A small network: its inputs, and what it says of a position in plain whole numbers.
//!
//! Each side sees the board as 768 inputs: own and enemy pieces, six kinds, 64 squares, turned to its side and
//! mirrored so that its own king stands on the files e to h. One layer of `hidden` neurons, shared by both
//! sides, sums up the columns of the pieces that stand there. Both sums, that of the side to move first, are
//! clamped to 0 to 1 and squared, and one more layer makes a number of them; which weights it takes, may
//! depend on how many pieces are left (its buckets).
//!
//! Sources: <https://www.chessprogramming.org/NNUE>; squared clamped activation as in many engines since
//! 2022.

use crate::board::Board;
use crate::piece::{Kind, Piece, Side};
use crate::square::Square;

pub use super::network_file::{
    HIDDEN_STEP, INPUTS, LARGEST_COLUMN, LARGEST_OUTPUT, LARGEST_OUTPUT_SUM, LONGEST_FILE,
    MOST_BUCKETS, MOST_HIDDEN, Network, NetworkError, QA, QB, SCALE, fnv1a,
};

const _: () = assert!(INPUTS == 2 * Kind::COMPACT_COUNT * 64);

/// The number of the input that a piece is to a side whose king stands on `king`, below [`INPUTS`]:
/// `384 * (enemy's) + 64 * kind + square`, kinds as [`Kind::compact`], squares from 0 on the side's far
/// rank to 63 on its first one, mirrored so that `king` comes to stand on the files e to h.
#[must_use]
#[inline(always)]
pub const fn feature(perspective: Side, king: Square, piece: Piece, square: Square) -> usize {
    let plane = piece.compact_seen_by(perspective);
    64 * plane + (square.compact() ^ turn(perspective, king)) as usize
}

/// What turns and mirrors a square number from 0 to 63 for this side with its king on `king`.
#[must_use]
#[inline(always)]
pub const fn turn(perspective: Side, king: Square) -> u8 {
    let turned = if let Side::Black = perspective { 56 } else { 0 };
    let mirrored = if king.file() < 4 { 7 } else { 0 };
    turned ^ mirrored
}

/// The bucket of a position with so many pieces, kings too, of `buckets` equally wide ones.
#[must_use]
#[inline(always)]
pub const fn bucket(pieces: usize, buckets: usize) -> usize {
    let pieces = if pieces > 32 { 32 } else { pieces };
    pieces.saturating_sub(2) * buckets / 31
}

/// What the network says of a position to the side to move, in centipawns: everything summed up anew, in
/// plain code that faster code has to agree with.
#[must_use]
pub fn evaluate_reference(network: &Network, board: &Board) -> i32 {
    let hidden = network.hidden();
    let sides = [board.side_to_move(), board.side_to_move().other()];
    let mut pieces = 0;
    let mut sums = [(); 2].map(|()| network.column_bias().to_vec());
    for (piece, square) in Square::all().filter_map(|at| Some((board.piece_on(at)?, at))) {
        pieces += 1;
        for (side, sum) in sides.into_iter().zip(&mut sums) {
            let column = hidden * feature(side, board.king(side), piece, square);
            for (neuron, weight) in sum.iter_mut().zip(&network.columns()[column..column + hidden])
            {
                *neuron += weight;
            }
        }
    }
    let bucket = bucket(pieces, network.buckets());
    let weights = &network.output_weights()[2 * hidden * bucket..2 * hidden * (bucket + 1)];
    let sum = sums.iter().flatten().zip(weights).map(|(&neuron, &weight)| {
        let clamped = i32::from(neuron).clamp(0, QA);
        clamped * clamped * i32::from(weight)
    });
    network.output(sum.sum(), bucket)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network of numbers that only look random.
    fn some(hidden: usize, buckets: usize) -> Network {
        let mut state = 1u32;
        let mut next = |most: i32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as i32 % (2 * most + 1) - most
        };
        let mut words =
            |count: usize, most: i32| (0..count).map(|_| next(most) as i16).collect::<Vec<_>>();
        let columns = words(INPUTS * hidden, 60);
        let column_bias = words(hidden, 300);
        let output_weights = words(2 * hidden * buckets, 127);
        let output_bias = words(buckets, 1000).into_iter().map(i32::from).collect();
        Network::new(3, columns, column_bias, output_weights, output_bias).unwrap()
    }

    #[test]
    fn bytes_come_back_and_no_wrong_one_does() {
        let network = some(8, 2);
        let bytes = network.to_bytes();
        assert_eq!(bytes.len(), 64 + 2 * 768 * 8 + 2 * 8 + 2 * 2 * 2 * 8 + 2 * 4);
        assert_eq!(Network::from_bytes(&bytes).as_ref(), Ok(&network));
        for length in 0..bytes.len() {
            assert!(Network::from_bytes(&bytes[..length]).is_err(), "cut at {length}");
        }
        for byte in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[byte] ^= 1 << (byte % 8);
            assert!(Network::from_bytes(&wrong).is_err(), "wrong at {byte}");
        }
        let older = [b"CAIRNNN1", &bytes[8..]].concat();
        assert_eq!(Network::from_bytes(&older), Err(NetworkError::Version('1')));
        assert_eq!(Network::from_bytes(b"CAIRNNNx"), Err(NetworkError::Foreign));
        let longer = [&bytes[..], &[0]].concat();
        let error = NetworkError::Length { found: bytes.len() + 1, expected: bytes.len() };
        assert_eq!(Network::from_bytes(&longer), Err(error));
    }

    #[test]
    fn weights_beyond_the_sums_are_refused() {
        let with = |column: i16, weight: i16, hidden: usize| {
            let columns = vec![column; INPUTS * hidden];
            Network::new(1, columns, vec![0; hidden], vec![weight; 2 * hidden], vec![0])
        };
        assert!(with(LARGEST_COLUMN, -LARGEST_OUTPUT, 128).is_ok());
        assert!(matches!(with(LARGEST_COLUMN + 1, 0, 8), Err(NetworkError::Weight { .. })));
        assert!(matches!(with(0, -LARGEST_OUTPUT - 1, 8), Err(NetworkError::Weight { .. })));
        assert_eq!(with(0, 127, 1024), Err(NetworkError::OutputSum(0)));
    }

    #[test]
    fn inputs_are_counted_from_the_own_side_with_the_king_on_the_right() {
        let at = |text: &str| text.parse::<Square>().unwrap();
        let piece = |letter| Piece::from_letter(letter).unwrap();
        assert_eq!(feature(Side::White, at("e1"), piece('K'), at("e1")), 64 * 5 + 60);
        assert_eq!(feature(Side::White, at("d1"), piece('K'), at("d1")), 64 * 5 + 60);
        assert_eq!(feature(Side::Black, at("e8"), piece('k'), at("e8")), 64 * 5 + 60);
        assert_eq!(feature(Side::White, at("e1"), piece('P'), at("a2")), 48);
        assert_eq!(feature(Side::White, at("c1"), piece('P'), at("a2")), 55);
        assert_eq!(feature(Side::Black, at("g8"), piece('P'), at("a2")), 384 + 8);
        assert_eq!(feature(Side::Black, at("a8"), piece('q'), at("h8")), 64 * 4 + 56);
        for side in Side::ALL {
            for king in Square::all() {
                let mut seen = [false; INPUTS];
                for piece in Piece::all() {
                    for square in Square::all() {
                        seen[feature(side, king, piece, square)] = true;
                    }
                }
                assert!(seen.iter().all(|&seen| seen));
            }
        }
    }

    #[test]
    fn buckets_are_equally_wide() {
        for buckets in 1..=MOST_BUCKETS {
            let all: Vec<usize> = (2..=32).map(|pieces| bucket(pieces, buckets)).collect();
            assert!(all.is_sorted());
            assert_eq!((all[0], all[30]), (0, buckets - 1));
            let counts = (0..buckets).map(|b| all.iter().filter(|&&x| x == b).count());
            let (least, most) = (counts.clone().min().unwrap(), counts.max().unwrap());
            assert!(most - least <= 1, "{buckets}: {least} to {most}");
        }
        assert_eq!(bucket(0, 8), 0);
        assert_eq!(bucket(64, 8), 7);
    }

    #[test]
    fn both_sides_are_asked_alike() {
        let network = some(16, 8);
        let ask = |fen: &str| evaluate_reference(&network, &Board::from_fen(fen).unwrap());
        let white = ask("r1bqk2r/ppp2ppp/2np4/8/2BPn3/2N2N2/PPP2PPP/R2QK2R w KQkq - 0 1");
        // Sides swapped, and once mirrored without castling rights.
        assert_eq!(white, ask("r2qk2r/ppp2ppp/2n2n2/2bpN3/8/2NP4/PPP2PPP/R1BQK2R b KQkq - 0 1"));
        assert_eq!(white, ask("r2kqb1r/ppp2ppp/4pn2/8/3nPB2/2N2N2/PPP2PPP/R2KQ2R w - - 0 1"));
        assert_ne!(white, 0);
    }

    #[test]
    fn the_output_is_what_the_numbers_say() {
        // One neuron of each side is open: half with the black king's column, all for the other one.
        let mut columns = vec![0; INPUTS * 8];
        let king = |text: &str| text.parse::<Square>().unwrap();
        let seen = |side: Side, letter, at| {
            8 * feature(side, king("e1"), Piece::from_letter(letter).unwrap(), king(at))
        };
        columns[seen(Side::White, 'k', "e8")] = 128;
        columns[seen(Side::White, 'K', "e1") + 1] = 300;
        let mut weights = vec![0; 16];
        (weights[0], weights[1], weights[9]) = (64, 100, -100);
        let network = Network::new(1, columns, vec![0; 8], weights, vec![7]).unwrap();
        let board = Board::from_fen("4k3/8/8/8/8/8/8/4K3 w - - 0 1").unwrap();
        let sum = 128 * 128 * 64 + 255 * 255 * 100 - 255 * 255 * 100;
        assert_eq!(evaluate_reference(&network, &board), (sum / 255 + 7) * 400 / (255 * 64));
        assert_eq!(network.output(-sum, 0), (-(sum / 255) + 7) * 400 / (255 * 64));
        assert_eq!(network.output(i32::MAX, 0), 206_409);
    }
}
