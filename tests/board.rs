//! The board and its generators against an independent crate, and against themselves recomputed.

mod perft_file;

use cairn_engine::board::{Board, GameEnd, Observer};
use cairn_engine::movegen;
use cairn_engine::moves::{Move, MoveList};
use cairn_engine::perft::{divide, perft};
use cairn_engine::piece::{Kind, Piece, Side};
use cairn_engine::square::Square;
use perft_file::{PerftCounts, perft_counts};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::sync::atomic::AtomicBool;

/// Well-known positions with their perft counts, depth 1 first.
/// Source: <https://www.chessprogramming.org/Perft_Results>.
const KNOWN: [(&str, &[u64]); 6] = [
    (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        &[20, 400, 8_902, 197_281, 4_865_609],
    ),
    (
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        &[48, 2_039, 97_862, 4_085_603],
    ),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", &[14, 191, 2_812, 43_238, 674_624]),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", &[6, 264, 9_467, 422_333]),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", &[44, 1_486, 62_379, 2_103_487]),
    (
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        &[46, 2_079, 89_890, 3_894_594],
    ),
];

#[test]
fn known_perft_counts() {
    for (fen, counts) in KNOWN {
        let mut board = Board::from_fen(fen).unwrap();
        for (depth, &count) in (1..).zip(counts) {
            assert_eq!(perft(&mut board, depth), count, "{fen} depth {depth}");
            let divided = divide(&board, depth, 2, &AtomicBool::new(false)).unwrap();
            assert_eq!(divided.iter().map(|&(_, nodes)| nodes).sum::<u64>(), count);
        }
        assert!(divide(&board, 3, 2, &AtomicBool::new(true)).is_none(), "a set flag stops it");
    }
}

/// Where a made move is, as its observer sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Pushed,
    Vanished,
    Appeared,
    Finished,
}

/// Follows the board through an observer only.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Mirror {
    squares: Vec<Option<Piece>>,
    stack: Vec<Vec<Option<Piece>>>,
    step: Step,
    /// How many moves were finished.
    finished: usize,
}

impl Mirror {
    fn of(board: &Board) -> Mirror {
        let mut squares = vec![None; 128];
        for square in Square::all() {
            squares[square.index()] = board.piece_on(square);
        }
        Mirror { squares, stack: Vec::new(), step: Step::Finished, finished: 0 }
    }

    fn shows(&self, board: &Board) -> bool {
        Square::all().all(|square| self.squares[square.index()] == board.piece_on(square))
    }
}

impl Observer for Mirror {
    fn push(&mut self, board: &Board, mv: Move) {
        assert_eq!(self.step, Step::Finished, "the move before is finished");
        assert!(self.shows(board), "push comes before any change");
        assert!(board.legal_moves().contains(&mv));
        self.stack.push(self.squares.clone());
        self.step = Step::Pushed;
    }

    fn vanish(&mut self, piece: Piece, square: Square) {
        assert!(
            matches!(self.step, Step::Pushed | Step::Vanished),
            "all vanishings come before any appearance"
        );
        self.step = Step::Vanished;
        assert_eq!(self.squares[square.index()].take(), Some(piece));
    }

    fn appear(&mut self, piece: Piece, square: Square) {
        assert!(matches!(self.step, Step::Vanished | Step::Appeared));
        self.step = Step::Appeared;
        assert_eq!(self.squares[square.index()].replace(piece), None);
    }

    fn finish_move(&mut self, board: &Board) {
        assert_eq!(self.step, Step::Appeared, "once, after all appearances");
        self.step = Step::Finished;
        self.finished += 1;
        assert!(self.shows(board), "the board after the move");
        assert!(board.is_ok(), "nothing of the move is left to do: {}", board.to_fen());
    }

    fn pop(&mut self) {
        assert_eq!(self.step, Step::Finished);
        self.squares = self.stack.pop().expect("a push for every pop");
    }
}

/// The start position with this Chess960 number, from the other crate; 518 is the orthodox one.
fn chess960_start(number: u32) -> (Board, cozy_chess::Board) {
    let theirs = cozy_chess::Board::chess960_startpos(number);
    let ours = Board::from_fen(&format!("{theirs:#}")).unwrap();
    (ours, theirs)
}

