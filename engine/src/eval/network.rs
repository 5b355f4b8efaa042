//! A small network: its file, its inputs, and what it says of a position in plain whole numbers.
//!
//! Each side sees the board as 768 inputs: own and enemy men, six kinds, 64 squares, turned to its side and
//! mirrored so that its own king stands on the files e to h. One layer of `hidden` neurons, shared by both
//! sides, sums up the columns of the men that stand there. Both sums, that of the side to move first, are
//! clamped to 0 to 1 and squared, and one more layer makes a number of them; which weights it takes, may
//! depend on how many men are left (its buckets).
//!
//! ```text
//! bytes  what (little-endian)
//! 0      magic CAIRNNN1
//! 8      u32: length of the header (64), inputs (768), hidden N, buckets B, QA (255), QB (64),
//!        scale (400), generation
//! 40     u64: FNV-1a of all bytes after the header
//! 48     zeros
//! 64     i16 [768][N] columns, times QA
//!        i16 [N]      what the sums begin with, times QA
//!        i16 [B][2N]  output weights, times QB; those of the side to move first
//!        i32 [B]      what the outputs begin with, times QA * QB
//! ```
//!
//! Sources: <https://www.chessprogramming.org/NNUE>; squared clamped activation as in many engines since
//! 2022.

use std::fmt;

use crate::board::Board;
use crate::piece::{Kind, Piece, Side};
use crate::square::Square;

/// The inputs of one side: own and enemy men, six kinds, 64 squares.
pub const INPUTS: usize = 2 * Kind::COMPACT_COUNT * 64;
/// What stands for 1 in the sums of the first layer.
pub const QA: i32 = 255;
/// What stands for 1 in the weights of the output.
pub const QB: i32 = 64;
/// An output of 1 in centipawns.
pub const SCALE: i32 = 400;
/// The most neurons that a file may have; the number is a multiple of [`HIDDEN_STEP`].
pub const MOST_HIDDEN: usize = 1024;
/// See [`MOST_HIDDEN`].
pub const HIDDEN_STEP: usize = 8;
/// The most buckets that a file may have.
pub const MOST_BUCKETS: usize = 31;
/// The largest column weight and starting value, either way: 32 men and the start fit 16 bits.
pub const LARGEST_COLUMN: i16 = i16::MAX / 33;
/// The largest output weight, either way: times [`QA`] it fits 16 bits.
pub const LARGEST_OUTPUT: i16 = 128;
/// The largest sum of the sizes of a bucket's output weights: the output fits 32 bits.
pub const LARGEST_OUTPUT_SUM: i32 = i32::MAX / (QA * QA);

const MAGIC: [u8; 8] = *b"CAIRNNN1";
const HEADER: usize = 64;

/// The number of the input that a man is to a side whose king stands on `king`, below [`INPUTS`]:
/// `384 * (enemy's) + 64 * kind + square`, kinds as [`Kind::compact`], squares from 0 on the side's far
/// rank to 63 on its first one, mirrored so that `king` comes to stand on the files e to h.
#[must_use]
#[inline(always)]
pub const fn feature(perspective: Side, king: Square, piece: Piece, square: Square) -> usize {
    let man = piece.compact_seen_by(perspective);
    64 * man + (square.compact() ^ turn(perspective, king)) as usize
}

/// What turns and mirrors a square number from 0 to 63 for this side with its king on `king`.
#[must_use]
#[inline(always)]
pub const fn turn(perspective: Side, king: Square) -> u8 {
    let turned = if let Side::Black = perspective { 56 } else { 0 };
    let mirrored = if king.file() < 4 { 7 } else { 0 };
    turned ^ mirrored
}

/// The bucket of a position with `men` men, kings too, of `buckets` equally wide ones.
#[must_use]
#[inline(always)]
pub const fn bucket(men: usize, buckets: usize) -> usize {
    let men = if men > 32 { 32 } else { men };
    men.saturating_sub(2) * buckets / 31
}

/// A network in whole numbers, its sizes and weights in range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Network {
    hidden: usize,
    buckets: usize,
    generation: u32,
    columns: Vec<i16>,
    column_bias: Vec<i16>,
    output_weights: Vec<i16>,
    output_bias: Vec<i32>,
}

/// Why some bytes or weights are no network.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NetworkError {
    /// Other first bytes than a network's.
    Foreign,
    /// Fewer or more bytes than the header says; no header without 64.
    Length {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A number of the header that this program cannot use.
    Header {
        /// Which number.
        field: &'static str,
        /// What it is.
        found: u32,
        /// What it should be.
        expected: &'static str,
    },
    /// The bytes after the header are not those that were written.
    Checksum,
    /// A weight that is too large for 16-bit sums.
    Weight {
        /// Which layer it belongs to.
        layer: &'static str,
        /// Its number there.
        index: usize,
        /// Its value.
        value: i32,
    },
    /// The output weights of this bucket are together too large for 32-bit sums.
    OutputSum(usize),
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::Foreign => f.write_str("not a network of Cairn"),
            NetworkError::Length { found, expected } => {
                write!(f, "{found} bytes long instead of {expected}")
            }
            NetworkError::Header { field, found, expected } => {
                write!(f, "{field} is {found}, must be {expected}")
            }
            NetworkError::Checksum => f.write_str("damaged: its checksum is wrong"),
            NetworkError::Weight { layer, index, value } => {
                write!(f, "{layer} {index} is too large: {value}")
            }
            NetworkError::OutputSum(bucket) => {
                write!(f, "the output weights of bucket {bucket} are too large together")
            }
        }
    }
}

