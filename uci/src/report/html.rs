//! Annotated games as a page to look at: one file that asks for nothing else.
//!
//! All that is there to read is in the page without its script: the graph, the moves, the boards of the key moments.
//! With it a board follows the moves. The text of PGN is other people's: it goes into the page through `escaped`, and
//! into the data of the script through `json_text`.

use std::fmt::Write as _;

use cairn_engine::board::Board;
use cairn_engine::moves::Move;
use cairn_engine::piece::Side;

use super::annotate::{Annotated, Ply};
use super::board_svg::{SHAPES, diagram};
use super::judge::{CERTAIN, Expected, Judgement, MISTAKE, Mark, Worth, accuracy};
use super::markup::{
    alternative_text, eval, left, numbered, percent, refutation, seen_by_white, whole_percent,
};
use crate::protocol::Wdl;
use crate::protocol::notation::{san, san_moves};

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// The most moments of a game that get a board, those that changed most.
const KEY_MOMENTS: usize = 12;

/// The moves of the best line that the board's caption tells, in half-moves.
const CAPTION_LINE: usize = 8;

/// The width and height of the graph.
const GRAPH: (f64, f64) = (1000.0, 260.0);

/// A page that is being made.
#[derive(Debug)]
pub struct Page {
    annotator: String,
    /// The rows of the index.
    index: String,
    /// The games.
    sections: String,
    games: usize,
    /// What the window is called.
    title: String,
}

impl Page {
    /// A page without a game yet. `annotator` is who has judged, and how long each position was searched.
    #[must_use]
    pub fn new(annotator: &str) -> Page {
        Page {
            annotator: annotator.to_owned(),
            index: String::new(),
            sections: String::new(),
            games: 0,
            title: String::new(),
        }
    }

    /// Adds a game.
    pub fn add(&mut self, annotated: &Annotated) {
        self.games += 1;
        let report = Report::new(annotated, self.games);
        if self.games == 1 {
            self.title = report.title();
        }
        self.index.push_str(&report.index_row());
        self.sections.push_str(&report.section());
    }

    /// The whole page.
    #[must_use]
    pub fn finish(self) -> String {
        let title = if self.games == 1 { self.title } else { format!("{} games", self.games) };
        let index = if self.games == 1 {
            String::new()
        } else {
            format!(
                "<nav class=\"index\" aria-label=\"Games\"><h1>{title}</h1><div class=\"scroll\"><table><thead><tr><th>#</th>\
                 <th>White</th><th>Black</th><th>Result</th><th>Moves</th><th>Accuracy %</th></tr></thead><tbody>{}</tbody>\
                 </table></div></nav>",
                self.index
            )
        };
        // Nothing may be asked for, and nothing but what stands here is carried out.
        let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{SHAPES}{index}<main>\n{}</main>\n{}\
             <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            self.sections,
            explanation(&escaped(&self.annotator)),
        )
    }
}

/// How all of it is reckoned.
fn explanation(annotator: &str) -> String {
    let [dubious, mistake, blunder] =
        [super::judge::DUBIOUS, super::judge::MISTAKE, super::judge::BLUNDER].map(percent);
    let half = percent(super::judge::HALF);
    format!(
        "<footer><h2>How this is reckoned</h2>\n\
         <p>Each position was searched by {annotator}. Its chances to win, draw and lose come from how the engine's own games \
         ended after such scores; the <b>expected result</b> is the chance to win and half of that to draw. A move is judged \
         by what it takes from the expected result of its player, not by pawns, so a slip in a position that stays won is \
         none: <b class=\"dubious\">?!</b> from {dubious}, <b class=\"mistake\">?</b> from {mistake}, \
         <b class=\"blunder\">??</b> from {blunder}. <b class=\"only\">!</b> marks an only move: any other would have \
         lost {mistake} or more.</p>\n\
         <p><b>Accuracy</b> is the mean over a player's moves of 2<sup>&minus;loss / {half}</sup>: a move that loses \
         nothing counts 100&nbsp;%, one that loses {half} of the expected result counts half. Moves that were forced \
         do not count.</p>\n\
         <p>Scores are in pawns as engines show them, from white: +1.00 wins every second game. Keys: &larr; and &rarr; walk \
         through the game, &uarr; and &darr; go to the marked moves, Home and End to its ends, F turns the board.</p>\n\
         </footer>\n"
    )
}

