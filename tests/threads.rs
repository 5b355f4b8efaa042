//! The strong search on several threads: node sums, stopping, mates, lines, and that one thread is what it was.

use cairn_engine::bench::POSITIONS;
use cairn_engine::board::{Board, GameEnd};
use cairn_engine::moves::Move;
use cairn_engine::search::{
    Bound, Control, Limits, Outcome, Report, ScoreText, Searcher, Style, Verdict,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// How long anything may take that should take no time. Tests run on busy machines.
const PATIENCE: Duration = Duration::from_secs(60);

fn searcher(threads: usize) -> Searcher {
    let mut searcher = Searcher::new(Style::Cairn, 4).unwrap();
    searcher.set_threads(threads, false).unwrap();
    searcher
}

/// An exact line: depth, rank, score, nodes, moves.
type Line = (u32, usize, ScoreText, u64, Vec<Move>);

/// Searches, and checks what holds for every search: nodes never fall, and the line of rank 1 that is told last
/// shows the move.
fn search(searcher: &mut Searcher, fen: &str, limits: &Limits) -> (Outcome, Vec<Line>) {
    let board = Board::from_fen(fen).unwrap();
    let control = Control::new();
    let mut lines: Vec<Line> = Vec::new();
    let mut nodes = 0;
    let outcome = searcher.search(&board, limits, &control, &mut |report| {
        assert!(report.nodes >= nodes, "{fen}: nodes fall from {nodes} to {}", report.nodes);
        nodes = report.nodes;
        if report.bound == Bound::Exact {
            let pv = report.pv.to_vec();
            lines.push((report.depth, report.multi_pv, report.score, report.nodes, pv));
        }
        Verdict::Continue
    });
    let is_published = searcher.style() == Style::MicroMax || outcome.nodes == control.nodes();
    assert!(outcome.nodes >= nodes && is_published, "{fen}");
    let best = outcome.best.expect("a move");
    assert!(board.legal_moves().contains(&best), "{fen}");
    if let Some((.., score, _, pv)) = lines.iter().rfind(|line| line.1 == 1) {
        assert_eq!(pv.first(), Some(&best), "{fen}");
        assert_eq!(*score, outcome.score, "{fen}");
        let mut board = board;
        for &mv in pv {
            assert!(board.legal_moves().contains(&mv), "{fen}: {pv:?}");
            board.play(mv);
        }
        if let ScoreText::Mate(moves) = *score {
            let length = if moves > 0 { 2 * moves - 1 } else { -2 * moves };
            assert_eq!(pv.len() as i32, length, "{fen}: {pv:?}");
            assert_eq!(board.outcome(), Some(GameEnd::Checkmate), "{fen}: {pv:?}");
        }
    }
    (outcome, lines)
}

#[test]
fn the_node_limit_is_the_sum_of_all_threads_and_met_exactly() {
    for threads in 1..=4 {
        let mut searcher = searcher(threads);
        for nodes in [1, 2, 100, 1500, 50_000] {
            for fen in POSITIONS.into_iter().take(12) {
                let limits = Limits { nodes: Some(nodes), ..Limits::default() };
                let (outcome, _) = search(&mut searcher, fen, &limits);
                assert_eq!((outcome.nodes, outcome.threads), (nodes, threads), "{fen}");
            }
        }
    }
}

#[test]
fn stop_ends_all_threads() {
    for threads in 1..=4 {
        let mut searcher = searcher(threads);
        let board = Board::from_fen(KIWIPETE).unwrap();
        let control = Control::new();
        let began = Instant::now();
        let outcome = thread::scope(|scope| {
            scope.spawn(|| {
                while control.nodes() < 100_000 {
                    thread::yield_now();
                }
                control.stop();
            });
            searcher.search(&board, &Limits::default(), &control, &mut |_| Verdict::Continue)
        });
        assert!(began.elapsed() < PATIENCE && outcome.nodes >= 100_000);
        assert!(board.legal_moves().contains(&outcome.best.expect("a move")));
    }
}

#[test]
fn the_verdict_ends_all_threads() {
    for threads in [1, 3] {
        let board = Board::startpos();
        let mut searcher = searcher(threads);
        let mut deepest = 0;
        searcher.search(&board, &Limits::default(), &Control::new(), &mut |report| {
            deepest = deepest.max(report.depth);
            if report.depth == 7 { Verdict::Stop } else { Verdict::Continue }
        });
        assert!(deepest >= 7);
    }
}

#[test]
fn a_depth_limit_is_the_leaders() {
    for threads in 2..=4 {
        let (outcome, lines) = search(
            &mut searcher(threads),
            KIWIPETE,
            &Limits { depth: Some(8), ..Limits::default() },
        );
        assert_eq!(outcome.depth, 8);
        let depths: Vec<u32> = lines.iter().map(|line| line.0).collect();
        assert_eq!(depths, (1..=8).collect::<Vec<_>>(), "each iteration is told once");
    }
}

#[test]
fn mates_are_found_and_shown_to_the_end() {
    for (fen, moves, depth) in [
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3, 14),
        ("6k1/pp4p1/2p5/2bp4/8/P5Pb/1P3rrP/2BRRN1K b - - 0 1", 2, 14),
        // By zugzwang.
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2, 30),
        ("7k/8/6K1/8/8/8/8/1R6 b - - 0 1", -1, 14),
    ] {
        for threads in 1..=4 {
            let mut searcher = searcher(threads);
            let limits = Limits { depth: Some(depth), ..Limits::default() };
            for _ in 0..2 {
                assert_eq!(search(&mut searcher, fen, &limits).0.score, ScoreText::Mate(moves));
            }
            if moves > 0 {
                let limits = Limits { mate: Some(moves as u32), ..Limits::default() };
                assert_eq!(search(&mut searcher, fen, &limits).0.score, ScoreText::Mate(moves));
            }
            // Wherever it stops, and whoever's line it is.
            for nodes in [300, 3_000, 30_000] {
                searcher.clear();
                let limits = Limits { nodes: Some(nodes), ..Limits::default() };
                search(&mut searcher, fen, &limits);
            }
        }
    }
}

