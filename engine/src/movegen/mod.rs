//! Move generation: three nested loops over pieces, directions and squares.
//!
//! [`scan()`] generates pseudo-legal moves in micro-Max's order: squares from any start square, cyclically.
//! [`legal_moves`] walks the piece lists and finds [`ChecksAndPins`] first, so that no move has to be made
//! to test it.

mod legal;
mod outcome;
mod scan;

pub use legal::{ChecksAndPins, count_legal, king_is_safe, legal_moves, noisy_moves, quiet_moves};
pub use scan::{confirm, gives_check, is_legal, legal_scan, scan};