fn to_cozy(mv: Move, board: &Board) -> cozy_chess::Move {
    let square = |square: Square| square.to_string().parse().unwrap();
    let promotion = board.is_promotion(mv).then(|| match mv.promotion_kind() {
        Kind::Knight => cozy_chess::Piece::Knight,
        Kind::Bishop => cozy_chess::Piece::Bishop,
        Kind::Rook => cozy_chess::Piece::Rook,
        _ => cozy_chess::Piece::Queen,
    });
    cozy_chess::Move { from: square(mv.from()), to: square(mv.to()), promotion }
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

fn same_moves(ours: &Board, theirs: &cozy_chess::Board) {
    let mut expected = Vec::new();
    theirs.generate_moves(|moves| {
        expected.extend(moves.into_iter().map(|mv| mv.to_string()));
        false
    });
    let found: Vec<String> =
        ours.legal_moves().iter().map(|&mv| to_cozy(mv, ours).to_string()).collect();
    assert_eq!(sorted(found), sorted(expected), "{}", ours.to_fen());
}

/// Squares that are in check, and how the game stands.
fn same_state(ours: &Board, theirs: &cozy_chess::Board) {
    let checkers: Vec<String> = ours.checkers().map(|square| square.to_string()).collect();
    let expected: Vec<String> = theirs.checkers().into_iter().map(|s| s.to_string()).collect();
    assert_eq!(sorted(checkers), sorted(expected), "{}", ours.to_fen());
    let ended = match ours.outcome() {
        Some(GameEnd::Checkmate) => cozy_chess::GameStatus::Won,
        Some(GameEnd::Stalemate | GameEnd::FiftyMoves) => cozy_chess::GameStatus::Drawn,
        // The other crate knows neither of the remaining two.
        Some(GameEnd::Repetition | GameEnd::InsufficientMaterial) | None
            if ours.halfmove_clock() >= 100 =>
        {
            cozy_chess::GameStatus::Drawn
        }
        _ => cozy_chess::GameStatus::Ongoing,
    };
    assert_eq!(ended, theirs.status(), "{}", ours.to_fen());
}

fn cozy_perft(board: &cozy_chess::Board, depth: u32) -> u64 {
    let mut nodes = 0;
    board.generate_moves(|moves| {
        for mv in moves {
            let mut child = board.clone();
            child.play_unchecked(mv);
            nodes += if depth == 1 { 1 } else { cozy_perft(&child, depth - 1) };
        }
        false
    });
    nodes
}

/// Plays random games, orthodox and Chess960 in turn, and shows each position to `look`.
fn random_walks(
    seed: u64,
    positions: usize,
    mut look: impl FnMut(usize, &mut Board, &cozy_chess::Board),
) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut seen = 0;
    while seen < positions {
        let number = if random.next_u64() % 2 == 0 { 518 } else { random.next_u64() % 960 };
        let (mut ours, mut theirs) = chess960_start(number as u32);
        for _ in 0..200 {
            look(seen, &mut ours, &theirs);
            seen += 1;
            let moves = ours.legal_moves();
            if moves.is_empty() || theirs.status() != cozy_chess::GameStatus::Ongoing {
                break;
            }
            let mv = moves[random.next_u64() as usize % moves.len()];
            theirs.play(to_cozy(mv, &ours));
            ours.play(mv);
        }
    }
}

#[test]
fn random_positions_agree_with_another_crate() {
    random_walks(1, 120_000, |number, ours, theirs| {
        same_moves(ours, theirs);
        same_state(ours, theirs);
        if number % 50 == 0 {
            assert_eq!(perft(ours, 3), cozy_perft(theirs, 3), "{}", ours.to_fen());
        }
    });
}

/// How many promotions and en-passant captures there are within `depth` plies.
fn special_moves(board: &mut Board, depth: u32) -> [u64; 2] {
    let mut counts = [0; 2];
    if depth == 0 {
        return counts;
    }
    for mv in board.legal_moves() {
        counts[0] += u64::from(board.is_promotion(mv));
        counts[1] += u64::from(board.is_en_passant(mv));
        board.play(mv);
        let below = special_moves(board, depth - 1);
        board.unmake(&mut ());
        counts = [counts[0] + below[0], counts[1] + below[1]];
    }
    counts
}

