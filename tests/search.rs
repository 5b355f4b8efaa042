//! The strong search from outside: mates, repeatability, limits, lines, draws.

use cairn_engine::bench::POSITIONS;
use cairn_engine::board::{Board, GameEnd};
use cairn_engine::moves::Move;
use cairn_engine::search::{
    Bound, Control, CurrentMove, Limits, Outcome, Report, ScoreText, Searcher, Style, Verdict,
};

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Mates with their length in moves, some by quiet moves, promotions and en passant.
const MATES: [(&str, i32); 8] = [
    ("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", 1),
    ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", 1),
    ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", 1),
    ("6k1/P4ppp/8/8/8/8/8/K7 w - - 0 1", 1),
    ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3),
    ("6k1/pp4p1/2p5/2bp4/8/P5Pb/1P3rrP/2BRRN1K b - - 0 1", 2),
    ("r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq - 0 1", 3),
    ("4k3/8/4K3/8/8/8/8/7R w - - 0 1", 1),
];

/// Depth, number, score and moves of a line.
type Reported = (u32, usize, ScoreText, Vec<Move>);

fn search_with(searcher: &mut Searcher, fen: &str, limits: &Limits) -> (Outcome, Vec<Reported>) {
    let board = Board::from_fen(fen).unwrap();
    let mut reports = Vec::new();
    let outcome = searcher.search(&board, limits, &Control::new(), &mut |report: &Report<'_>| {
        if report.bound == Bound::Exact {
            reports.push((report.depth, report.multi_pv, report.score, report.pv.to_vec()));
        }
        Verdict::Continue
    });
    (outcome, reports)
}

fn new() -> Searcher {
    Searcher::new(Style::Cairn, 4).unwrap()
}

fn depth(depth: u32) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

/// A mate's line has its announced length and ends in mate.
fn check_mate_line(fen: &str, moves: i32, line: &[Move]) {
    let mut board = Board::from_fen(fen).unwrap();
    let expected = if moves > 0 { 2 * moves - 1 } else { -2 * moves };
    assert_eq!(line.len() as i32, expected, "{fen} {line:?}");
    for &mv in line {
        assert!(board.legal_moves().contains(&mv), "{fen} {line:?}");
        board.play(mv);
    }
    assert_eq!(board.outcome(), Some(GameEnd::Checkmate), "{fen} {line:?}");
}

#[test]
fn mates_are_announced_with_their_length_and_shown_to_the_end() {
    for (fen, moves) in MATES {
        let mut searcher = new();
        for round in 0..2 {
            let (outcome, reports) = search_with(&mut searcher, fen, &depth(14));
            assert_eq!(outcome.score, ScoreText::Mate(moves), "{fen}, round {round}");
            let (.., score, line) = reports.last().unwrap();
            assert_eq!(*score, ScoreText::Mate(moves));
            check_mate_line(fen, moves, line);
        }
    }
}

#[test]
fn mates_out_of_the_table_keep_their_length() {
    // Entries have no half-moves from the root: the same ones serve a mate that is nearer now.
    let (mut nodes_warm, mut nodes_fresh) = (0, 0);
    for (fen, moves) in MATES.into_iter().filter(|&(_, moves)| moves > 1) {
        let mut searcher = new();
        let line = search_with(&mut searcher, fen, &depth(14)).1.pop().unwrap().3;
        assert_eq!(line.len() as i32, 2 * moves - 1, "{fen}");
        let mut board = Board::from_fen(fen).unwrap();
        for (played, &mv) in line.iter().enumerate() {
            let left = (line.len() - played) as i32;
            let expected = if left % 2 == 1 { left / 2 + 1 } else { -left / 2 };
            for (searcher, nodes) in
                [(&mut searcher, &mut nodes_warm), (&mut new(), &mut nodes_fresh)]
            {
                let (outcome, _) = search_with(searcher, &board.to_fen(), &depth(14));
                assert_eq!(outcome.score, ScoreText::Mate(expected), "{fen} after {played}");
                *nodes += outcome.nodes;
            }
            board.play(mv);
        }
    }
    assert!(3 * nodes_warm < 2 * nodes_fresh, "{nodes_warm} of {nodes_fresh}: of no use");
}

#[test]
fn quiescence_knows_mate() {
    // At depth 1 the reply is left to it.
    for (fen, moves) in MATES.into_iter().filter(|&(_, moves)| moves == 1) {
        let (outcome, reports) = search_with(&mut new(), fen, &depth(1));
        assert_eq!(outcome.score, ScoreText::Mate(1), "{fen}");
        check_mate_line(fen, moves, &reports.last().unwrap().3);
    }
}

