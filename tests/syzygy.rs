//! The endgame tables: they say what another program's prober says, and damage never does harm.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use cairn_engine::board::{Board, GameEnd};
use cairn_engine::moves::Move;
use cairn_engine::piece::{Kind, Piece, Side};
use cairn_engine::score::{TB_BAND, TB_WIN};
use cairn_engine::search::{
    Bound, Control, Limits, Outcome, ScoreText, Searcher, Style, TableUse, Verdict,
};
use cairn_engine::square::Square;
use cairn_engine::syzygy::{ProbeError, TableError, Tables, Wdl};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};
use shakmaty_syzygy::Tablebase;

/// The tables of three pieces.
fn small() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/syzygy")
}

/// The folder with larger tables that the environment names.
fn large() -> PathBuf {
    env::var_os("CAIRN_SYZYGY").expect("CAIRN_SYZYGY is a folder with tables").into()
}

/// The names of the tables in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("a file").file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.contains(".rtb")).collect();
    names.sort();
    names
}

fn read(folder: &Path) -> Tables {
    let mut tables = Tables::new();
    for name in names(folder) {
        tables.add(&name, Box::new(fs::read(folder.join(&name)).expect("a file"))).expect(&name);
    }
    tables
}

/// The FEN of a placement, without castling rights.
fn fen(pieces: &[(Piece, Square)], side: Side, en_passant: Option<Square>) -> String {
    let mut text = String::new();
    for square in Square::all() {
        match pieces.iter().find(|(_, other)| *other == square) {
            Some((piece, _)) => text.push(piece.letter()),
            None => text.push('1'),
        }
        if square.file() == 7 && square.row() < 7 {
            text.push('/');
        }
    }
    let side = if side == Side::White { 'w' } else { 'b' };
    let en_passant = en_passant.map_or("-".into(), |square| square.to_string());
    format!("{text} {side} - {en_passant} 0 1")
}

/// Another prober, written by somebody else.
struct Oracle(Tablebase<Chess>);

impl Oracle {
    fn read(folder: &Path) -> Oracle {
        let mut tables = Tablebase::new();
        tables.add_directory(folder).expect("tables");
        Oracle(tables)
    }

    /// Whether both say the same of a position.
    fn check(&self, tables: &Tables, board: &mut Board, fen: &str) {
        let read = Fen::from_ascii(fen.as_bytes()).expect(fen);
        let position = match read.into_position(CastlingMode::Standard) {
            Ok(position) => position,
            Err(error) => error.ignore_impossible_check().expect(fen),
        };
        let wdl = self.0.probe_wdl_after_zeroing(&position).expect(fen);
        let dtz = self.0.probe_dtz(&position).expect(fen).ignore_rounding();
        let found = tables.probe_wdl(board).expect(fen);
        assert_eq!(found as i32, wdl as i32, "{fen}");
        assert_eq!(tables.probe_dtz(board), Ok(i32::from(dtz)), "{fen}");
        assert!(board.is_ok() && board.history().is_empty(), "{fen} is changed");
    }
}

#[test]
fn every_position_of_three_pieces_agrees_with_another_prober() {
    let (tables, oracle) = (read(&small()), Oracle::read(&small()));
    // With all checks of the debug build only some of them.
    let step = if cfg!(debug_assertions) { 97 } else { 1 };
    let piece = |letter| Piece::from_letter(letter).expect("a letter");
    let check = |third| {
        let mut number = 0u32;
        let mut checked = 0;
        for (a, b) in Square::all().flat_map(|a| Square::all().map(move |b| (a, b))) {
            for c in Square::all().filter(|&c| a != b && a != c && b != c) {
                for side in Side::ALL {
                    number += 1;
                    if !number.is_multiple_of(step) {
                        continue;
                    }
                    let fen = fen(&[(piece('K'), a), (piece('k'), b), (third, c)], side, None);
                    if let Ok(mut board) = Board::from_fen(&fen) {
                        oracle.check(&tables, &mut board, &fen);
                        checked += 1;
                    }
                }
            }
        }
        checked
    };
    let thirds = Piece::all().filter(|piece| piece.kind() != Kind::King);
    let checked: u32 = thread::scope(|scope| {
        let threads: Vec<_> = thirds.map(|third| scope.spawn(move || check(third))).collect();
        threads.into_iter().map(|thread| thread.join().expect("agreement")).sum()
    });
    assert!(checked > 3_000_000 / step, "{checked}");
    assert!(tables.complaints().is_empty());
}