/// What is told of one game.
struct Report<'a> {
    annotated: &'a Annotated,
    number: usize,
    /// The accuracy of white and black.
    accuracies: [Option<f64>; 2],
}

/// A position of the game as white sees it.
struct Seen {
    wdl: Wdl,
    expected: Expected,
    score: String,
}

impl Seen {
    fn new(worth: &Worth, mover: Side) -> Seen {
        let wdl = seen_by_white(worth.wdl, mover);
        let score = match eval(worth.score, mover) {
            None => "mate".to_owned(),
            Some(text) if text.starts_with(['-', '#']) => text,
            Some(text) => format!("+{text}"),
        };
        Seen { wdl, expected: super::judge::expected(wdl), score }
    }
}

impl<'a> Report<'a> {
    fn new(annotated: &'a Annotated, number: usize) -> Report<'a> {
        let accuracies = Side::ALL.map(|side| {
            let own = annotated.plies.iter().filter(|ply| ply.board.side_to_move() == side);
            accuracy(own.map(|ply| &ply.judgement))
        });
        Report { annotated, number, accuracies }
    }

    fn tag(&self, name: &str) -> Option<&str> {
        let value = self.annotated.entry.game.tag(name)?.trim();
        (!value.is_empty() && !value.chars().all(|letter| "?.-".contains(letter))).then_some(value)
    }

    fn player(&self, side: Side) -> String {
        let (tag, unknown) = match side {
            Side::White => ("White", "White"),
            Side::Black => ("Black", "Black"),
        };
        escaped(self.tag(tag).unwrap_or(unknown))
    }

    fn title(&self) -> String {
        format!("{} – {}", self.player(Side::White), self.player(Side::Black))
    }

    fn plies(&self) -> &'a [Ply] {
        &self.annotated.plies
    }

    fn accuracy(&self, side: Side) -> String {
        self.accuracies[side.index()]
            .map_or("–".to_owned(), |accuracy| format!("{accuracy:.1} %"))
    }

    fn result(&self) -> String {
        self.annotated.entry.game.result.to_string().replace("1/2", "½").replace('-', "–")
    }

    fn index_row(&self) -> String {
        let n = self.number;
        let moves = self.plies().len().div_ceil(2);
        let [white, black] = Side::ALL.map(|side| self.player(side));
        let [own, other] =
            Side::ALL.map(|side| self.accuracy(side).trim_end_matches(" %").to_owned());
        format!(
            "<tr><td>{n}</td><td><a href=\"#g{n}\">{white}</a></td><td><a href=\"#g{n}\">{black}</a></td><td>{}</td>\
             <td>{moves}</td><td>{own} / {other}</td></tr>\n",
            self.result()
        )
    }

    fn section(&self) -> String {
        let n = self.number;
        let details: Vec<String> =
            ["Event", "Site", "Date", "Round", "ECO", "Opening", "TimeControl"]
                .into_iter()
                .filter_map(|name| self.tag(name))
                .map(escaped)
                .collect();
        let rating = |tag: &str| {
            self.tag(tag).map_or(String::new(), |elo| format!(" <small>({})</small>", escaped(elo)))
        };
        let start = &self.annotated.entry.game.start;
        format!(
            "<section class=\"game\" id=\"g{n}\" aria-label=\"Game {n}\">\n<header><h2><span><i class=\"disc white\"></i>{}{}</span> \
             <span class=\"result\">{}</span> <span><i class=\"disc black\"></i>{}{}</span></h2><p class=\"details\">{}</p></header>\n\
             <div class=\"columns\">\n<div class=\"view\"><div class=\"main-board\">{}</div>\n\
             <div class=\"buttons\" hidden>{}</div>\n\
             <div class=\"caption\" aria-live=\"polite\"></div></div>\n<div class=\"side\">\n{}{}{}</div>\n</div>\n{}\
             <script type=\"application/json\">{}</script>\n</section>\n",
            self.player(Side::White),
            rating("WhiteElo"),
            self.result(),
            self.player(Side::Black),
            rating("BlackElo"),
            details.join(" · "),
            diagram(start, &[]),
            buttons(),
            self.graph(),
            self.summary(),
            self.moves(),
            self.key_moments(),
            self.data(),
        )
    }