#[test]
fn positions_rich_in_promotions_and_en_passant_have_their_counts() {
    let (mut promotions, mut en_passants) = (0, 0);
    for PerftCounts { fen, counts } in perft_counts() {
        let mut board = Board::from_fen(fen).unwrap();
        let theirs = cozy_chess::Board::from_fen(fen, true).unwrap();
        for (depth, count) in (1..).zip(counts) {
            assert_eq!(perft(&mut board, depth), count, "{fen} depth {depth}");
            if depth <= 3 {
                assert_eq!(cozy_perft(&theirs, depth), count, "{fen} depth {depth}");
            }
        }
        let [promoting, en_passant] = special_moves(&mut board, 3);
        assert!(promoting + en_passant > 0, "{fen}");
        promotions += promoting;
        en_passants += en_passant;
    }
    assert!(promotions > 50_000 && en_passants > 300, "{promotions} {en_passants}");
}

#[test]
fn nothing_drifts_on_random_walks() {
    random_walks(2, 20_000, |_, board, _| {
        assert!(board.is_ok(), "{}", board.to_fen());
        let before = (board.to_fen(), board.keys(), board.history().len());
        let mut mirror = Mirror::of(board);
        for mv in board.legal_moves() {
            let finished = mirror.finished;
            board.make(mv, &mut mirror);
            assert_eq!(mirror.finished, finished + 1, "{} after {mv:?}", before.0);
            assert!(board.is_ok(), "{} after {mv:?}", before.0);
            assert!(mirror.shows(board));
            board.unmake(&mut mirror);
            assert!(mirror.shows(board));
            assert_eq!((board.to_fen(), board.keys(), board.history().len()), before);
        }
        assert!(board.is_ok());
        assert_eq!(movegen::count_legal(board), board.legal_moves().len() as u64);
        let fresh = Board::from_fen(&board.to_fen()).unwrap();
        assert_eq!((fresh.to_fen(), fresh.keys()), (before.0.clone(), before.1));
        let shredder = Board::from_fen(&board.to_shredder_fen()).unwrap();
        assert_eq!((shredder.to_fen(), shredder.keys()), (before.0, before.1));
    });
}

/// Makes all moves below `depth` and shows each to `look`, made and followed by the mirror.
fn follow(board: &mut Board, mirror: &mut Mirror, depth: u32, look: &mut impl FnMut(&Board, Move)) {
    if depth == 0 {
        return;
    }
    for mv in board.legal_moves() {
        look(board, mv);
        let (finished, before) = (mirror.finished, mirror.squares.clone());
        board.make(mv, mirror);
        assert_eq!(mirror.finished, finished + 1, "{mv:?} to {}", board.to_fen());
        follow(board, mirror, depth - 1, look);
        board.unmake(mirror);
        assert_eq!(mirror.squares, before, "{}", board.to_fen());
    }
}

#[test]
fn an_observer_can_follow_every_kind_of_move() {
    // Castling, en passant, promotions, and the castlings of Chess960 in which king and rook swap their
    // squares or one of them stays.
    let (mut castlings, mut swaps, mut stays, mut en_passants, mut promotions) = (0, 0, 0, 0, 0);
    for fen in [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "5kr1/7p/8/1Pp5/8/8/7P/5KR1 w Gg c6 0 1",
        "2rk4/8/8/8/8/8/8/2RK4 b Cc - 0 1",
        "4k1r1/8/8/8/8/8/8/R5KR w HAg - 0 1",
        "1rk2r2/8/8/8/8/8/8/1RK2R2 w FBfb - 0 1",
    ] {
        let mut board = Board::from_fen(fen).unwrap();
        let mut mirror = Mirror::of(&board);
        follow(&mut board, &mut mirror, 3, &mut |board, mv| {
            en_passants += u32::from(board.is_en_passant(mv));
            promotions += u32::from(board.is_promotion(mv));
            if board.is_castling(mv) {
                let king_side = mv.to() > mv.from();
                let (king, rook) = if king_side { (6, 5) } else { (2, 3) };
                let (king_stays, rook_stays) = (mv.from().file() == king, mv.to().file() == rook);
                castlings += 1;
                swaps += u32::from(mv.from().file() == rook && mv.to().file() == king);
                stays += u32::from(king_stays || rook_stays);
            }
        });
        assert!(mirror.stack.is_empty() && mirror.shows(&board), "{fen}");
        // A null move moves no piece and is not told.
        let finished = mirror.finished;
        if !board.in_check() {
            board.make_null();
            board.unmake(&mut mirror);
        }
        assert_eq!(mirror.finished, finished);
    }
    let counts = [castlings, swaps, stays, en_passants, promotions];
    assert!(counts.iter().all(|&count| count >= 5), "{counts:?}");
}

