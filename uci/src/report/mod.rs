//! Analysis for people and programs: games and positions in, records out.
//!
//! - [`pgn`] reads and writes games, [`input`] takes positions from games, EPD and FEN.
//! - [`batch`] searches many positions side by side.
//! - [`record`] is what is found as programs read it, [`mod@format`] writes it in other forms too.
//! - [`mod@annotate`] judges the moves of whole games by [`judge`]; [`markup`] writes that as PGN, [`html`] as a page
//!   with the boards of [`board_svg`].
//! - [`explain`] says why a position is worth what it is, and what each move comes to.
//! - [`parts`] goes on with what was broken off, and puts shards together.

pub mod annotate;
pub mod batch;
pub mod board_svg;
pub mod explain;
pub mod format;
pub mod html;
pub mod input;
pub mod judge;
pub mod lines;
pub mod markup;
pub mod parts;
pub mod pgn;
pub mod record;
