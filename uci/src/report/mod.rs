//! Analysis for people and programs: games and positions in, records out.

pub mod pgn;