#[test]
fn scan_order_starts_anywhere_and_finds_the_same_moves() {
    let raw = |moves: &[Move]| {
        let mut raw: Vec<u16> = moves.iter().map(|mv| mv.raw()).collect();
        raw.sort_unstable();
        raw
    };
    random_walks(3, 2_000, |number, board, _| {
        let start = Square::all().nth(number % 64).unwrap();
        let scanned = movegen::legal_scan(board, start);
        assert_eq!(raw(&scanned), raw(&board.legal_moves()), "{}", board.to_fen());
        let rank =
            |mv: &Move| (64 + mv.from().row() * 8 + mv.from().file() - number as u8 % 64) % 64;
        assert!(scanned.is_sorted_by_key(rank), "squares come cyclically from {start}");
        for mv in &movegen::scan(board, start) {
            assert_eq!(movegen::is_legal(board, *mv), scanned.contains(mv));
        }
    });
}

#[test]
fn parts_of_the_legal_moves_and_confirmed_moves_agree_with_all() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut strays = Vec::new();
    random_walks(5, 4_000, |_, board, _| {
        let all = board.legal_moves();
        let (mut noisy, mut quiet) = (MoveList::new(), MoveList::new());
        let checks_and_pins = movegen::ChecksAndPins::new(board);
        assert_eq!(
            movegen::ChecksAndPins::given(board, board.in_check()),
            checks_and_pins,
            "{}",
            board.to_fen()
        );
        movegen::noisy_moves(board, &checks_and_pins, &mut noisy);
        movegen::quiet_moves(board, &checks_and_pins, &mut quiet);
        for part in [&mut noisy, &mut quiet] {
            part.retain(|mv| movegen::king_is_safe(board, *mv));
        }
        assert_eq!(noisy.len() + quiet.len(), all.len(), "{}", board.to_fen());
        assert!(noisy.iter().chain(&quiet).all(|mv| all.contains(mv)));
        let captures = |mv: &Move| {
            let own = board.piece_on(mv.to()).is_some_and(|p| p.side() == board.side_to_move());
            let pawn = board.piece_on(mv.from()).is_some_and(|piece| piece.kind().is_pawn());
            let last = matches!(mv.to().row(), 0 | 7);
            (board.piece_on(mv.to()).is_some() && !own)
                || (pawn && (last || mv.from().file() != mv.to().file()))
        };
        for &mv in &all {
            let own = board.piece_on(mv.to()).is_some_and(|p| p.side() == board.side_to_move());
            let pawn = board.piece_on(mv.from()).is_some_and(|piece| piece.kind().is_pawn());
            let aside = pawn && mv.from().file() != mv.to().file();
            assert_eq!(board.is_castling(mv), own, "{mv:?} {}", board.to_fen());
            assert_eq!(board.is_promotion(mv), pawn && matches!(mv.to().row(), 0 | 7), "{mv:?}");
            assert_eq!(board.is_en_passant(mv), aside && board.piece_on(mv.to()).is_none());
        }
        assert!(noisy.iter().all(captures) && !quiet.iter().any(captures), "{}", board.to_fen());

        // Moves of other positions, as a hash table may bring them, and bits of any kind.
        strays.extend(all.iter().map(|mv| mv.raw()));
        for _ in 0..60 {
            let stray = strays[random.next_u64() as usize % strays.len()];
            for raw in [stray, random.next_u64() as u16] {
                let legal = all.iter().copied().find(|mv| mv.raw() == raw);
                assert_eq!(
                    movegen::confirm(board, &checks_and_pins, raw),
                    legal,
                    "{raw:#06x} {}",
                    board.to_fen()
                );
            }
        }
    });
}