/// A position with these pieces on random squares, if it is legal: with an en-passant capture where there
/// can be one, every other time.
fn random_position(letters: &str, random: &mut impl Rng) -> Option<(String, Board)> {
    let squares: Vec<Square> = Square::all().collect();
    let mut pieces = Vec::new();
    for letter in letters.chars() {
        let square = squares[random.next_u32() as usize % 64];
        pieces.push((Piece::from_letter(letter)?, square));
    }
    let side = Side::ALL[random.next_u32() as usize % 2];
    let plain = fen(&pieces, side, None);
    let board = Board::from_fen(&plain).ok()?;
    // Squares drawn twice have lost a piece.
    let count = squares.iter().filter(|&&square| board.piece_on(square).is_some()).count();
    if count != letters.len() {
        return None;
    }
    let row = if side == Side::White { 2 } else { 5 };
    for target in squares.iter().filter(|square| square.row() == row) {
        let fen = fen(&pieces, side, Some(*target));
        if let Ok(board) = Board::from_fen(&fen)
            && board.en_passant().is_some()
            && random.next_u32().is_multiple_of(2)
        {
            return Some((fen, board));
        }
    }
    Some((plain, board))
}

/// The pieces of a table as letters of a FEN; with the colours exchanged if `turned`.
fn letters(name: &str, turned: bool) -> String {
    let stem = name.split('.').next().unwrap_or_default();
    let (first, second) = stem.split_once('v').expect("a name");
    let (white, black) = if turned { (second, first) } else { (first, second) };
    white.to_uppercase() + &black.to_lowercase()
}

/// Run by hand: `CAIRN_SYZYGY=FOLDER cargo test --release -p cairn-engine --test syzygy -- --ignored`.
#[test]
#[ignore = "needs tables that the repository does not have"]
fn random_positions_agree_with_another_prober() {
    let (tables, oracle) = (read(&large()), Oracle::read(&large()));
    let names = names(&large());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut checked, mut en_passant) = (0, 0);
    let mut seen = [0; 5];
    while checked < 100_000 {
        let name = &names[random.next_u32() as usize % names.len()];
        let letters = letters(name, random.next_u32().is_multiple_of(2));
        if letters.len() < 4 {
            continue;
        }
        if let Some((fen, mut board)) = random_position(&letters, &mut random) {
            oracle.check(&tables, &mut board, &fen);
            seen[(tables.probe_wdl(&mut board).expect(&fen) as i8 + 2) as usize] += 1;
            checked += 1;
            en_passant += u32::from(board.en_passant().is_some());
        }
    }
    assert!(tables.complaints().is_empty());
    println!("{checked} positions, {en_passant} with en passant; by result {seen:?}");
}

/// Probes positions of an ending, whatever comes of it.
fn probe_everywhere(tables: &Tables, name: &str, random: &mut impl Rng) {
    for _ in 0..60 {
        let turned = random.next_u32().is_multiple_of(2);
        if let Some((_, mut board)) = random_position(&letters(name, turned), random) {
            let before = board.to_fen();
            let _ = tables.probe_wdl(&mut board);
            let _ = tables.probe_dtz(&mut board);
            for fifty_move_rule in [true, false] {
                let _ = tables.rank_root(&mut board, fifty_move_rule);
            }
            assert!(board.is_ok() && board.to_fen() == before);
        }
    }
}

