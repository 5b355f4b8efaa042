//! Boards as SVG. The pieces are our own; their shapes stand once in a page, in `uci/src/report/page/pieces.svg`.

use std::fmt::Write as _;

use cairn_engine::board::Board;
use cairn_engine::moves::Move;
use cairn_engine::piece::{Kind, Side};
use cairn_engine::square::Square;

/// The shapes of the pieces and the squares, to be put into a page before its first board.
pub const SHAPES: &str = include_str!("page/pieces.svg");

/// The size of a square.
const SQUARE: usize = 100;

/// How far an arrow's head reaches back from its tip.
const HEAD: f64 = 42.0;

/// An arrow and its class, by which the style sheet gives it a colour.
pub type Arrow<'a> = (Move, &'a str);

/// A board seen by white. `arrows` lie on it, the last on top; the squares of the first are highlighted.
#[must_use]
pub fn diagram(board: &Board, arrows: &[Arrow<'_>]) -> String {
    let mut svg = format!(
        "<svg class=\"diagram\" viewBox=\"0 0 800 800\" role=\"img\" aria-label=\"{}\"><use href=\"#board\"/>",
        described(board)
    );
    if let Some((mv, _)) = arrows.first() {
        for square in [mv.from(), mv.to()] {
            let (x, y) = corner(square);
            // Writing to a string cannot fail.
            let _ = write!(svg, "<path class=\"lit\" d=\"M{x} {y}h100v100h-100z\"/>");
        }
    }
    for square in Square::all() {
        if let Some(piece) = board.piece_on(square) {
            let (x, y) = corner(square);
            let class = if piece.side() == Side::White { "w" } else { "b" };
            let shape = piece.kind().letter().to_ascii_lowercase();
            let _ = write!(
                svg,
                "<use href=\"#{shape}\" class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"100\" height=\"100\"/>"
            );
        }
    }
    for &(mv, class) in arrows {
        svg.push_str(&arrow(mv, class));
    }
    svg + "</svg>"
}

fn corner(square: Square) -> (usize, usize) {
    (usize::from(square.file()) * SQUARE, usize::from(square.row()) * SQUARE)
}

/// An arrow from the middle of a square to that of another.
fn arrow(mv: Move, class: &str) -> String {
    let middle = |square: Square| {
        (f64::from(square.file()) * 100.0 + 50.0, f64::from(square.row()) * 100.0 + 50.0)
    };
    let ((x, y), (to_x, to_y)) = (middle(mv.from()), middle(mv.to()));
    let length = (to_x - x).hypot(to_y - y).max(1.0);
    let (dx, dy) = ((to_x - x) / length, (to_y - y) / length);
    let (neck_x, neck_y) = (to_x - HEAD * dx, to_y - HEAD * dy);
    let (side_x, side_y) = (-dy * HEAD / 2.0, dx * HEAD / 2.0);
    format!(
        "<g class=\"arrow {class}\"><path d=\"M{x:.0} {y:.0}L{neck_x:.0} {neck_y:.0}\"/>\
         <path class=\"tip\" d=\"M{to_x:.0} {to_y:.0}L{:.0} {:.0}L{:.0} {:.0}z\"/></g>",
        neck_x + side_x,
        neck_y + side_y,
        neck_x - side_x,
        neck_y - side_y
    )
}

/// A position in words, for those who do not see the board.
#[must_use]
pub fn described(board: &Board) -> String {
    const KINDS: [(Kind, &str); 5] = [
        (Kind::King, "K"),
        (Kind::Queen, "Q"),
        (Kind::Rook, "R"),
        (Kind::Bishop, "B"),
        (Kind::Knight, "N"),
    ];
    let of_side = |side: Side| {
        let mut words = Vec::new();
        let of_kind = |kind: Kind, letter: &str, words: &mut Vec<String>| {
            words.extend(
                Square::all()
                    .filter(|&square| {
                        let piece = board.piece_on(square);
                        piece.is_some_and(|piece| piece.side() == side && piece.kind() == kind)
                    })
                    .map(|square| format!("{letter}{square}")),
            );
        };
        for (kind, letter) in KINDS {
            of_kind(kind, letter, &mut words);
        }
        of_kind(side.pawn(), "", &mut words);
        words.join(" ")
    };
    let mover = match board.side_to_move() {
        Side::White => "White",
        Side::Black => "Black",
    };
    format!("White: {}. Black: {}. {mover} to move.", of_side(Side::White), of_side(Side::Black))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagram_has_all_pieces_and_says_so() {
        let board = Board::from_fen("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1").expect("a position");
        assert_eq!(described(&board), "White: Ke1 e2. Black: Ke8. Black to move.");
        let mv = board.parse_uci("e8d8").expect("legal");
        let svg = diagram(&board, &[(mv, "bad")]);
        assert_eq!(svg.matches("class=\"w\"").count(), 2);
        assert_eq!(svg.matches("class=\"b\"").count(), 1);
        assert!(svg.contains("<use href=\"#k\" class=\"b\" x=\"400\" y=\"0\""), "{svg}");
        assert!(svg.contains("M450 50L392 50"), "{svg}");
        assert_eq!(svg.matches("class=\"lit\"").count(), 2);
    }
}