#[test]
fn checks_are_foreseen() {
    let compare = |board: &mut Board| {
        for mv in board.legal_moves() {
            if board.is_en_passant(mv) {
                continue;
            }
            let foreseen = movegen::gives_check(board, mv);
            let text = board.uci_text(mv, false);
            board.play(mv);
            assert_eq!(foreseen, board.in_check(), "{} after {text}", board.to_fen());
            board.unmake(&mut ());
        }
    };
    random_walks(6, 4_000, |_, board, _| compare(board));
    // Promotions with check: to a queen, as a knight only, through the square that the pawn leaves, by
    // discovery.
    for fen in [
        "4k3/P7/8/8/8/8/8/4K3 w - - 0 1",
        "8/P1k5/8/8/8/8/8/4K3 w - - 0 1",
        "8/P7/8/8/8/8/8/k3K3 w - - 0 1",
        "8/R1P1k3/8/8/8/8/8/4K3 w - - 0 1",
        "2r1n3/K2P1k2/8/8/8/8/8/8 w - - 0 1",
        "8/8/8/8/8/3k4/1p1p4/2N1N2K b - - 0 1",
    ] {
        compare(&mut Board::from_fen(fen).unwrap());
    }
    // Castling with check on the rook's file and along the row, also in Chess960; and without.
    for (fen, castling, checks) in [
        ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1h1", true),
        ("5k2/5p2/8/8/8/8/8/4K2R w K - 0 1", "e1h1", false),
        ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1a1", true),
        ("8/8/8/8/8/8/8/k3K2R w K - 0 1", "e1h1", true),
        ("8/8/8/8/8/8/8/kN2K2R w K - 0 1", "e1h1", false),
        ("4k2r/8/8/8/8/8/8/5K2 b k - 0 1", "e8h8", true),
        ("4k2r/8/8/8/8/8/8/K7 b k - 0 1", "e8h8", false),
        ("8/8/8/8/8/8/8/RK5k w A - 0 1", "b1a1", true),
        ("8/8/8/8/8/8/8/1RK4k w B - 0 1", "c1b1", true),
        ("8/8/8/8/8/8/8/R4K1k w A - 0 1", "f1a1", true),
        ("8/8/8/8/8/8/6k1/RK6 w A - 0 1", "b1a1", false),
    ] {
        let mut board = Board::from_fen(fen).unwrap();
        compare(&mut board);
        let mv = board.legal_moves().into_iter().find(|&mv| board.uci_text(mv, true) == castling);
        let mv = mv.unwrap_or_else(|| panic!("no {castling} in {fen}"));
        assert_eq!(movegen::gives_check(&board, mv), checks, "{fen}");
    }
}

#[test]
fn scan_order_is_micro_maxs() {
    let moves = |fen: &str, start: &str| -> String {
        let board = Board::from_fen(fen).unwrap();
        let scanned = movegen::scan(&board, start.parse().unwrap());
        scanned.iter().map(|mv| format!("{mv:?} ")).collect()
    };
    // A knight's steps alternate, a rook goes left, right, up, down.
    let fen = "4k3/8/8/8/3N4/8/8/K6R w - - 0 1";
    let knight = "d4f5 d4b3 d4b5 d4f3 d4e6 d4c2 d4c6 d4e2 ";
    let king = "a1b1 a1a2 a1b2 ";
    let rook = "h1g1 h1f1 h1e1 h1d1 h1c1 h1b1 h1h2 h1h3 h1h4 h1h5 h1h6 h1h7 h1h8 ";
    assert_eq!(moves(fen, "a8"), format!("{knight}{king}{rook}"));
    assert_eq!(moves(fen, "h1"), format!("{rook}{knight}{king}"));
    assert_eq!(moves(fen, "a1"), format!("{king}{rook}{knight}"));
}

#[test]
fn insufficient_material() {
    for (placement, expected) in [
        ("4k3/8/8/8/8/8/8/4K3", true),
        ("4k3/8/8/8/8/8/8/4KN2", true),
        ("4k3/8/8/8/8/8/8/4KB2", true),
        ("4kb2/8/8/8/8/8/8/2B1K3", true),
        ("4kb2/8/8/8/8/8/8/4KB2", false),
        ("2b1kb2/8/8/8/8/8/8/4K3", false),
        ("4k3/8/8/8/8/8/8/3NKN2", false),
        ("4kn2/8/8/8/8/8/8/4KN2", false),
        ("4kn2/8/8/8/8/8/8/4KB2", false),
        ("4k3/8/8/8/8/8/P7/4K3", false),
        ("4k3/8/8/8/8/8/8/4KR2", false),
        ("4k3/8/8/8/8/8/8/3QK3", false),
    ] {
        let board = Board::from_fen(&format!("{placement} w - - 0 1")).unwrap();
        assert_eq!(board.insufficient_material(), expected, "{placement}");
        let ended = board.outcome() == Some(GameEnd::InsufficientMaterial);
        assert_eq!(ended, expected, "{placement}");
    }
}