/// Damages each table in so many ways.
fn damage(folder: &Path, times: u32) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let names = names(folder);
    let mut complaints = 0;
    for number in 0..times {
        for damaged in &names {
            let mut tables = Tables::new();
            for name in &names {
                let mut bytes = fs::read(folder.join(name)).expect("a file");
                if name == damaged {
                    harm(&mut bytes, number, &mut random);
                }
                // A file that does not look like a table is refused.
                let _ = tables.add(name, Box::new(bytes));
            }
            probe_everywhere(&tables, damaged, &mut random);
            let told = tables.complaints();
            assert!(told.iter().all(|text| text.starts_with(damaged.as_str())), "{told:?}");
            assert!(tables.complaints().is_empty(), "told twice");
            complaints += told.len();
        }
    }
    assert!(complaints > 0, "nothing was seen to be damaged");
}

/// Changes bytes, most often in the header, or cuts the end off so that the length is still a table's.
fn harm(bytes: &mut Vec<u8>, number: u32, random: &mut impl Rng) {
    let mut below = |limit: usize| random.next_u64() as usize % limit;
    match number % 4 {
        0 => {
            let units = bytes.len() / 64;
            bytes.truncate(64 * below(units.max(1)) + 16);
        }
        kind => {
            let reach = if kind == 1 { bytes.len() } else { bytes.len().min(100) };
            for _ in 0..=below(4) {
                let at = 4 + below(reach - 4);
                bytes[at] = if kind == 2 { below(256) as u8 } else { bytes[at] ^ 1 << below(8) };
            }
        }
    }
}

#[test]
fn damaged_tables_are_told_and_do_no_harm() {
    damage(&small(), 200);
}

/// Run by hand, as above.
#[test]
#[ignore = "needs tables that the repository does not have"]
fn larger_damaged_tables_are_told_and_do_no_harm() {
    damage(&large(), 12);
}

#[test]
fn what_is_no_table_is_refused_at_once() {
    let bytes = fs::read(small().join("KQvK.rtbw")).expect("a file");
    let refused = |name: &str, bytes: &[u8]| Tables::new().add(name, Box::new(bytes.to_vec()));
    for name in ["KQvK", "KQvK.rtbx", "kqvk.rtbw", "KvKQ2.rtbw", "KvK.rtbw", ".rtbw", "README"] {
        assert_eq!(refused(name, &bytes), Err(TableError::Name), "{name}");
    }
    assert_eq!(refused("KQvK.rtbz", &bytes), Err(TableError::Foreign), "the other kind");
    assert_eq!(refused("KQvK.rtbw", b""), Err(TableError::Foreign));
    assert_eq!(refused("KQvK.rtbw", &bytes[..bytes.len() - 1]), Err(TableError::Length));
    assert_eq!(refused("KQvK.rtbw", &bytes[..4]), Err(TableError::Length));
}

#[test]
fn a_table_under_another_name_is_told_once() {
    let mut tables = Tables::new();
    let bytes = fs::read(small().join("KQvK.rtbw")).expect("a file");
    tables.add("KRvK.rtbw", Box::new(bytes)).expect("it looks well");
    let mut board = Board::from_fen("8/8/8/3k4/8/8/4K3/R7 w - - 0 1").expect("a position");
    for _ in 0..2 {
        assert_eq!(tables.probe_wdl(&mut board), Err(ProbeError::Damaged));
    }
    let told = tables.complaints();
    assert!(told.len() == 1 && told[0].starts_with("KRvK.rtbw: it is of other pieces"), "{told:?}");
    assert!(tables.complaints().is_empty());
}