#[test]
fn lines_come_in_order_and_begin_with_different_moves() {
    for threads in 2..=4 {
        let mut searcher = searcher(threads);
        for fen in POSITIONS.into_iter().take(10) {
            let limits = Limits { multi_pv: 3, depth: Some(7), ..Limits::default() };
            let (_, lines) = search(&mut searcher, fen, &limits);
            let order: Vec<(u32, usize)> = lines.iter().map(|line| (line.0, line.1)).collect();
            let expected: Vec<(u32, usize)> =
                (1..=7).flat_map(|depth| (1..=3).map(move |rank| (depth, rank))).collect();
            assert_eq!(order, expected, "{fen}");
            for lines in lines.chunks(3) {
                assert!(lines.is_sorted_by_key(|line| -line.2.to_score()), "{fen}: {lines:?}");
                let firsts: Vec<Move> = lines.iter().map(|line| line.4[0]).collect();
                assert!(firsts[0] != firsts[1] && firsts[0] != firsts[2] && firsts[1] != firsts[2]);
            }
        }
    }
}

#[test]
fn only_the_asked_moves_are_searched() {
    let board = Board::startpos();
    let asked = ["a2a3", "h2h4"].map(|mv| board.parse_uci(mv).unwrap());
    for threads in 2..=4 {
        let limits =
            Limits { search_moves: asked.to_vec(), nodes: Some(30_000), ..Limits::default() };
        let (outcome, lines) = search(&mut searcher(threads), &board.to_fen(), &limits);
        assert!(asked.contains(&outcome.best.unwrap()));
        assert!(lines.iter().all(|line| asked.contains(&line.4[0])));
    }
}

#[test]
fn one_thread_is_the_same_whatever_was_before() {
    let limits = Limits { depth: Some(9), ..Limits::default() };
    let alone = search(&mut searcher(1), KIWIPETE, &limits);
    let mut searcher = searcher(1);
    for threads in [4, 2, 7, 0, 3, 1] {
        searcher.set_threads(threads, threads == 3).unwrap();
        assert_eq!(searcher.threads(), threads.max(1));
        search(&mut searcher, KIWIPETE, &limits);
    }
    searcher.clear();
    let again = search(&mut searcher, KIWIPETE, &limits);
    assert_eq!((alone.0.nodes, alone.1), (again.0.nodes, again.1));
}

#[test]
fn what_has_to_be_repeatable_has_one_thread() {
    for style in Style::ALL {
        let mut results = Vec::new();
        for threads in [1, 4, 2] {
            let mut searcher = Searcher::new(style, 4).unwrap();
            searcher.set_threads(threads, threads == 2).unwrap();
            let limits =
                Limits { nodes: Some(20_000), quiet_percent: Some(50), ..Limits::default() };
            let (outcome, lines) = search(&mut searcher, KIWIPETE, &limits);
            assert_eq!(outcome.threads, 1);
            results.push((outcome.nodes, outcome.best, lines));
        }
        assert_eq!(results[0], results[1]);
        assert_eq!(results[0], results[2]);
    }
}

