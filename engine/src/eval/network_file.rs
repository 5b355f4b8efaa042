//! The file of a network: what stands in it, reading it with every check, and writing it.
//!
//! ```text
//! bytes  what (little-endian)
//! 0      magic CAIRNNN2, the last letter being the version of the format
//! 8      u32: length of the header (64), inputs (768), hidden N, buckets B, QA (255), QB (64),
//!        scale (400), generation
//! 40     u64: FNV-1a of all other bytes of the file
//! 48     zeros
//! 64     i16 [768][N] columns, times QA
//!        i16 [N]      what the sums begin with, times QA
//!        i16 [B][2N]  output weights, times QB; those of the side to move first
//!        i32 [B]      what the outputs begin with, times QA * QB
//! ```
//!
//! The checksum of format 1 left the header out; it is not read any more.
//!
//! Nothing of the crate is imported here, as the build script reads the network that is built in by the same
//! code.

use std::fmt;
use std::ops::Range;

/// The inputs of one side: own and enemy pieces, six kinds, 64 squares.
pub const INPUTS: usize = 2 * 6 * 64;
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
/// The largest column weight and starting value, either way: 32 pieces and the start fit 16 bits.
pub const LARGEST_COLUMN: i16 = i16::MAX / 33;
/// The largest output weight, either way: times [`QA`] it fits 16 bits.
pub const LARGEST_OUTPUT: i16 = 128;
/// The largest sum of the sizes of a bucket's output weights: the output fits 32 bits.
pub const LARGEST_OUTPUT_SUM: i32 = i32::MAX / (QA * QA);

/// The length of the longest file, in bytes.
pub const LONGEST_FILE: usize =
    HEADER + 2 * (INPUTS + 1) * MOST_HIDDEN + 4 * (MOST_HIDDEN + 1) * MOST_BUCKETS;

const MAGIC: [u8; 8] = *b"CAIRNNN2";
const HEADER: usize = 64;
/// Where in the header the checksum stands.
const CHECKSUM: Range<usize> = 40..48;

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
    /// A network in another version of the format, which this letter stands for.
    Version(char),
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
    /// The bytes are not those that were written.
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
            NetworkError::Version(found) => {
                let [.., expected] = MAGIC.map(char::from);
                write!(f, "a network in format {found}, while this program reads format {expected}")
            }
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
        match bytes.split_at_checked(MAGIC.len()) {
            Some((magic, _)) if magic == MAGIC => {}
            Some(([name @ .., version @ b'0'..=b'9'], _)) if MAGIC.starts_with(name) => {
                return Err(NetworkError::Version(char::from(*version)));
            }
            _ => return Err(NetworkError::Foreign),
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
        if file_checksum(header, payload.iter().copied()) != checksum {
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

    /// The bytes of the file behind its header.
    fn payload(&self) -> impl Iterator<Item = u8> + '_ {
        let words = [&self.columns, &self.column_bias, &self.output_weights].into_iter().flatten();
        let words = words.flat_map(|word| word.to_le_bytes());
        words.chain(self.output_bias.iter().flat_map(|bias| bias.to_le_bytes()))
    }

    /// The checksum in its file.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        file_checksum(&self.header(), self.payload())
    }

    /// The bytes of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.header();
        bytes[CHECKSUM].copy_from_slice(&self.checksum().to_le_bytes());
        bytes.extend(self.payload());
        bytes
    }

    /// The header of the file, without the checksum.
    fn header(&self) -> Vec<u8> {
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
        bytes.resize(HEADER, 0);
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

/// The checksum of a file with this header, whatever checksum stands in it.
fn file_checksum(header: &[u8], payload: impl Iterator<Item = u8>) -> u64 {
    let around = header[..CHECKSUM.start].iter().chain(&header[CHECKSUM.end..]);
    checksum(around.copied().chain(payload))
}

/// A checksum of 64 bits. Source: <https://en.wikipedia.org/wiki/Fowler-Noll-Vo_hash_function>.
#[must_use]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    checksum(bytes.iter().copied())
}

fn checksum(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