    /// The positions as white sees them: before the first move and after each.
    fn seen(&self) -> Vec<Seen> {
        let first = self.plies().first();
        let before = first.map(|ply| Seen::new(&ply.before.worth, ply.board.side_to_move()));
        let after = self
            .plies()
            .iter()
            .map(|ply| Seen::new(&ply.after.worth, ply.board.side_to_move().other()));
        before.into_iter().chain(after).collect()
    }

    /// The chances over the game: white's from below, black's from above, draws between, and the expected result.
    fn graph(&self) -> String {
        let seen = self.seen();
        if seen.len() < 2 {
            return "<p>There are no moves.</p>\n".to_owned();
        }
        let (width, height) = GRAPH;
        let x = |i: usize| width * i as f64 / (seen.len() - 1) as f64;
        let up = |part: u32, whole: u32| height - height * f64::from(part) / f64::from(whole);
        let path = |y: &dyn Fn(&Seen) -> f64| -> String {
            let points = seen.iter().enumerate();
            let points: Vec<String> =
                points.map(|(i, seen)| format!("{:.0} {:.0}", x(i), y(seen))).collect();
            points.join("L")
        };
        let win = path(&|seen| up(seen.wdl.win, 1000));
        let draw = path(&|seen| up(seen.wdl.win + seen.wdl.draw, 1000));
        let line = path(&|seen| up(seen.expected, CERTAIN));
        let mut dots = String::new();
        for (i, ply) in self.plies().iter().enumerate() {
            if let Some(mark) = ply.judgement.mark {
                // Writing to a string cannot fail.
                let _ = write!(
                    dots,
                    "<circle class=\"{}\" cx=\"{:.0}\" cy=\"{:.0}\" r=\"9\"/>",
                    class(mark),
                    x(i + 1),
                    up(seen[i + 1].expected, CERTAIN)
                );
            }
        }
        let last = seen.last().map_or(0, |seen| whole_percent(seen.expected));
        format!(
            "<figure class=\"graph\"><svg viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"Expected result of white over the game; in the end {last} %\">\
             <path class=\"loss\" d=\"M0 0H{width}V{height}H0z\"/>\
             <path class=\"draw\" d=\"M0 {height}L{draw}L{width} {height}z\"/>\
             <path class=\"win\" d=\"M0 {height}L{win}L{width} {height}z\"/>\
             <path class=\"half\" d=\"M0 {0}H{width}\"/><path class=\"expected\" d=\"M{line}\"/>{dots}\
             <path class=\"cursor\" d=\"M0 0V{height}\"/></svg>\
             <figcaption><span><i class=\"key win\"></i>White wins</span> <span><i class=\"key draw\"></i>Draw</span> \
             <span><i class=\"key loss\"></i>Black wins</span> \
             <span><i class=\"key expected\"></i>Expected result of White</span></figcaption></figure>\n",
            height / 2.0
        )
    }

    /// Accuracy and marks of both sides.
    fn summary(&self) -> String {
        let mut rows = String::new();
        for side in Side::ALL {
            let count = |mark: Mark| {
                let own = self.plies().iter().filter(|ply| ply.board.side_to_move() == side);
                own.filter(|ply| ply.judgement.mark == Some(mark)).count()
            };
            let disc = if side == Side::White { "white" } else { "black" };
            let _ = write!(
                rows,
                "<tr><th scope=\"row\"><span class=\"disc {disc}\"></span>{}</th><td class=\"accuracy\">{}</td>",
                self.player(side),
                self.accuracy(side)
            );
            for mark in Mark::ALL {
                let _ = write!(rows, "<td>{}</td>", count(mark));
            }
            rows.push_str("</tr>");
        }
        let mut heads = String::new();
        for mark in Mark::ALL {
            let _ = write!(
                heads,
                "<th scope=\"col\"><abbr class=\"{}\" title=\"{}\">{}</abbr></th>",
                class(mark),
                mark.name(),
                mark.symbol()
            );
        }
        format!(
            "<table class=\"summary\"><thead><tr><td></td><th scope=\"col\">Accuracy</th>{heads}</tr></thead>\
             <tbody>{rows}</tbody></table>\n"
        )
    }