#[test]
fn ended_games_have_no_move() {
    for fen in ["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "7k/8/6QK/8/8/8/8/8 b - - 0 1"] {
        let board = Board::from_fen(fen).unwrap();
        let outcome = searcher(3)
            .search(&board, &Limits::default(), &Control::new(), &mut |_| Verdict::Continue);
        assert_eq!((outcome.best, outcome.nodes), (None, 0));
    }
}

#[test]
fn a_sink_that_panics_leaves_no_thread_behind() {
    let board = Board::startpos();
    let mut searcher = searcher(3);
    let began = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        searcher.search(&board, &Limits::default(), &Control::new(), &mut |report| {
            assert!(report.depth < 5, "on purpose");
            Verdict::Continue
        })
    }));
    assert!(outcome.is_err() && began.elapsed() < PATIENCE);
}

/// What a search has told: its nodes, its move and its lines.
type Told = (u64, Option<Move>, Vec<Line>);

/// A session with deterministic threads: searches by nodes, by depth, with several lines and stopped ones, which
/// were stopped at `stops` of the leader's nodes, if that is known. Returns all that was told, and where the leader
/// stopped.
fn session(threads: usize, stops: Option<&[u64]>) -> (Vec<Told>, Vec<u64>) {
    let mut searcher = Searcher::new(Style::Cairn, 4).unwrap();
    assert_eq!(searcher.set_threads(threads, true), Ok(threads > 1));
    let mut told = Vec::new();
    let mut stopped_at = Vec::new();
    for (number, fen) in POSITIONS.into_iter().take(8).enumerate() {
        let limits = Limits { nodes: Some(40_000), ..Limits::default() };
        let (outcome, lines) = search(&mut searcher, fen, &limits);
        assert_eq!(outcome.threads, threads);
        told.push((outcome.nodes, outcome.best, lines));
        let limits = Limits { depth: Some(7), multi_pv: 1 + number % 3, ..Limits::default() };
        let (outcome, lines) = search(&mut searcher, fen, &limits);
        told.push((outcome.nodes, outcome.best, lines));

        let board = Board::from_fen(fen).unwrap();
        let control = Control::new();
        let leader_nodes = stops.map(|stops| stops[number]);
        let limits = Limits { leader_nodes, ..Limits::default() };
        let mut answered = None;
        let outcome = thread::scope(|scope| {
            if leader_nodes.is_none() {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(5 + 9 * number as u64));
                    control.stop();
                });
            }
            let sink = &mut |_: &Report<'_>| Verdict::Continue;
            searcher.search_and_answer(&board, &limits, &control, sink, &mut |outcome| {
                answered = outcome.best;
            })
        });
        assert_eq!(outcome.best, answered);
        told.push((outcome.nodes, outcome.best, Vec::new()));
        stopped_at.push(outcome.leader_nodes.expect("the leader's nodes"));
    }
    (told, stopped_at)
}

#[test]
fn deterministic_threads_find_the_same_every_time() {
    for threads in [1, 2, 3, 5] {
        let (first, stops) = session(threads, None);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            // Others want the processors too.
            for _ in 0..3 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let (again, stopped_at) = session(threads, Some(&stops));
            over.store(true, Ordering::Relaxed);
            assert_eq!(stopped_at, stops, "{threads} threads");
            assert_eq!(again, first, "{threads} threads");
        });
    }
}

#[test]
fn deterministic_threads_learn_from_each_other() {
    let limits = Limits { depth: Some(12), ..Limits::default() };
    let (mut alone, mut together) = (0, 0);
    for fen in POSITIONS.into_iter().take(12) {
        for (threads, sum) in [(1, &mut alone), (4, &mut together)] {
            let mut searcher = Searcher::new(Style::Cairn, 16).unwrap();
            searcher.set_threads(threads, true).unwrap();
            *sum += search(&mut searcher, fen, &limits).0.leader_nodes.expect("the leader's nodes");
        }
    }
    assert!(together < alone, "the leader of four needs {together} nodes, alone {alone}");
}

#[test]
fn the_node_limit_of_deterministic_threads_is_for_the_sum_of_what_is_known() {
    for threads in 2..=4_u64 {
        let mut searcher = searcher(1);
        searcher.set_threads(threads as usize, true).unwrap();
        for nodes in [1, 5_000, 100_000] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let (outcome, _) = search(&mut searcher, KIWIPETE, &limits);
            // A period of each helper comes at once.
            let most = nodes + (threads - 1) * 4096;
            assert!((nodes..=most).contains(&outcome.nodes), "{} of {nodes}", outcome.nodes);
        }
    }
}
