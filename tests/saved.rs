//! Saved work: what was learnt comes back to the last bit, and what is wrong is refused before anything is replaced.

use cairn_engine::board::Board;
use cairn_engine::search::saved::{SavedError, SavedRefusal, identity_of};
use cairn_engine::search::{Control, Limits, Searcher, Style, Verdict};
use std::convert::Infallible;

const FENS: [&str; 3] = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2PP1N2/PP3PPP/RNBQ1RK1 w - - 0 7",
    "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1",
];

fn searcher(mebibytes: usize, threads: usize, deterministic: bool) -> Searcher {
    let mut searcher = Searcher::new(Style::Cairn, mebibytes).unwrap();
    searcher.set_threads(threads, deterministic).unwrap();
    searcher
}

/// All that is told of a search: its lines, and how it ended.
fn search(searcher: &mut Searcher, fen: &str, nodes: u64) -> String {
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    let mut told = String::new();
    let sink = &mut |report: &cairn_engine::search::Report<'_>| {
        told += &format!("{report:?}\n");
        Verdict::Continue
    };
    let board = Board::from_fen(fen).unwrap();
    let outcome = searcher.search(&board, &limits, &Control::new(), sink);
    format!("{told}{outcome:?}")
}

fn save(searcher: &Searcher) -> (u64, Vec<u8>) {
    let mut bytes = Vec::new();
    let put = &mut |piece: &[u8]| {
        bytes.extend(piece);
        Ok::<(), Infallible>(())
    };
    let number = searcher.save(put).expect("something was learnt");
    (number, bytes)
}

/// Hands out these bytes; an error where there are no more.
fn reader(mut bytes: &[u8]) -> impl FnMut(&mut [u8]) -> Result<(), ()> + '_ {
    move |place| {
        let (next, rest) = bytes.split_at_checked(place.len()).ok_or(())?;
        place.copy_from_slice(next);
        bytes = rest;
        Ok(())
    }
}

/// Loads as a front-end does: everything is checked first.
fn load(searcher: &mut Searcher, bytes: &[u8]) -> Result<u64, SavedError<()>> {
    let checked = searcher.check_saved(&mut reader(bytes))?;
    searcher.load(checked, &mut reader(bytes))?;
    Ok(checked)
}

/// Why it is refused; nothing if it is cut off.
fn refusal(searcher: &Searcher, bytes: &[u8]) -> Option<SavedRefusal> {
    match searcher.check_saved(&mut reader(bytes)) {
        Err(SavedError::Refused(refusal)) => Some(refusal),
        Err(SavedError::Stream(())) => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_search_goes_on_as_if_nothing_had_happened() {
    for (threads, deterministic) in [(1, false), (1, true), (2, true), (3, true)] {
        let mut first = searcher(3, threads, deterministic);
        for fen in FENS {
            search(&mut first, fen, 60_000);
        }
        let (number, bytes) = save(&first);
        assert_eq!(identity_of(&mut reader(&bytes)).unwrap(), number);
        let mut second = searcher(3, threads, deterministic);
        assert_ne!(save(&second).0, number);
        // What it has learnt before is gone.
        search(&mut second, FENS[2], 20_000);
        assert_eq!(load(&mut second, &bytes).unwrap(), number);
        assert!(save(&second) == (number, bytes), "{threads} threads");
        for fen in FENS {
            let [one, other] = [&mut first, &mut second].map(|it| search(it, fen, 60_000));
            assert_eq!(one, other, "{threads} threads");
        }
        assert_eq!(save(&first).0, save(&second).0);
        let fresh = search(&mut searcher(3, threads, deterministic), FENS[0], 60_000);
        assert_ne!(fresh, search(&mut first, FENS[0], 60_000), "something was learnt");
    }
}

#[test]
fn free_threads_take_back_what_each_has_learnt() {
    let mut first = searcher(1, 3, false);
    search(&mut first, FENS[0], 60_000);
    let (number, bytes) = save(&first);
    let mut second = searcher(1, 3, false);
    load(&mut second, &bytes).unwrap();
    assert!(save(&second) == (number, bytes));
}

#[test]
fn other_sizes_threads_and_networks_are_refused_by_name() {
    let mut of_two = searcher(2, 2, true);
    search(&mut of_two, FENS[0], 30_000);
    let (_, bytes) = save(&of_two);
    let threads = |number, deterministic| Some(SavedRefusal::Threads { number, deterministic });
    assert_eq!(refusal(&searcher(4, 2, true), &bytes), Some(SavedRefusal::Hash(2)));
    for (number, deterministic) in [(1, false), (2, false), (3, true)] {
        let other = searcher(2, number, deterministic);
        assert_eq!(refusal(&other, &bytes), threads(2, true), "{number} {deterministic}");
    }
    let (_, alone) = save(&searcher(2, 1, true));
    assert_eq!(refusal(&of_two, &alone), threads(1, false));
    assert_eq!(refusal(&searcher(2, 4, false), &alone), threads(1, false));
    let mut tapered = Searcher::with_network(Style::Cairn, 2, None).unwrap();
    let (_, without) = save(&tapered);
    assert_eq!(refusal(&searcher(2, 1, false), &without), Some(SavedRefusal::Network(0)));
    assert!(matches!(refusal(&tapered, &alone), Some(SavedRefusal::Network(1..))));
    load(&mut tapered, &without).unwrap();
    let micromax = Searcher::new(Style::MicroMax, 2).unwrap();
    assert_eq!(refusal(&micromax, &alone), Some(SavedRefusal::Style));
    let saved = micromax.save::<()>(&mut |_| panic!("a piece"));
    assert!(matches!(saved, Err(SavedError::Refused(SavedRefusal::Style))));
}

/// A checksum in the place of the last four bytes.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 4;
    // CRC-32 as everybody has it, bit by bit.
    let crc = bytes[80..end].iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    });
    bytes[end..].copy_from_slice(&(!crc).to_le_bytes());
    bytes
}

