//! Analysis for people and programs: games and positions in, records out.
//!
//! - [`pgn`] reads and writes games, [`input`] takes positions from games, EPD and FEN.
//! - [`batch`] searches many positions side by side.
//! - [`record`] is what is found as programs read it, [`mod@format`] writes it in other forms too.
//! - [`explain`] says why a position is worth what it is, and what each move comes to.
//! - [`parts`] goes on with what was broken off, and puts shards together.

pub mod batch;
pub mod explain;
pub mod format;
pub mod input;
pub mod lines;
pub mod parts;
pub mod pgn;
pub mod record;
