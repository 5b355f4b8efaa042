//! The positions of `tests/data/perft.epd`.

/// A position and the leaves of its tree, depth 1 first.
pub(crate) struct PerftCounts {
    pub(crate) fen: &'static str,
    pub(crate) counts: Vec<u64>,
}

/// All positions of the file, which are 40, with counts up to depth 3 at least.
pub(crate) fn perft_counts() -> Vec<PerftCounts> {
    let lines = include_str!("../data/perft.epd").lines().filter(|line| !line.starts_with('#'));
    let read = |line: &'static str| {
        let mut parts = line.split(" ;");
        let fen = parts.next().expect("a position");
        let counts: Vec<u64> = (1..)
            .zip(parts)
            .map(|(depth, part)| {
                let count = part.strip_prefix(&format!("D{depth} ")).expect("each depth in turn");
                count.parse().expect("a count")
            })
            .collect();
        assert!(counts.len() >= 3, "{line}");
        PerftCounts { fen, counts }
    };
    let positions: Vec<PerftCounts> = lines.map(read).collect();
    assert_eq!(positions.len(), 40);
    positions
}
