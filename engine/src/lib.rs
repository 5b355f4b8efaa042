//! Cairn's engine: a chess board in 0x88 coordinates and the searches on it.
//!
//! A pure library: it counts nodes, never reads a clock, does no input or output, and no thread
//! outlives a call. What a protocol or a person needs around it lives in the `cairn` package.
//!
//! Modules from the ground up. Each imports only from those above it in this table, which `tests/layout.rs`
//! checks; unit tests also take positions from [`mod@bench`]. What a [`board::Board`] can do is spread
//! over the floors: that which needs legal moves, such as the end of a game, [`movegen`] adds to it.
//!
//! | module | holds |
//! |---|---|
//! | [`square`] | 0x88 coordinates and steps |
//! | [`piece`] | sides, kinds, pieces |
//! | [`score`] | scores, mates, windows |
//! | [`moves`] | moves in 16 bits, move lists |
//! | [`keys`] | the two Zobrist keys |
//! | `attack` | who attacks what, by 0x88 difference |
//! | `machine` | large allocations, mapped files, prefetching, instruction sets, vectors, a network's arithmetic; the one module with `unsafe` |
//! | [`board`] | position, make and unmake, attacks, draws by rule, history |
//! | [`fen`] | FEN in and out, validity |
//! | [`movegen`] | the three nested loops; legal moves; mate, stalemate and the end of a game |
//! | [`text`] | the diagram; moves as UCI writes them |
//! | [`perft`] | counting move paths |
//! | [`syzygy`] | endgame tables: what perfect play comes to with few pieces |
//! | [`hash`] | the hash table |
//! | [`params`] | every number of the search, once |
//! | [`eval`] | a network, or material and squares as each king sees them, tapered; endings |
//! | [`search`] | limits, control, reports; the strong search and micro-Max |
//! | [`selfplay`] | games against itself, and the bytes that they are kept in |
//! | [`mod@bench`] | the node count that tells one build from another |

#![deny(clippy::print_stdout, clippy::print_stderr)]
#![deny(unsafe_code)]

mod attack;
pub mod bench;
pub mod board;
pub mod eval;
pub mod fen;
pub mod hash;
pub mod keys;
mod machine;
pub mod movegen;
pub mod moves;
pub mod params;
pub mod perft;
pub mod piece;
pub mod score;
pub mod search;
pub mod selfplay;
pub mod square;
pub mod syzygy;
pub mod text;

pub use machine::instructions::{InstructionSet, InstructionSetError};
pub use machine::mapped_file::MappedFile;
pub use machine::memory::{AllocationError, Remains};