#[test]
fn what_the_tables_cannot_know_is_no_answer() {
    let tables = read(&small());
    assert_eq!(tables.most_pieces(), 3);
    assert_eq!(tables.counts(), [5, 5]);
    for (fen, wdl) in [
        ("8/8/8/3k4/8/8/4K3/R7 w - - 0 1", Ok(Wdl::Win)),
        ("8/8/8/3k4/8/8/4K3/R7 b - - 0 1", Ok(Wdl::Loss)),
        ("8/8/8/3k4/8/8/4K3/8 b - - 0 1", Ok(Wdl::Draw)),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", Err(ProbeError::Castling)),
        ("8/8/8/3k4/8/8/4K3/RR6 w - - 0 1", Err(ProbeError::Missing)),
        ("8/8/8/3k4/2Q5/8/4K3/8 b - - 0 1", Ok(Wdl::Draw)),
    ] {
        let mut board = Board::from_fen(fen).expect(fen);
        assert_eq!(tables.probe_wdl(&mut board), wdl, "{fen}");
    }
    // One table only: what captures lead to is missing.
    let mut one = Tables::new();
    let name = "KRvK.rtbw";
    one.add(name, Box::new(fs::read(small().join(name)).expect("a file"))).expect(name);
    let mut board = Board::from_fen("8/8/8/3k4/8/8/4K3/R7 w - - 0 1").expect("a position");
    assert_eq!(one.probe_wdl(&mut board), Ok(Wdl::Win));
    assert_eq!(one.probe_dtz(&mut board), Err(ProbeError::Missing));
    assert!(one.complaints().is_empty(), "a missing table is no fault");
}

/// Limits of so many nodes, with these tables.
fn limits(tables: &Arc<Tables>, nodes: u64) -> Limits {
    let tables =
        TableUse { tables: Arc::clone(tables), depth: 1, pieces: 7, fifty_move_rule: true };
    Limits { nodes: Some(nodes), tables: Some(tables), ..Limits::default() }
}

/// What a search finds, and how often tables had an answer.
fn search(searcher: &mut Searcher, board: &Board, limits: &Limits) -> (Outcome, u64) {
    let control = Control::new();
    let outcome = searcher.search(board, limits, &control, &mut |_| Verdict::Continue);
    (outcome, control.table_hits())
}

/// The move after which the other side takes longest, as the tables have it.
fn best_defence(tables: &Tables, board: &mut Board) -> Move {
    let moves = board.legal_moves();
    let distance = |mv: &Move| {
        board.play(*mv);
        let distance = tables.probe_dtz(board).expect("an answer");
        board.unmake(&mut ());
        if distance > 0 { distance } else { i32::MAX }
    };
    moves.into_iter().max_by_key(distance).expect("a move")
}

/// The engine wins won positions of these endings against the best defence, by mate.
fn wins(folder: &Path, men: usize, games: u32, nodes: u64) {
    let tables = Arc::new(read(folder));
    let names: Vec<String> =
        names(folder).into_iter().filter(|name| letters(name, false).len() == men).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut searcher = Searcher::new(Style::Cairn, 4).expect("memory");
    let (mut won, mut plies, mut longest) = (0, 0, 0);
    while won < games {
        let name = &names[random.next_u32() as usize % names.len()];
        let letters = letters(name, random.next_u32().is_multiple_of(2));
        let Some((fen, mut board)) = random_position(&letters, &mut random) else { continue };
        if tables.probe_wdl(&mut board) != Ok(Wdl::Win) || board.outcome().is_some() {
            continue;
        }
        for ply in 0.. {
            if let Some(end) = board.outcome() {
                assert_eq!(end, GameEnd::Checkmate, "{fen}: {}", board.to_fen());
                assert_eq!(ply % 2, 1, "{fen}: the engine is mated");
                (plies, longest) = (plies + ply, longest.max(ply));
                break;
            }
            let mv = if ply % 2 == 0 {
                search(&mut searcher, &board, &limits(&tables, nodes)).0.best.expect("a move")
            } else {
                best_defence(&tables, &mut board)
            };
            board.play(mv);
        }
        won += 1;
    }
    println!("{won} won; {} half-moves on average, {longest} at most", plies / games);
}