#[test]
fn mates_are_shown_to_the_end_wherever_a_search_stops() {
    for (fen, _) in MATES {
        let mut nodes = 20;
        while nodes < 100_000 {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            for (.., score, line) in search_with(&mut new(), fen, &limits).1 {
                if let ScoreText::Mate(moves) = score {
                    check_mate_line(fen, moves, &line);
                }
            }
            nodes += nodes / 8;
        }
    }
}

#[test]
fn zugzwang_does_not_hide_a_mate() {
    // Passing would save black: the null move has to be doubted.
    let fen = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1";
    let (outcome, reports) = search_with(&mut new(), fen, &depth(30));
    assert_eq!(outcome.score, ScoreText::Mate(2));
    check_mate_line(fen, 2, &reports.last().unwrap().3);
}

#[test]
fn the_losing_side_sees_the_mate_too() {
    // Black must move and is mated next move, whatever it does.
    let fen = "7k/8/6K1/8/8/8/8/1R6 b - - 0 1";
    let (outcome, reports) = search_with(&mut new(), fen, &depth(8));
    assert_eq!(outcome.score, ScoreText::Mate(-1));
    check_mate_line(fen, -1, &reports.last().unwrap().3);
}

#[test]
fn ended_games_have_a_score_and_no_move() {
    for (fen, score) in [
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", ScoreText::Mate(0)),
        ("7k/8/6QK/8/8/8/8/8 b - - 0 1", ScoreText::Centipawns(0)),
    ] {
        for style in Style::ALL {
            let mut searcher = Searcher::new(style, 1).unwrap();
            let (outcome, _) = search_with(&mut searcher, fen, &depth(5));
            assert_eq!((outcome.best, outcome.score), (None, score), "{fen} {style}");
        }
    }
}

#[test]
fn the_same_search_finds_the_same() {
    let mut searcher = new();
    let limits = Limits { nodes: Some(100_000), ..Limits::default() };
    let first = search_with(&mut searcher, KIWIPETE, &limits);
    assert_eq!(first.0.nodes, 100_000, "a node limit is met exactly");
    searcher.clear();
    let again = search_with(&mut searcher, KIWIPETE, &limits);
    assert_eq!(
        (first.0.best, first.0.score, first.0.nodes),
        (again.0.best, again.0.score, again.0.nodes)
    );
    assert_eq!(first.1, again.1);
}

#[test]
fn a_stopped_search_can_be_repeated_by_its_node_count() {
    let board = Board::from_fen(KIWIPETE).unwrap();
    for stop_after in [1_u64, 5_000, 30_000, 120_000] {
        let mut searcher = new();
        let control = Control::new();
        let stopped = searcher.search(&board, &Limits::default(), &control, &mut |report| {
            // The flag is seen somewhere within the next iteration.
            if report.nodes >= stop_after {
                control.stop();
            }
            Verdict::Continue
        });
        searcher.clear();
        let limits = Limits { nodes: Some(stopped.nodes), ..Limits::default() };
        let (repeated, _) = search_with(&mut searcher, KIWIPETE, &limits);
        assert_eq!(
            (repeated.best, repeated.ponder, repeated.score, repeated.nodes),
            (stopped.best, stopped.ponder, stopped.score, stopped.nodes)
        );
    }
}

#[test]
fn the_verdict_ends_the_search_between_iterations() {
    let board = Board::startpos();
    let outcome = new().search(&board, &Limits::default(), &Control::new(), &mut |report| {
        if report.depth == 6 { Verdict::Stop } else { Verdict::Continue }
    });
    assert_eq!(outcome.depth, 6);
}

#[test]
fn bounds_are_told_of_and_change_nothing() {
    let board = Board::from_fen(KIWIPETE).unwrap();
    let limits = depth(12);
    let mut bounds = Vec::new();
    let mut last = None;
    let outcome = new().search(&board, &limits, &Control::new(), &mut |report| {
        last = Some(report.bound);
        if report.bound == Bound::Exact {
            return Verdict::Continue;
        }
        bounds.push(report.bound);
        Verdict::Stop
    });
    assert!(bounds.contains(&Bound::Lower) && bounds.contains(&Bound::Upper), "{bounds:?}");
    assert_eq!((outcome.depth, last), (12, Some(Bound::Exact)));
    let (undisturbed, _) = search_with(&mut new(), KIWIPETE, &limits);
    assert_eq!((undisturbed.best, undisturbed.nodes), (outcome.best, outcome.nodes));
}