#[test]
fn repetition_and_fifty_moves() {
    let mut board = Board::startpos();
    let mut play = |moves: &str| {
        for mv in moves.split(' ') {
            board.play(board.parse_uci(mv).unwrap());
        }
        (board.repetitions(), board.outcome())
    };
    assert_eq!(play("g1f3 g8f6 f3g1 f6g8"), (1, None));
    assert_eq!(play("g1f3 g8f6 f3g1"), (1, None));
    assert_eq!(play("f6g8"), (2, Some(GameEnd::Repetition)));
    assert_eq!(play("e2e4"), (0, None));

    // The first position has the right to castle, the later ones do not: not the same position.
    let mut board = Board::from_fen("4k3/8/8/8/8/8/8/4K2R w K - 0 1").unwrap();
    for mv in ["e1e2", "e8e7", "e2e1", "e7e8"] {
        board.play(board.parse_uci(mv).unwrap());
    }
    assert_eq!(board.repetitions(), 0);

    let mut board = Board::from_fen("4k3/8/8/8/8/8/8/4K2R w K - 99 80").unwrap();
    assert_eq!(board.outcome(), None);
    board.play(board.parse_uci("h1h7").unwrap());
    assert_eq!(board.outcome(), Some(GameEnd::FiftyMoves));
    // Mate on the hundredth half-move is mate.
    let mut board = Board::from_fen("4k3/R7/8/8/8/8/8/4K2R w K - 99 80").unwrap();
    board.play(board.parse_uci("h1h8").unwrap());
    assert_eq!(board.outcome(), Some(GameEnd::Checkmate));
}

#[test]
fn castling_is_written_both_ways() {
    let board = Board::from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1").unwrap();
    for (short, long) in [("e1g1", "e1h1"), ("e1c1", "e1a1")] {
        let mv = board.parse_uci(short).unwrap();
        assert_eq!(board.parse_uci(long), Ok(mv));
        assert_eq!(board.uci_text(mv, false), short);
        assert_eq!(board.uci_text(mv, true), long);
    }
    // Where the king could also step to g1, the text means the step.
    let board = Board::from_fen("4k3/8/8/8/8/8/8/5K1R w H - 0 1").unwrap();
    let step = board.parse_uci("f1g1").unwrap();
    assert_eq!(step, Move::new("f1".parse().unwrap(), "g1".parse().unwrap()));
    let castling = board.parse_uci("f1h1").unwrap();
    assert_ne!(castling, step);
    let mut after = board.clone();
    after.play(castling);
    assert_eq!(after.piece_on("f1".parse().unwrap()), Some(Piece::new(Side::White, Kind::Rook)));
    // What only Chess960 has is written so in either notation, and each move in its own way.
    for (fen, castling) in [
        ("4k3/8/8/8/8/8/8/R5KR w HA - 0 1", "g1h1"),
        ("4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "b1a1"),
        ("4k3/8/8/8/8/8/8/4KR2 w F - 0 1", "e1f1"),
        ("r5kr/8/8/8/8/8/8/4K2R w Kha - 0 1", "e1h1"),
    ] {
        let board = Board::from_fen(fen).unwrap();
        assert!(board.has_chess960_castling(), "{fen}");
        let mv = board.parse_uci(castling).unwrap();
        assert!(board.is_castling(mv), "{fen}");
        for chess960 in [false, true] {
            assert_eq!(board.uci_text(mv, chess960), castling);
            let mut texts: Vec<String> =
                board.legal_moves().iter().map(|&mv| board.uci_text(mv, chess960)).collect();
            let moves = texts.len();
            texts.sort();
            texts.dedup();
            assert_eq!(texts.len(), moves, "{fen}: {texts:?}");
        }
    }
    for fen in ["r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "4k3/8/8/8/8/8/8/RK5R w - - 0 1"] {
        assert!(!Board::from_fen(fen).unwrap().has_chess960_castling(), "{fen}");
    }
    // A goal that no step reaches is read as castling there too.
    let wide = Board::from_fen("4k3/8/8/8/8/8/8/RK5R w HA - 0 1").unwrap();
    assert_eq!(wide.parse_uci("b1g1"), wide.parse_uci("b1h1"));
    for bad in ["", "e2", "e2e4e5", "e9e5", "e7e8k", "E1G1", "♞♞", "e1e3", "0000"] {
        assert!(board.parse_uci(bad).is_err(), "{bad}");
    }
}