#[test]
fn won_endings_of_three_pieces_are_won() {
    wins(&small(), 3, 10, 1000);
}

/// Run by hand, as above.
#[test]
#[ignore = "needs tables that the repository does not have"]
fn won_endings_of_four_pieces_are_won() {
    wins(&large(), 4, 200, 2000);
}

#[test]
fn the_root_keeps_what_it_is_worth() {
    let tables = Arc::new(read(&small()));
    let mut searcher = Searcher::new(Style::Cairn, 1).expect("memory");
    for (fen, score) in [
        ("8/8/8/3k4/8/3K4/3P4/8 w - - 0 1", 0),
        ("8/8/4k3/8/4K3/4P3/8/8 w - - 0 1", 0),
        ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", TB_WIN),
        ("4k3/8/8/4PK2/8/8/8/8 w - - 0 1", TB_WIN),
        ("8/8/8/8/5k2/8/4P3/4K3 w - - 0 1", 0),
        ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", -TB_WIN),
    ] {
        let mut board = Board::from_fen(fen).expect(fen);
        let wdl = tables.probe_wdl(&mut board).expect(fen);
        let (outcome, hits) = search(&mut searcher, &board, &limits(&tables, 2000));
        assert!(hits > 0, "{fen}");
        // A mate that the search has found says more.
        let found = outcome.score.to_score();
        let is_mate = score != 0 && found * score.signum() > TB_WIN;
        assert!(found == score || is_mate, "{fen}: {found}");
        board.play(outcome.best.expect("a move"));
        assert_eq!(tables.probe_wdl(&mut board), Ok(-wdl), "{fen}");
    }
}

#[test]
fn captures_into_the_tables_are_seen_at_once() {
    let tables = Arc::new(read(&small()));
    let mut searcher = Searcher::new(Style::Cairn, 1).expect("memory");
    let board = Board::from_fen("8/8/8/8/8/6k1/1r6/RK6 w - - 0 1").expect("a position");
    let (outcome, hits) = search(&mut searcher, &board, &limits(&tables, 300));
    assert_eq!(outcome.best, board.parse_uci("b1b2").ok());
    assert!(hits > 0 && outcome.score.to_score() >= TB_BAND, "{hits} {}", outcome.score);
    // With three pieces at most, and none of three on the board after the capture.
    let mut off = limits(&tables, 300);
    if let Some(using) = &mut off.tables {
        using.pieces = 2;
    }
    assert_eq!(search(&mut searcher, &board, &off).1, 0);
}

#[test]
fn wins_that_the_rule_spoils_are_draws() {
    let tables = Arc::new(read(&small()));
    let mut searcher = Searcher::new(Style::Cairn, 1).expect("memory");
    // It takes more moves to mate than the rule leaves, up to none at all.
    for (clock, side) in [(90, 'w'), (98, 'w'), (99, 'w'), (99, 'b')] {
        let fen = format!("8/8/8/3k4/8/8/8/R3K3 {side} - - {clock} 100");
        let board = Board::from_fen(&fen).expect("a position");
        for fifty_move_rule in [true, false] {
            let mut limits = limits(&tables, 500);
            if let Some(using) = &mut limits.tables {
                using.fifty_move_rule = fifty_move_rule;
            }
            let score = search(&mut searcher, &board, &limits).0.score;
            let expected = match side {
                _ if fifty_move_rule => 0,
                'w' => TB_WIN,
                _ => -TB_WIN,
            };
            assert_eq!(score, ScoreText::Centipawns(expected), "{fen} {fifty_move_rule}");
        }
    }
}