#[test]
fn the_root_move_under_way_is_published() {
    let board = Board::startpos();
    let asked = board.parse_uci("b1c3").unwrap();
    let limits = Limits { search_moves: vec![asked], ..depth(5) };
    let control = Control::new();
    assert_eq!((control.iteration(), control.current_move()), (0, None));
    new().search(&board, &limits, &control, &mut |report| {
        assert_eq!(control.iteration(), report.depth);
        let current = CurrentMove { iteration: report.depth, mv: asked, number: 1 };
        assert_eq!(control.current_move(), Some(current));
        Verdict::Continue
    });
}

#[test]
fn limited_attention_sees_less_and_always_the_same() {
    let with = |quiet_percent| {
        let limits = Limits { quiet_percent, ..depth(9) };
        let (outcome, reports) = search_with(&mut new(), KIWIPETE, &limits);
        (outcome.nodes, outcome.best, reports)
    };
    let all = with(None);
    assert_eq!(with(Some(100)), all, "who sees everything is not limited");
    let half = with(Some(50));
    assert_ne!(half.0, all.0);
    assert_eq!(with(Some(50)), half);
    // Nothing quiet below the root. One position may still take more nodes, as its scores change; all take fewer.
    let nodes = |quiet_percent| -> u64 {
        let limits = Limits { quiet_percent, ..depth(9) };
        POSITIONS.iter().map(|fen| search_with(&mut new(), fen, &limits).0.nodes).sum()
    };
    let (nothing, everything) = (nodes(Some(0)), nodes(None));
    assert!(nothing < everything * 4 / 5, "{nothing} of {everything}");
    // No move of the root is dropped, and no mate is seen that is none.
    let limits = Limits { quiet_percent: Some(0), multi_pv: 100, ..depth(3) };
    let (_, reports) = search_with(&mut new(), KIWIPETE, &limits);
    assert_eq!(reports.len(), 3 * Board::from_fen(KIWIPETE).unwrap().legal_moves().len());
    for (fen, moves) in MATES {
        let limits = Limits { quiet_percent: Some(0), ..depth(8) };
        let (outcome, _) = search_with(&mut new(), fen, &limits);
        let is_right = match outcome.score {
            ScoreText::Mate(found) => found == moves,
            ScoreText::Centipawns(_) => true,
        };
        assert!(is_right, "{fen}: {}", outcome.score);
    }
}

#[test]
fn lines_come_in_order_and_begin_with_different_moves() {
    let limits = Limits { multi_pv: 4, ..depth(7) };
    let (_, reports) = search_with(&mut new(), KIWIPETE, &limits);
    let order: Vec<(u32, usize)> = reports.iter().map(|report| (report.0, report.1)).collect();
    let expected: Vec<(u32, usize)> =
        (1..=7).flat_map(|depth| (1..=4).map(move |line| (depth, line))).collect();
    assert_eq!(order, expected);
    // From here later lines turn out better than earlier ones.
    let (_, from_start) = search_with(&mut new(), START, &Limits { multi_pv: 4, ..depth(9) });
    for lines in reports.chunks(4).chain(from_start.chunks(4)) {
        assert!(lines.is_sorted_by_key(|line| -line.2.to_score()), "{lines:?}");
        let mut firsts: Vec<u16> = lines.iter().map(|line| line.3[0].raw()).collect();
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), 4, "{lines:?}");
    }
    // More lines than moves: as many as there are.
    let limits = Limits { multi_pv: 9, ..depth(3) };
    let (_, reports) = search_with(&mut new(), "7k/8/8/8/8/8/8/K7 w - - 0 1", &limits);
    assert_eq!(reports.len(), 3 * 3);
}

/// A line: depth, score, moves.
type Line = (u32, ScoreText, Vec<Move>);

/// The lines of a search that were told last, by rank, and its best move. The stop flag is set after the
/// first iteration if `stops` is.
fn last_lines(style: Style, fen: &str, limits: &Limits, stops: bool) -> (Vec<Line>, Option<Move>) {
    let board = Board::from_fen(fen).unwrap();
    let control = Control::new();
    let mut lines: Vec<Line> = Vec::new();
    let mut nodes = 0;
    let mut searcher = Searcher::new(style, 4).unwrap();
    let outcome = searcher.search(&board, limits, &control, &mut |report| {
        if stops && report.depth >= 2 {
            control.stop();
        }
        assert!(report.nodes >= nodes, "{fen}: nodes fall from {nodes} to {}", report.nodes);
        nodes = report.nodes;
        if report.bound == Bound::Exact {
            lines.resize_with(lines.len().max(report.multi_pv), || (0, report.score, Vec::new()));
            lines[report.multi_pv - 1] = (report.depth, report.score, report.pv.to_vec());
        }
        Verdict::Continue
    });
    (lines, outcome.best)
}

