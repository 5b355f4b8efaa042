//! Move generation: three nested loops over pieces, directions and squares.
//!
//! [`scan`] is micro-Max's order: squares from any start square, cyclically. The legal generator
//! walks the piece lists instead and knows before it starts what gives check and what is pinned, so
//! that no move has to be tried out on the board.

mod legal;
mod outcome;
mod scan;

pub use legal::{ChecksAndPins, count_legal, king_is_safe, legal_moves, noisy_moves, quiet_moves};
pub use scan::{confirm, gives_check, is_legal, legal_scan, scan};