    /// The moves, each a button.
    fn moves(&self) -> String {
        let mut text = String::from("<div class=\"moves\" role=\"group\" aria-label=\"Moves\">");
        for (i, ply) in self.plies().iter().enumerate() {
            let is_white = ply.board.side_to_move() == Side::White;
            if is_white || i == 0 {
                let _ =
                    write!(text, "<span class=\"number\">{}</span>", ply.board.fullmove_number());
            }
            if i == 0 && !is_white {
                text.push_str("<span class=\"gap\">…</span>");
            }
            let (class, mark) = match ply.judgement.mark {
                Some(mark) => {
                    (class(mark), format!("<b title=\"{}\">{}</b>", mark.name(), mark.symbol()))
                }
                None => ("plain", String::new()),
            };
            let _ = write!(
                text,
                "<button data-ply=\"{}\" class=\"{class}\">{}{mark}</button>",
                i + 1,
                san(&ply.board, ply.mv)
            );
        }
        text + "</div>\n"
    }

    /// The moments that decided, with boards: the largest losses, and only moves.
    fn key_moments(&self) -> String {
        let weight = |judgement: &Judgement| match judgement.mark {
            Some(Mark::Only) => MISTAKE,
            Some(Mark::Mistake | Mark::Blunder) => judgement.loss + MISTAKE,
            _ => 0,
        };
        let mut chosen: Vec<usize> =
            (0..self.plies().len()).filter(|&i| weight(&self.plies()[i].judgement) > 0).collect();
        chosen.sort_by_key(|&i| std::cmp::Reverse(weight(&self.plies()[i].judgement)));
        chosen.truncate(KEY_MOMENTS);
        chosen.sort_unstable();
        if chosen.is_empty() {
            return String::new();
        }
        let mut text =
            String::from("<section class=\"keys\"><h3>Key moments</h3><div class=\"cards\">\n");
        for i in chosen {
            text.push_str(&self.key_moment(i));
        }
        text + "</div></section>\n"
    }

    fn key_moment(&self, i: usize) -> String {
        let ply = &self.plies()[i];
        let Some(mark) = ply.judgement.mark else { return String::new() };
        let mut arrows = Vec::new();
        match (mark, ply.before.best) {
            (Mark::Only, _) => arrows.push((ply.mv, "good")),
            (_, best) => {
                arrows.push((ply.mv, "bad"));
                arrows.extend(best.map(|best| (best, "good")));
            }
        }
        let (symbol, class) = (mark.symbol(), class(mark));
        let mut lines = String::new();
        for (name, moves) in reasons(ply, mark) {
            let _ = write!(lines, "<p><b>{name}</b> {moves}</p>");
        }
        format!(
            "<article class=\"card\"><h4><button data-ply=\"{}\">{} {}<b class=\"{class}\">{symbol}</b></button> \
             <span class=\"{class}\">{}</span></h4>{}<p>{}</p>{lines}</article>\n",
            i + 1,
            numbered(&ply.board),
            san(&ply.board, ply.mv),
            mark.name(),
            diagram(&ply.board, &arrows),
            verdict(ply, mark)
        )
    }

    /// What the script needs: for each position the pieces, the last move, the best one, and what is told of it.
    fn data(&self) -> String {
        let seen = self.seen();
        let mut boards: Vec<&Board> = self.plies().iter().map(|ply| &ply.board).collect();
        let end = self.plies().last().map(|ply| {
            let mut board = ply.board.clone();
            board.play(ply.mv);
            board
        });
        boards.extend(&end);
        let mut entries = Vec::new();
        for (i, board) in boards.into_iter().enumerate() {
            let last = i.checked_sub(1).map(|last| &self.plies()[last]);
            let found = match last {
                Some(last) => &last.after,
                None => &self.plies()[0].before,
            };
            let mark = last.and_then(|last| last.judgement.mark);
            // The refutation is the best line already.
            let told = if mark.is_some_and(|mark| mark != Mark::Only) { 0 } else { CAPTION_LINE };
            let shown = &found.line[..found.line.len().min(told)];
            let notes = match (last, mark) {
                (Some(last), Some(mark)) => {
                    let mut notes = vec![verdict(last, mark)];
                    notes.extend(
                        reasons(last, mark)
                            .into_iter()
                            .map(|(name, text)| format!("{name} {text}")),
                    );
                    notes
                }
                _ => Vec::new(),
            };
            let fen = board.to_fen();
            let Wdl { win, draw, loss } = seen[i].wdl;
            let notes: Vec<String> = notes.iter().map(|note| json_text(note)).collect();
            entries.push(format!(
                "[{},{},{},{},{},{},{},[{win},{draw},{loss}],{},[{}]]",
                json_text(fen.split(' ').next().unwrap_or_default()),
                squares(last.map(|last| last.mv)),
                squares(found.best),
                json_text(&last.map_or("Start".to_owned(), |last| {
                    format!("{} {}", numbered(&last.board), san(&last.board, last.mv))
                })),
                json_text(mark.map_or("", Mark::symbol)),
                json_text(mark.map_or("", class)),
                json_text(&seen[i].score),
                json_text(&san_moves(board, shown)),
                notes.join(",")
            ));
        }
        format!("[{}]", entries.join(",\n"))
    }
}