#[test]
fn the_lines_told_last_are_one_each_rank_and_in_order() {
    const LINES: usize = 5;
    let mut of_two_depths = [0; 2];
    let mut check = |style: Style, fen: &str, limits: &Limits, stops: bool| {
        let (lines, best) = last_lines(style, fen, limits, stops);
        let board = Board::from_fen(fen).unwrap();
        let about = format!("{style} {fen} {:?}: {lines:?}", limits.nodes);
        assert_eq!(lines.len(), LINES.min(board.legal_moves().len()), "{about}");
        assert!(lines.is_sorted_by_key(|line| -line.1.to_score()), "{about}");
        let mut firsts: Vec<Option<u16>> =
            lines.iter().map(|line| line.2.first().map(|mv| mv.raw())).collect();
        assert!(firsts[0].is_none() || firsts[0] == best.map(Move::raw), "{about}");
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), lines.len(), "{about}");
        of_two_depths[style as usize] += usize::from(lines[0].0 != lines[LINES - 1].0);
    };
    let fens = POSITIONS.into_iter().filter(|fen| {
        let board = Board::from_fen(fen).unwrap();
        board.legal_moves().len() >= LINES
    });
    for fen in fens.chain(["nbqnbrkr/pppppppp/8/8/8/8/PPPPPPPP/NBQNBRKR w KQkq - 0 1"]) {
        for nodes in [20, 100, 333, 1000, 2000, 5000] {
            let limits = Limits { nodes: Some(nodes), multi_pv: LINES, ..Limits::default() };
            check(Style::Cairn, fen, &limits, false);
        }
        let limits = Limits { multi_pv: LINES, ..depth(7) };
        check(Style::Cairn, fen, &limits, true);
        check(Style::MicroMax, fen, &limits, true);
        check(Style::MicroMax, fen, &Limits { depth: Some(4), ..limits }, false);
    }
    assert!(of_two_depths.iter().all(|&number| number > 0), "{of_two_depths:?}");
}

#[test]
fn only_the_asked_moves_are_searched() {
    let board = Board::startpos();
    let asked = ["a2a3", "h2h4"].map(|mv| board.parse_uci(mv).unwrap());
    let limits = Limits { search_moves: asked.to_vec(), ..depth(6) };
    let (outcome, reports) = search_with(&mut new(), &board.to_fen(), &limits);
    assert!(asked.contains(&outcome.best.unwrap()));
    assert!(reports.iter().all(|report| asked.contains(&report.3[0])));
}

#[test]
fn a_mate_search_ends_with_its_mate() {
    let limits = Limits { mate: Some(3), ..Limits::default() };
    let (outcome, _) = search_with(&mut new(), "r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", &limits);
    assert_eq!(outcome.score, ScoreText::Mate(3));
    // With proof: no iteration after the one that finds it.
    assert!(outcome.depth <= 10 && outcome.nodes < 20_000, "{outcome:?}");
}

#[test]
fn mate_on_the_last_half_move_goes_before_the_draw() {
    let mate = |moves, clock| {
        let fen = match moves {
            1 => format!("6k1/5ppp/8/8/8/8/8/K3R3 w - - {clock} 80"),
            _ => format!("4k3/8/8/8/8/8/R7/1R4K1 w - - {clock} 80"),
        };
        search_with(&mut new(), &fen, &depth(10)).0.score
    };
    assert_eq!(mate(1, 99), ScoreText::Mate(1));
    assert_eq!(mate(2, 97), ScoreText::Mate(2));
    // A half-move too late.
    assert!(matches!(mate(2, 98), ScoreText::Centipawns(-8..=8)));
}

#[test]
fn a_won_position_is_not_repeated_and_a_lost_one_is() {
    // White is a queen up and has been here twice: going back would be the third time.
    let mut board = Board::from_fen("6k1/5ppp/8/8/8/8/5PPP/3Q2K1 w - - 0 1").unwrap();
    for mv in ["d1d2", "g8f8", "d2d1", "f8g8", "d1d2", "g8f8"] {
        board.play(board.parse_uci(mv).unwrap());
    }
    let outcome = new().search(&board, &depth(8), &Control::new(), &mut |_| Verdict::Continue);
    board.play(outcome.best.unwrap());
    assert!(board.repetitions() < 2, "{:?}", outcome.best);
    assert!(matches!(outcome.score, ScoreText::Centipawns(300..) | ScoreText::Mate(1..)));

    // A queen down, with a perpetual check at hand.
    let fen = "6k1/6p1/8/6PQ/8/1q6/r7/6K1 w - - 0 1";
    let (outcome, _) = search_with(&mut new(), fen, &depth(12));
    // The draw is a gain, and gains that are put off lose a point each move.
    assert!(matches!(outcome.score, ScoreText::Centipawns(-8..=0)), "{:?}", outcome.score);
}
