//! How far the making of games is, on standard error.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::make::Progress;

/// How long nothing is said where nobody watches.
const SILENCE: Duration = Duration::from_secs(30);
/// How often a bar is drawn in a second.
const DRAWS: u8 = 5;

/// A bar on a terminal, and a line now and then elsewhere.
#[derive(Debug)]
pub enum Indicator {
    /// For somebody who watches.
    Bar(ProgressBar),
    /// For a file; when the last line was written, since the start.
    Lines(Duration),
}

impl Indicator {
    /// The one that suits standard error.
    #[must_use]
    pub fn new() -> Indicator {
        if !io::stderr().is_terminal() {
            return Indicator::Lines(Duration::ZERO);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(DRAWS));
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} games, {msg}");
        Indicator::Bar(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// Shows how far it is.
    pub fn show(&mut self, progress: &Progress) {
        match self {
            Indicator::Bar(bar) => {
                bar.set_length(progress.wanted.into());
                bar.set_position(progress.done.into());
                bar.set_message(speed(progress));
            }
            Indicator::Lines(last) => {
                if progress.elapsed >= *last + SILENCE {
                    *last = progress.elapsed;
                    let Progress { done, wanted, .. } = progress;
                    // The games go on where nobody can be told.
                    let line = format!("{done}/{wanted} games, {}\n", speed(progress));
                    let _ = io::stderr().write_all(line.as_bytes());
                }
            }
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Indicator::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

impl Default for Indicator {
    fn default() -> Indicator {
        Indicator::new()
    }
}

/// `12.3 games/s, 1650 positions/s, 0:02:13 left`.
#[must_use]
pub fn speed(progress: &Progress) -> String {
    let seconds = progress.elapsed.as_secs_f64();
    if progress.games == 0 || seconds == 0.0 {
        return "no speed yet".to_owned();
    }
    let games = f64::from(progress.games) / seconds;
    let positions = progress.positions as f64 / seconds;
    let left = f64::from(progress.wanted.saturating_sub(progress.done)) / games;
    let (minutes, seconds) = (left as u64 / 60, left as u64 % 60);
    format!(
        "{games:.1} games/s, {positions:.0} positions/s, {}:{:02}:{seconds:02} left",
        minutes / 60,
        minutes % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_is_left_follows_from_the_games_of_this_run() {
        let mut progress = Progress {
            done: 110,
            wanted: 7310,
            games: 10,
            positions: 1255,
            elapsed: Duration::from_secs(5),
            ..Progress::default()
        };
        assert_eq!(speed(&progress), "2.0 games/s, 251 positions/s, 1:00:00 left");
        progress.done = 8000;
        assert_eq!(speed(&progress), "2.0 games/s, 251 positions/s, 0:00:00 left");
        assert_eq!(speed(&Progress::default()), "no speed yet");
    }
}
