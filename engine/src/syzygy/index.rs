//! Where in a table a position stands: the number of a placement of pieces.
//!
//! The pieces are split into groups. The leading group is put into a corner of the board by mirroring:
//! without pawns into the triangle a1-d1-d4, with pawns into the files a to d. It is two kings, or three
//! pieces that are each the only one of their kind, or all pawns of one side. Each group after it consists
//! of equal pieces, whose squares are counted as a combination of those still free. The numbers of the
//! groups are digits; which of them comes first is up to the table.
//!
//! Squares are numbered a1 = 0, b1 = 1 to h8 = 63 here.

use super::material::MOST_PIECES;
use arrayvec::ArrayVec;

/// The files into which the leading pawn is mirrored.
pub(super) const FILES: usize = 4;

/// Placements of three different pieces, but for mirror images.
pub(super) const THREE_PIECES: u64 = 31_332;

/// Placements of two kings that are not side by side, but for mirror images.
pub(super) const TWO_KINGS: u64 = 462;

/// Squares below the diagonal from a1 to h8.
const BELOW_DIAGONAL: u64 = 28;

/// Squares of the triangle b1-d1-d3, below the diagonal.
const TRIANGLE: u64 = 6;

/// The squares on which pawns can stand.
pub(super) const PAWN_SQUARES: usize = 48;

/// Squares of pieces, in the order of a table.
pub(super) type Squares = ArrayVec<u8, MOST_PIECES>;

/// Binomial coefficients: `CHOOSE[k][n]` is the number of ways to choose k of n.
const CHOOSE: [[u64; 65]; MOST_PIECES] = {
    let mut choose = [[0; 65]; MOST_PIECES];
    let mut n = 0;
    while n < 65 {
        choose[0][n] = 1;
        let mut k = 1;
        while k < MOST_PIECES && k <= n {
            choose[k][n] = choose[k - 1][n - 1] + choose[k][n - 1];
            k += 1;
        }
        n += 1;
    }
    choose
};

/// The number of ways to choose `k` of `n`; 0 beyond any board.
pub(super) fn choose(k: usize, n: usize) -> u64 {
    CHOOSE.get(k).and_then(|row| row.get(n)).copied().unwrap_or(0)
}

/// How far a square is above the diagonal from a1 to h8.
const fn above_diagonal(square: u8) -> i8 {
    (square >> 3) as i8 - (square & 7) as i8
}

/// The squares below the diagonal from a1 to h8, counted row by row.
const LOWER: [u8; 64] = {
    let mut lower = [0; 64];
    let (mut square, mut count) = (0, 0);
    while square < 64 {
        if above_diagonal(square) < 0 {
            lower[square as usize] = count;
            count += 1;
        }
        square += 1;
    }
    lower
};

/// The squares of the triangle a1-d1-d4: first those below the diagonal row by row, then those on it.
const CORNER: [u8; 64] = {
    let mut corner = [0; 64];
    let (mut square, mut count) = (0, 0);
    while square < 32 {
        if square & 7 < 4 {
            if above_diagonal(square) < 0 {
                corner[square as usize] = count;
                count += 1;
            } else if above_diagonal(square) == 0 {
                corner[square as usize] = TRIANGLE as u8 + square / 9;
            }
        }
        square += 1;
    }
    corner
};

/// What [`KINGS`] has for squares where two kings cannot stand or are not mirrored to.
const NO_KINGS: u16 = u16::MAX;

/// Two kings by the first one's square in the triangle and the second one's. Those with both on the
/// diagonal come last.
const KINGS: [[u16; 64]; 10] = {
    let mut kings = [[NO_KINGS; 64]; 10];
    let mut count = 0;
    let mut pass = 0;
    while pass < 2 {
        let mut place = 0;
        while place < 10 {
            let mut first = 0;
            while first < 32 {
                let is_place = first & 7 < 4
                    && above_diagonal(first) <= 0
                    && CORNER[first as usize] as usize == place;
                let mut second = 0;
                while is_place && second < 64 {
                    let rows = (first >> 3).abs_diff(second >> 3);
                    let files = (first & 7).abs_diff(second & 7);
                    let on_diagonal = above_diagonal(first) == 0;
                    let both = on_diagonal && above_diagonal(second) == 0;
                    let mirrored = on_diagonal && above_diagonal(second) > 0;
                    if (rows > 1 || files > 1) && !mirrored && both == (pass == 1) {
                        kings[place][second as usize] = count;
                        count += 1;
                    }
                    second += 1;
                }
                first += 1;
            }
            place += 1;
        }
        pass += 1;
    }
    assert!(count as u64 == TWO_KINGS);
    kings
};