impl std::error::Error for NetworkError {}

impl Network {
    /// A network of these weights, laid out as in the file: columns by input, `column_bias.len()` each,
    /// output weights by bucket, `output_bias.len()` buckets.
    ///
    /// # Errors
    /// If the lengths do not fit each other or a weight is out of range.
    pub fn new(
        generation: u32,
        columns: Vec<i16>,
        column_bias: Vec<i16>,
        output_weights: Vec<i16>,
        output_bias: Vec<i32>,
    ) -> Result<Network, NetworkError> {
        let (hidden, buckets) = (column_bias.len(), output_bias.len());
        check_sizes(hidden, buckets)?;
        for (found, expected) in
            [(columns.len(), INPUTS * hidden), (output_weights.len(), 2 * hidden * buckets)]
        {
            if found != expected {
                return Err(NetworkError::Length { found: 2 * found, expected: 2 * expected });
            }
        }
        check_range("column weight", &columns, LARGEST_COLUMN)?;
        check_range("column bias", &column_bias, LARGEST_COLUMN)?;
        check_range("output weight", &output_weights, LARGEST_OUTPUT)?;
        for (bucket, weights) in output_weights.chunks_exact(2 * hidden).enumerate() {
            let sum: i32 = weights.iter().map(|&weight| i32::from(weight).abs()).sum();
            if sum > LARGEST_OUTPUT_SUM {
                return Err(NetworkError::OutputSum(bucket));
            }
        }
        Ok(Network {
            hidden,
            buckets,
            generation,
            columns,
            column_bias,
            output_weights,
            output_bias,
        })
    }

    /// The network in the bytes of a file.
    ///
    /// # Errors
    /// If they are not one, to the last byte.
    pub fn from_bytes(bytes: &[u8]) -> Result<Network, NetworkError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(NetworkError::Foreign);
        }
        let Some((header, payload)) = bytes.split_at_checked(HEADER) else {
            return Err(NetworkError::Length { found: bytes.len(), expected: HEADER });
        };
        let number = |index: usize| {
            let at = MAGIC.len() + 4 * index;
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        for (index, field, wanted, expected) in [
            (0, "header length", HEADER as u32, "64"),
            (1, "number of inputs", INPUTS as u32, "768"),
            (4, "unit of the columns", QA as u32, "255"),
            (5, "unit of the output weights", QB as u32, "64"),
            (6, "scale", SCALE as u32, "400"),
            (10, "reserved part of the header", 0, "0"),
            (11, "reserved part of the header", 0, "0"),
            (12, "reserved part of the header", 0, "0"),
            (13, "reserved part of the header", 0, "0"),
        ] {
            let found = number(index);
            if found != wanted {
                return Err(NetworkError::Header { field, found, expected });
            }
        }
        let (hidden, buckets) = (number(2) as usize, number(3) as usize);
        check_sizes(hidden, buckets)?;
        let lengths = [2 * INPUTS * hidden, 2 * hidden, 4 * hidden * buckets, 4 * buckets];
        let expected = lengths.iter().sum();
        if payload.len() != expected {
            return Err(NetworkError::Length { found: bytes.len(), expected: HEADER + expected });
        }
        let checksum = u64::from(number(8)) | u64::from(number(9)) << 32;
        if fnv1a(payload) != checksum {
            return Err(NetworkError::Checksum);
        }
        let (columns, rest) = payload.split_at(lengths[0]);
        let (column_bias, rest) = rest.split_at(lengths[1]);
        let (output_weights, output_bias) = rest.split_at(lengths[2]);
        let words = |bytes: &[u8]| -> Vec<i16> {
            bytes.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect()
        };
        let output_bias = output_bias
            .chunks_exact(4)
            .map(|four| i32::from_le_bytes([four[0], four[1], four[2], four[3]]))
            .collect();
        let (columns, column_bias) = (words(columns), words(column_bias));
        Network::new(number(7), columns, column_bias, words(output_weights), output_bias)
    }

    /// The bytes of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        for words in [&self.columns, &self.column_bias, &self.output_weights] {
            payload.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        payload.extend(self.output_bias.iter().flat_map(|bias| bias.to_le_bytes()));
        let mut bytes = MAGIC.to_vec();
        for number in [
            HEADER as u32,
            INPUTS as u32,
            self.hidden as u32,
            self.buckets as u32,
            QA as u32,
            QB as u32,
            SCALE as u32,
            self.generation,
        ] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(fnv1a(&payload).to_le_bytes());
        bytes.resize(HEADER, 0);
        bytes.extend(payload);
        bytes
    }

    /// The number of neurons of one side.
    #[must_use]
    pub const fn hidden(&self) -> usize {
        self.hidden
    }

    /// The number of sets of output weights.
    #[must_use]
    pub const fn buckets(&self) -> usize {
        self.buckets
    }

    /// Which generation of the engine's own games it was trained on, from 1; 0 if nobody said.
    #[must_use]
    pub const fn generation(&self) -> u32 {
        self.generation
    }

    /// The weights of the first layer, [`Network::hidden`] for each of the [`INPUTS`].
    #[must_use]
    pub fn columns(&self) -> &[i16] {
        &self.columns
    }

    /// What the sums of the first layer begin with.
    #[must_use]
    pub fn column_bias(&self) -> &[i16] {
        &self.column_bias
    }

    /// The weights of the output, by bucket twice [`Network::hidden`], those of the side to move first.
    #[must_use]
    pub fn output_weights(&self) -> &[i16] {
        &self.output_weights
    }

    /// What the output of each bucket begins with.
    #[must_use]
    pub fn output_bias(&self) -> &[i32] {
        &self.output_bias
    }

    /// The evaluation in centipawns, truncated towards zero, of the sum of clamped and squared neurons
    /// times output weights of this bucket.
    #[must_use]
    #[inline]
    pub fn output(&self, sum: i32, bucket: usize) -> i32 {
        let output = i64::from(sum / QA) + i64::from(self.output_bias[bucket]);
        let scaled = output * i64::from(SCALE) / i64::from(QA * QB);
        scaled.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }
}

