//! Games of the engine against itself on disk, and the threads that play them.
//!
//! The bytes are those of [`cairn_engine::selfplay`]; here they become files. Modules from the ground
//! up:
//!
//! | module | holds |
//! |---|---|
//! | [`read`] | reading a file of either format, in bounded memory |
//! | [`file`](mod@file) | a set of games that grows: lock, what is there already, appending, parts |
//! | [`merge`](mod@merge) | one set out of several |
//! | [`stats`] | what games are like |
//! | [`make`](mod@make) | playing them with several threads |
//! | [`progress`] | how far that is |

pub mod file;
pub mod make;
pub mod merge;
pub mod progress;
pub mod read;
pub mod stats;

pub use read::{FileDamage, GameFile};