/// Where pawns stand in their order: a2 47, h2 46, a3 45 to d7 1, e7 0. The leading pawn is the one with the
/// highest number, and the others stand on squares with lower ones.
pub(super) const fn pawn_order(square: u8) -> u8 {
    let (row, file) = (square >> 3, square & 7);
    let from_edge = if file < 4 { file } else { 7 - file };
    let before = 12 * from_edge + 2 * row.saturating_sub(1) + (file >= 4) as u8;
    (PAWN_SQUARES as u8 - 1).saturating_sub(before)
}

/// The number of placements of `count` leading pawns, the first of them on this file and on a row before
/// `row`, from 1 for rank 2.
pub(super) fn leading_pawns(count: usize, file: u8, row: u8) -> u64 {
    (1..row).map(|row| choose(count.saturating_sub(1), pawn_order(8 * row + file).into())).sum()
}

/// All placements of `count` leading pawns, the first of them on this file.
pub(super) fn all_leading_pawns(count: usize, file: u8) -> u64 {
    leading_pawns(count, file, 7)
}

/// The number of a placement of leading pawns, the first of which comes first and is mirrored. The others
/// are put in order.
pub(super) fn pawns_number(pawns: &mut [u8]) -> u64 {
    let count = pawns.len();
    let Some((first, others)) = pawns.split_first_mut() else { return 0 };
    others.sort_unstable_by_key(|&square| pawn_order(square));
    let placed: u64 =
        others.iter().zip(1..).map(|(&square, k)| choose(k, pawn_order(square).into())).sum();
    leading_pawns(count, *first & 7, *first >> 3) + placed
}

/// Mirrors squares so that the first is in the files a to d.
pub(super) fn mirror_files(squares: &mut [u8]) {
    if squares.first().is_some_and(|square| square & 7 > 3) {
        squares.iter_mut().for_each(|square| *square ^= 7);
    }
}

/// Mirrors squares of a position without pawns: the first into the triangle a1-d1-d4, and the first of the
/// `leading` ones that is not on its diagonal below it.
pub(super) fn mirror(squares: &mut [u8], leading: usize) {
    mirror_files(squares);
    if squares.first().is_some_and(|square| square >> 3 > 3) {
        squares.iter_mut().for_each(|square| *square ^= 0o70);
    }
    let off_diagonal = squares.iter().take(leading).find(|&&square| above_diagonal(square) != 0);
    if off_diagonal.is_some_and(|&square| above_diagonal(square) > 0) {
        squares.iter_mut().for_each(|square| *square = *square >> 3 | (*square & 7) << 3);
    }
}

/// The number of two kings' placement, mirrored; none if they cannot stand so.
pub(super) fn kings_number(first: u8, second: u8) -> Option<u64> {
    let place = CORNER[usize::from(first & 63)];
    let number = *KINGS.get(usize::from(place))?.get(usize::from(second))?;
    (number != NO_KINGS).then_some(number.into())
}

/// The number of a placement of three different pieces, mirrored.
pub(super) fn three_number([a, b, c]: [u8; 3]) -> u64 {
    let after = |square: u8, others: &[u8]| others.iter().filter(|&&other| square > other).count();
    let lower = |square: u8| u64::from(LOWER[usize::from(square & 63)]);
    let row = |square: u8| u64::from(square >> 3);
    // Squares count only those that are free.
    let (b_skips, c_skips) = (after(b, &[a]) as u64, after(c, &[a, b]) as u64);
    let (b_free, c_free) = (u64::from(b) - b_skips, u64::from(c) - c_skips);
    const OFF: u64 = TRIANGLE * 63 * 62;
    const ONE_ON: u64 = 4 * BELOW_DIAGONAL * 62;
    const TWO_ON: u64 = 4 * 7 * BELOW_DIAGONAL;
    if above_diagonal(a) != 0 {
        (u64::from(CORNER[usize::from(a & 63)]) * 63 + b_free) * 62 + c_free
    } else if above_diagonal(b) != 0 {
        OFF + (row(a) * BELOW_DIAGONAL + lower(b)) * 62 + c_free
    } else if above_diagonal(c) != 0 {
        OFF + ONE_ON + (row(a) * 7 + row(b) - b_skips) * BELOW_DIAGONAL + lower(c)
    } else {
        OFF + ONE_ON + TWO_ON + (row(a) * 7 + row(b) - b_skips) * 6 + row(c) - c_skips
    }
}