#[test]
fn windows_are_around_what_the_search_finds_and_not_around_what_the_tables_say() {
    let tables = Arc::new(read(&small()));
    // The tables say at once that these are won, which the search is not to take for its own score: then no
    // window could fail.
    for fen in ["4k3/8/8/4PK2/8/8/8/8 w - - 0 1", "8/8/8/3k4/8/8/4K3/R7 w - - 0 1"] {
        let mut searcher = Searcher::new(Style::Cairn, 1).expect("memory");
        let board = Board::from_fen(fen).expect(fen);
        let limits = Limits { depth: Some(9), nodes: None, ..limits(&tables, 0) };
        let mut failed = 0;
        searcher.search(&board, &limits, &Control::new(), &mut |report| {
            assert!(report.by_tables, "{report:?}");
            assert_eq!(report.score, ScoreText::Centipawns(TB_WIN));
            failed += u32::from(report.bound != Bound::Exact);
            Verdict::Continue
        });
        assert!(failed > 0, "{fen}");
    }
}

#[test]
fn deterministic_threads_find_the_same_with_tables() {
    let tables = Arc::new(read(&small()));
    for fen in [
        "8/8/8/8/8/6k1/1r6/RK6 w - - 0 1",
        "8/8/1p1k4/8/1P2K3/8/8/8 w - - 0 1",
        "8/8/8/3k4/8/8/4K3/R7 w - - 0 1",
        "6k1/5p2/8/8/8/8/1P6/R5K1 w - - 0 1",
    ] {
        let board = Board::from_fen(fen).expect(fen);
        let session = || {
            let mut searcher = Searcher::new(Style::Cairn, 2).expect("memory");
            searcher.set_threads(3, true).expect("memory");
            let mut lines = Vec::new();
            for nodes in [20_000, 60_000] {
                let control = Control::new();
                let outcome =
                    searcher.search(&board, &limits(&tables, nodes), &control, &mut |report| {
                        lines.push(format!("{report:?}"));
                        Verdict::Continue
                    });
                lines.push(format!("{outcome:?} {}", control.table_hits()));
            }
            lines
        };
        let first = session();
        assert!(first.iter().any(|line| !line.contains("table_hits: Some(0)")), "{fen}");
        assert_eq!(first, session(), "{fen}");
    }
}

#[test]
fn a_damaged_value_leaves_the_rest_of_its_file_usable() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let sound = read(&small());
    let answers = |tables: &Tables, boards: &mut dyn Iterator<Item = &Board>| -> Vec<_> {
        boards.map(|board| tables.probe_wdl(&mut board.clone())).collect()
    };
    let mut in_part = 0;
    for name in ["KBvK.rtbw", "KNvK.rtbw"] {
        let mut boards = Vec::new();
        while boards.len() < 100 {
            boards.extend(random_position(&letters(name, false), &mut random).map(|(_, b)| b));
        }
        let right = answers(&sound, &mut boards.iter());
        let bytes = fs::read(small().join(name)).expect("a file");
        for at in 4..bytes.len() {
            let harmed = || {
                let mut bytes = bytes.clone();
                bytes[at] ^= 0x55;
                let mut tables = Tables::new();
                tables.add(name, Box::new(bytes)).map(|_| tables)
            };
            let (Ok(forth), Ok(back)) = (harmed(), harmed()) else { continue };
            let there = answers(&forth, &mut boards.iter());
            let mut again = answers(&back, &mut boards.iter().rev());
            again.reverse();
            assert_eq!(there, again, "{name} {at}: it matters what was asked before");
            let faults = there.iter().filter(|answer| **answer == Err(ProbeError::Damaged)).count();
            if (1..boards.len()).contains(&faults) {
                let same = there.iter().zip(&right).filter(|(found, right)| found == right);
                assert_eq!(same.count() + faults, boards.len(), "{name} {at}");
                assert_eq!(forth.complaints().len(), 1, "{name} {at}");
                in_part += 1;
            }
        }
    }
    assert!(in_part > 1, "{in_part}");
}