/// The buttons below the board.
fn buttons() -> String {
    const ICONS: [(&str, &str, &str); 6] = [
        ("start", "Start of the game", "M5 4v16M19 5v14l-10-7z"),
        ("back", "One move back", "M16 5v14l-10-7z"),
        ("on", "One move on", "M8 5v14l10-7z"),
        ("end", "End of the game", "M19 4v16M5 5v14l10-7z"),
        ("mark", "Next marked move", "M8 8q0-4 4-4t4 4q0 3-4 5v2m0 4v1"),
        ("turn", "Turn the board", "M8 20V5l-4 5m4-5l4 5M16 4v15l-4-5m4 5l4-5"),
    ];
    let button = |(go, label, path): (&str, &str, &str)| {
        format!(
            "<button data-go=\"{go}\" aria-label=\"{label}\" title=\"{label}\">\
             <svg viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path class=\"{go}\" d=\"{path}\"/></svg></button>"
        )
    };
    ICONS.map(button).concat()
}

/// What a move did, in a sentence.
fn verdict(ply: &Ply, mark: Mark) -> String {
    let player = if ply.board.side_to_move() == Side::White { "White" } else { "Black" };
    let before = percent(ply.before.worth.expected());
    match (&ply.before.second, mark) {
        (Some(second), Mark::Only) => {
            let others = percent(second.worth.expected());
            format!("{player} expects {before}; any other move leaves {others} at most.")
        }
        _ => {
            let after = percent(left(ply));
            format!("What {player} can expect falls from {before} to {after}.")
        }
    }
}

/// The lines that explain a mark: what they are called, and their moves.
fn reasons(ply: &Ply, mark: Mark) -> Vec<(&'static str, String)> {
    let alternative = alternative_text(ply, mark);
    let mut lines = match mark {
        Mark::Only => vec![("Next best:", alternative)],
        _ => vec![("Better:", alternative), ("Refuted by:", refutation(ply))],
    };
    lines.retain(|(_, moves)| !moves.is_empty());
    lines
}

/// The class of a mark in the style sheet.
const fn class(mark: Mark) -> &'static str {
    match mark {
        Mark::Only => "only",
        Mark::Dubious => "dubious",
        Mark::Mistake => "mistake",
        Mark::Blunder => "blunder",
    }
}

/// A move as two squares, a8 being 0 and h1 63.
fn squares(mv: Option<Move>) -> String {
    mv.map_or("null".to_owned(), |mv| format!("[{},{}]", mv.from().compact(), mv.to().compact()))
}

/// Text for HTML, also within quotation marks.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter => safe.push(letter),
        }
    }
    safe
}

/// Text for the data of a script, in which no element can end or begin.
fn json_text(text: &str) -> String {
    // A text can always be written.
    let quoted = serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned());
    quoted.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_peoples_text_begins_no_element() {
        let evil = "</script><img src=\"x\" onerror='a&b'>";
        assert_eq!(
            escaped(evil),
            "&lt;/script&gt;&lt;img src=&quot;x&quot; onerror=&#39;a&amp;b&#39;&gt;"
        );
        let json = json_text(evil);
        assert!(!json.contains(['<', '>', '&']), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), evil);
    }

    #[test]
    fn the_page_asks_for_nothing() {
        for (name, text) in [("css", STYLE), ("js", SCRIPT), ("shapes", SHAPES)] {
            for word in ["http", "//", "@import", "url(", "fetch(", "XMLHttp", "import "] {
                let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                assert!(lines.into_iter().all(|line| !line.contains(word)), "{name}: {word}");
            }
        }
    }
}