#[test]
fn damage_is_found_wherever_it_is_and_changes_nothing() {
    let mut searcher = searcher(1, 1, false);
    search(&mut searcher, FENS[0], 30_000);
    let (number, bytes) = save(&searcher);
    for (at, expected) in [(0, SavedRefusal::Foreign), (7, SavedRefusal::Version)] {
        let mut wrong = bytes.clone();
        wrong[at] ^= 1;
        assert_eq!(refusal(&searcher, &wrong), Some(expected));
    }
    let mut state = 1u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let places = (8..90).chain([bytes.len() - 1, bytes.len() - 5, (1 << 20) + 80, (1 << 20) + 87]);
    let places: Vec<usize> = places.chain((0..60).map(|_| random(bytes.len() - 8) + 8)).collect();
    for at in places {
        let mut wrong = bytes.clone();
        wrong[at] ^= 1 << random(8);
        assert_eq!(refusal(&searcher, &wrong), Some(SavedRefusal::Damaged), "byte {at}");
    }
    for length in [0, 1, 7, 8, 79, 80, 81, 5000, bytes.len() - 5, bytes.len() - 1] {
        assert_eq!(refusal(&searcher, &bytes[..length]), None, "{length} bytes");
        assert!(identity_of(&mut reader(&bytes[..length])).is_err());
    }
    // What no search says, under a right checksum: a bound that is none, a score beyond all, a history
    // beyond its bounds, a leader without histories, a flag that is none.
    let flag = 80 + (1 << 20);
    for (at, with) in [
        (80, &[0x80, 0, 0, 0, 0, 0, 0, 0][..]),
        (80, &[0x30, 0, 0, 0, 0, 0, 0, 0]),
        (flag + 8, &[0xff, 0x7f]),
        (bytes.len() - 6, &[0xff, 0x04]),
        (flag, &[0]),
        (flag, &[2]),
    ] {
        let mut wrong = bytes.clone();
        wrong[at..at + with.len()].copy_from_slice(with);
        assert_eq!(refusal(&searcher, &sealed(wrong)), Some(SavedRefusal::Damaged), "{at}");
    }
    assert!(sealed(bytes.clone()) == bytes);
    assert!(save(&searcher) == (number, bytes), "nothing has changed");
}

#[test]
fn work_that_changes_while_it_is_read_leaves_an_empty_table() {
    let mut searcher = searcher(1, 1, false);
    let (_, empty) = save(&searcher);
    search(&mut searcher, FENS[0], 30_000);
    let (number, bytes) = save(&searcher);
    let mut other = bytes.clone();
    other[200] ^= 1;
    for changed in [&other[..], &bytes[..bytes.len() - 1], &bytes[..3], &empty[..]] {
        let error = searcher.load(number, &mut reader(changed)).expect_err("it has changed");
        assert!(matches!(error, SavedError::Changed));
        assert!(save(&searcher).1 == empty);
        load(&mut searcher, &bytes).unwrap();
    }
}