fn check_sizes(hidden: usize, buckets: usize) -> Result<(), NetworkError> {
    if hidden == 0 || hidden > MOST_HIDDEN || !hidden.is_multiple_of(HIDDEN_STEP) {
        let expected = "a multiple of 8 up to 1024";
        return Err(NetworkError::Header {
            field: "hidden neurons",
            found: hidden as u32,
            expected,
        });
    }
    if buckets == 0 || buckets > MOST_BUCKETS {
        let (found, expected) = (buckets as u32, "1 to 31");
        return Err(NetworkError::Header { field: "number of buckets", found, expected });
    }
    Ok(())
}

fn check_range(layer: &'static str, weights: &[i16], largest: i16) -> Result<(), NetworkError> {
    match weights.iter().position(|weight| weight.unsigned_abs() > largest.unsigned_abs()) {
        Some(index) => Err(NetworkError::Weight { layer, index, value: i32::from(weights[index]) }),
        None => Ok(()),
    }
}

/// A checksum of 64 bits. Source: <https://en.wikipedia.org/wiki/Fowler-Noll-Vo_hash_function>.
#[must_use]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// What the network says of a position to the side to move, in centipawns: everything summed up anew, in
/// plain code that faster code has to agree with.
#[must_use]
pub fn evaluate_reference(network: &Network, board: &Board) -> i32 {
    let hidden = network.hidden;
    let sides = [board.side_to_move(), board.side_to_move().other()];
    let mut men = 0;
    let mut sums = [(); 2].map(|()| network.column_bias.clone());
    for (piece, square) in Square::all().filter_map(|at| Some((board.piece_on(at)?, at))) {
        men += 1;
        for (side, sum) in sides.into_iter().zip(&mut sums) {
            let column = hidden * feature(side, board.king(side), piece, square);
            for (neuron, weight) in sum.iter_mut().zip(&network.columns[column..column + hidden]) {
                *neuron += weight;
            }
        }
    }
    let bucket = bucket(men, network.buckets);
    let weights = &network.output_weights[2 * hidden * bucket..2 * hidden * (bucket + 1)];
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
        // The generation, at byte 36, is all that a header may have in several ways.
        for byte in (0..bytes.len()).filter(|byte| !(36..40).contains(byte)) {
            let mut wrong = bytes.clone();
            wrong[byte] ^= 1 << (byte % 8);
            assert!(Network::from_bytes(&wrong).is_err(), "wrong at {byte}");
        }
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
        let man = |letter| Piece::from_letter(letter).unwrap();
        assert_eq!(feature(Side::White, at("e1"), man('K'), at("e1")), 64 * 5 + 60);
        assert_eq!(feature(Side::White, at("d1"), man('K'), at("d1")), 64 * 5 + 60);
        assert_eq!(feature(Side::Black, at("e8"), man('k'), at("e8")), 64 * 5 + 60);
        assert_eq!(feature(Side::White, at("e1"), man('P'), at("a2")), 48);
        assert_eq!(feature(Side::White, at("c1"), man('P'), at("a2")), 55);
        assert_eq!(feature(Side::Black, at("g8"), man('P'), at("a2")), 384 + 8);
        assert_eq!(feature(Side::Black, at("a8"), man('q'), at("h8")), 64 * 4 + 56);
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
            let all: Vec<usize> = (2..=32).map(|men| bucket(men, buckets)).collect();
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
