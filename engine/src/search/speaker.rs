//! What speaks for all threads of a search: the reports, the caller's verdicts on them, and the mate that was
//! asked for.

use super::deepen::Listener;
use super::root_lines::{RootLine, Standing};
use super::tt::Bound;
use super::{Control, Limits, Report, ScoreText, Verdict};

/// Reports what the thread that it listens to finds.
pub(super) struct Speaker<'a, 'b> {
    limits: &'a Limits,
    control: &'a Control,
    /// The mate that `go mate` asks for is found.
    mate_is_found: bool,
    sink: &'b mut dyn FnMut(&Report<'_>) -> Verdict,
}

impl<'a, 'b> Speaker<'a, 'b> {
    pub(super) fn new(
        limits: &'a Limits,
        control: &'a Control,
        sink: &'b mut dyn FnMut(&Report<'_>) -> Verdict,
    ) -> Speaker<'a, 'b> {
        Speaker { limits, control, mate_is_found: false, sink }
    }

    /// Whether a line has the mate that `go mate` asks for.
    fn is_asked_mate(&self, line: &RootLine) -> bool {
        match (self.limits.mate, ScoreText::from_score(line.score)) {
            (Some(asked), ScoreText::Mate(moves)) => moves > 0 && moves as u32 <= asked,
            _ => false,
        }
    }
}

impl Listener for Speaker<'_, '_> {
    fn hear(&mut self, number: usize, line: &RootLine, bound: Bound, at: &Standing) -> Verdict {
        if number == 1 && bound == Bound::Exact {
            self.mate_is_found = self.is_asked_mate(line);
        }
        let verdict = (self.sink)(&Report {
            depth: line.depth,
            seldepth: Some(at.seldepth),
            multi_pv: number,
            score: ScoreText::from_score(line.score),
            by_tables: line.by_tables,
            bound,
            nodes: self.control.nodes(),
            hash_full: at.hash_full,
            table_hits: self.limits.tables.is_some().then(|| self.control.table_hits()),
            effort: at.effort,
            pv: &line.pv,
            silent: false,
        });
        if self.mate_is_found { Verdict::Stop } else { verdict }
    }
}
