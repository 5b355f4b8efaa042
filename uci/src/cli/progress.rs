//! How far a long command is, on standard error if that is a terminal; else nothing is shown.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often the time that is shown goes on.
const TICK: Duration = Duration::from_millis(250);

/// A bar for `total` pieces of work, of which `{pos}` are done.
pub(super) fn bar(total: u64) -> ProgressBar {
    shown(ProgressBar::new(total), "{elapsed_precise} {wide_bar} {pos}/{len}, {eta} left")
}

/// A sign of life for work of which nobody knows how much is done.
pub(super) fn spinner(what: &'static str) -> ProgressBar {
    shown(ProgressBar::new_spinner().with_message(what), "{elapsed_precise} {spinner} {msg}")
}

fn shown(bar: ProgressBar, template: &str) -> ProgressBar {
    if bar.is_hidden() {
        return bar;
    }
    // The templates above are well-formed; another style would be no reason to stop.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    bar
}