/// The number of a group's placement on the squares that those `before` it leave free. Pawns count from
/// a2 on. The group is put in order.
pub(super) fn group_number(before: &[u8], group: &mut [u8], pawns: bool) -> Option<u64> {
    group.sort_unstable();
    let first = if pawns { 8 } else { 0 };
    let mut number = 0;
    for (&square, k) in group.iter().zip(1..) {
        let skipped = first + before.iter().filter(|&&other| square > other).count();
        number += choose(k, usize::from(square).checked_sub(skipped)?);
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn pawns_have_an_order() {
        let name = |square: u8| (square & 7, square >> 3);
        let mut squares: Vec<u8> = (8..56).collect();
        squares.sort_by_key(|&square| std::cmp::Reverse(pawn_order(square)));
        let first: Vec<_> = squares[..4].iter().map(|&square| name(square)).collect();
        assert_eq!(first, [(0, 1), (7, 1), (0, 2), (7, 2)]);
        assert_eq!(name(squares[47]), (4, 6));
        let orders: HashSet<u8> = squares.iter().map(|&square| pawn_order(square)).collect();
        assert_eq!(orders.len(), PAWN_SQUARES);
    }

    #[test]
    fn placements_of_three_pieces_fill_their_numbers() {
        let mut seen = HashSet::new();
        for a in 0..64 {
            for b in (0..64).filter(|&b| b != a) {
                for c in (0..64).filter(|&c| c != a && c != b) {
                    let mut squares = [a, b, c];
                    mirror(&mut squares, 3);
                    let number = three_number(squares);
                    assert!(number < THREE_PIECES);
                    seen.insert(number);
                }
            }
        }
        assert_eq!(seen.len() as u64, THREE_PIECES);
    }

    #[test]
    fn placements_of_pawns_fill_their_numbers() {
        for count in 1..=3 {
            let mut seen: [HashSet<u64>; FILES] = Default::default();
            let mut visit = |pawns: &[u8]| {
                let mut pawns = pawns.to_vec();
                pawns.sort_by_key(|&square| std::cmp::Reverse(pawn_order(square)));
                mirror_files(&mut pawns);
                let file = pawns[0] & 7;
                let number = pawns_number(&mut pawns);
                assert!(number < all_leading_pawns(count, file));
                seen[usize::from(file)].insert(number);
            };
            for a in 8..56 {
                if count == 1 {
                    visit(&[a]);
                }
                for b in a + 1..56 {
                    if count == 2 {
                        visit(&[a, b]);
                    }
                    (b + 1..56).filter(|_| count == 3).for_each(|c| visit(&[a, b, c]));
                }
            }
            for (seen, file) in seen.iter().zip(0..) {
                assert_eq!(seen.len() as u64, all_leading_pawns(count, file), "{count} {file}");
            }
        }
    }

    #[test]
    fn placements_of_a_group_fill_their_numbers() {
        let before = [9, 20, 63];
        let mut seen = HashSet::new();
        let free: Vec<u8> = (0..64).filter(|square| !before.contains(square)).collect();
        for &a in &free {
            for &b in free.iter().filter(|&&b| b > a) {
                seen.insert(group_number(&before, &mut [b, a], false));
            }
        }
        assert_eq!(seen.len() as u64, choose(2, 61));
        assert!(seen.iter().all(|number| number.is_some_and(|number| number < choose(2, 61))));
        assert_eq!(group_number(&[], &mut [3], true), None, "a pawn on the first rank");
    }
}
