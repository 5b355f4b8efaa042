//! The front-end of Cairn: it reads, prints and times; the engine crate only counts nodes.
//!
//! # Floors
//!
//! A file imports only what stands above it in this list; `mod.rs` stands for the files of its folder
//! and comes last among them.
//!
//! ```text
//! protocol/text        words, and quoting other people's text
//! protocol/command     what a GUI says, as types
//! protocol/parse       text to commands; the only importer of vampirc_uci
//! protocol/reply       what the engine says, as types and text
//! protocol/notation    SAN and scores
//! protocol/san         moves read in all spellings of SAN
//! protocol/mod
//!
//! signature            the short bench that tells builds apart
//!
//! session/files        the files that options name
//! openings             opening positions for testing
//! session/messages     what the threads say to each other
//! session/reader       standard input, a thread
//! session/writer       standard output, a thread
//! session/game         the position and the moves before it
//! session/table        fitted numbers, read at compile time
//! session/level        UCI_Elo to nodes and overlooked moves
//! session/wdl          scores as they are shown; win, draw and loss chances
//! session/clock        clocks to time limits
//! session/options      the table of options and their values
//! session/network      the network that evaluates, read from a file
//! session/tables       the endgame tables, read from folders
//! session/saved        what was learnt, saved and loaded
//! session/plan         a `go` with the options to limits
//! session/log          the option Debug Log File, a thread
//! session/views        bench, perft, d, eval and help as text
//! session/answer       what a search found, in the words of UCI
//! session/watch        the clock's judgement between iterations
//! session/worker       the search, a thread
//! session/pending      the unanswered `go`
//! session/controller   the main loop
//! session/replay       a session repeated from its log
//! session/mod          the threads put together
//!
//! analyze              a search as a function with typed lines
//! report/...           analysis for people and programs: PGN, positions, records
//! games/...            games against itself: files of games, makers, merging, statistics
//!
//! cli/...              the command line, a file for each command
//! ```
//!
//! # Where is what
//!
//! - A `go` is parsed in `parse_go`, `uci/src/protocol/parse.rs`.
//! - Time is decided in `uci/src/session/clock.rs` for a move and in `uci/src/session/watch.rs` between
//!   iterations.
//! - Late move reductions are computed in `late_move_reduction`, `engine/src/search/prune.rs`.
//! - A hash entry is replaced in `store`, `engine/src/search/tt.rs`.
//! - A UCI option is a row in a table of `uci/src/session/options.rs` and a field of `Settings` there.
//! - A subcommand is a variant of `Command` in `uci/src/cli/mod.rs` and a file beside it.

pub mod analyze;
pub mod cli;
pub mod games;
pub mod openings;
pub mod protocol;
pub mod report;
pub mod session;
pub mod signature;
