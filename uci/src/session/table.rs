//! Tables of fitted numbers, read at compile time from files that the scripts that fit them write.
//!
//! A file has a heading, then in each line whole numbers with commas between them. The first ones go up in equal
//! steps, so that a number between two rows is found by proportion.

/// How many rows a table has.
pub const fn count_rows(text: &[u8]) -> usize {
    let (mut lines, mut at) = (0, 0);
    while at < text.len() {
        lines += (text[at] == b'\n') as usize;
        at += 1;
    }
    lines - 1
}

/// Reads a table with so many rows.
///
/// # Panics
/// If the file is not what it should be; at compile time, that is.
pub const fn read<const ROWS: usize, const COLUMNS: usize>(text: &[u8]) -> [[u64; COLUMNS]; ROWS] {
    let mut rows = [[0; COLUMNS]; ROWS];
    let (mut row, mut column, mut at) = (0, 0, 0);
    while text[at] != b'\n' {
        at += 1;
    }
    at += 1;
    while at < text.len() {
        match text[at] {
            digit @ b'0'..=b'9' => {
                rows[row][column] = 10 * rows[row][column] + (digit - b'0') as u64;
            }
            b',' => column += 1,
            b'\r' => {}
            b'\n' => {
                assert!(column + 1 == COLUMNS, "as many columns in each row");
                assert!(
                    row < 2 || rows[row][0] + rows[0][0] == rows[row - 1][0] + rows[1][0],
                    "equal steps"
                );
                (row, column) = (row + 1, 0);
            }
            _ => panic!("a table holds whole numbers"),
        }
        at += 1;
    }
    assert!(column == 0, "the last line has an end");
    rows
}

/// The row of a table with this first number: by proportion, rounded down, and beyond the first and the last row as
/// there.
#[must_use]
pub fn look_up<const COLUMNS: usize>(rows: &[[u64; COLUMNS]], first: u64) -> [u64; COLUMNS] {
    let (Some(least), Some(most)) = (rows.first(), rows.last()) else { return [0; COLUMNS] };
    let step = rows.get(1).map_or(1, |row| row[0] - least[0]);
    let above = first.clamp(least[0], most[0]) - least[0];
    let (low, part) = ((above / step) as usize, above % step);
    let (low, high) = (&rows[low], rows.get(low + 1).unwrap_or(most));
    std::array::from_fn(|column| (low[column] * (step - part) + high[column] * part) / step)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"a,b,c\n10,100,9\r\n20,200,4\n30,250,4\n";

    #[test]
    fn numbers_between_two_rows_are_found_by_proportion() {
        const ROWS: [[u64; 3]; count_rows(TEXT)] = read(TEXT);
        assert_eq!(ROWS, [[10, 100, 9], [20, 200, 4], [30, 250, 4]]);
        for (first, found) in [
            (0, [10, 100, 9]),
            (10, [10, 100, 9]),
            (15, [15, 150, 6]),
            (19, [19, 190, 4]),
            (29, [29, 245, 4]),
            (31, [30, 250, 4]),
        ] {
            assert_eq!(look_up(&ROWS, first), found, "{first}");
        }
    }
}
