//! The options: a table with everything about each of them, and the settings that they change.

use std::fmt;
#[cfg(feature = "tune")]
use std::sync::LazyLock;

#[cfg(feature = "tune")]
use cairn_engine::params;
use cairn_engine::search::Style;

use crate::protocol::{OptionDeclaration, OptionType, quote};
use crate::session::files::{FileAccess, FilePath};
use crate::session::level::{self, Level};

/// One option: how it is declared, documented and set.
#[derive(Debug)]
pub struct UciOption {
    /// Its name in UCI. It holds none of the words `name`, `value`, `type`,
    /// `default`, `min`, `max` or `var`, at which clients split the declaration.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
    /// Its type, range, default and effect.
    pub kind: OptionKind,
    /// When it may change.
    pub when: When,
}

/// The type of an option with its range, its default and what setting it does.
#[derive(Debug)]
pub enum OptionKind {
    /// A whole number.
    Spin {
        /// The value at the start.
        default: i64,
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
        /// What becomes of a value out of range.
        beyond: Beyond,
        /// Sets a value in range.
        set: fn(&mut Settings, i64),
        /// The current value.
        get: fn(&Settings) -> i64,
    },
    /// Yes or no.
    Check {
        /// The value at the start.
        default: bool,
        /// Sets a value.
        set: fn(&mut Settings, bool),
        /// The current value.
        get: fn(&Settings) -> bool,
    },
    /// One of several words.
    Combo {
        /// The index of the value at the start.
        default: usize,
        /// The words.
        choices: &'static [&'static str],
        /// Sets the word with this index.
        set: fn(&mut Settings, usize),
        /// The current index.
        get: fn(&Settings) -> usize,
    },
    /// Any text.
    Text {
        /// The value at the start.
        default: &'static str,
        /// Sets a value.
        set: fn(&mut Settings, &str),
        /// The current value.
        get: fn(&Settings) -> &str,
    },
    /// The path of a file or folder, at first none; a text to a GUI.
    File {
        /// Sets a path; returns why it has no effect yet, if so.
        set: fn(&mut Settings, FilePath) -> Option<&'static str>,
        /// The current path.
        get: fn(&Settings) -> &FilePath,
    },
    /// A whole number: the search parameter with this index.
    #[cfg(feature = "tune")]
    Param(usize),
    /// Something to do.
    Button {
        /// Does it.
        press: fn(&mut Settings),
    },
}

/// What becomes of a number beyond the range of its option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// It is moved to the end of the range.
    Moved,
    /// It is refused; the old value is kept.
    Refused,
}

/// When an option may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At any time; a running search keeps the old value.
    Anytime,
    /// Only while the engine is idle, so a running search is stopped first.
    Idle,
}

/// The values of the options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Size of the hash table, in MiB.
    pub hash_mib: usize,
    /// The hash table is to be cleared before the next search.
    pub clear_hash: bool,
    /// Where what was learnt is saved to and loaded from; empty if nowhere.
    pub hash_file: FilePath,
    /// Search threads.
    pub threads: usize,
    /// They find the same every time.
    pub deterministic: bool,
    /// The GUI may let the engine ponder.
    pub ponder: bool,
    /// How many of the best lines are reported.
    pub multi_pv: usize,
    /// What a move costs beyond thinking, in milliseconds.
    pub move_overhead: u64,
    /// Castling is written as the king taking its own rook.
    pub chess960: bool,
    /// Scores come with the chances to win, draw and lose.
    pub show_wdl: bool,
    /// Somebody analyses, so the strength is not limited.
    pub analyse_mode: bool,
    /// Who the opponent is, as the GUI says.
    pub opponent: String,
    /// The strength is limited to `elo`.
    pub limit_strength: bool,
    /// The strength when it is limited.
    pub elo: u32,
    /// Where endgame tables are; empty if there are none.
    pub syzygy_path: FilePath,
    /// The least depth at which tables are probed.
    pub syzygy_probe_depth: u32,
    /// The most pieces with which tables are probed.
    pub syzygy_probe_limit: u32,
    /// Wins in the tables that the 50-move rule spoils are draws.
    pub syzygy_50_move_rule: bool,
    /// The file of the network that evaluates; empty for the one that is built in.
    pub eval_file: FilePath,
    /// Where the log goes; empty if there is none.
    pub log_file: FilePath,
    /// Whether options may name files.
    pub files: FileAccess,
    /// Which search plays.
    pub style: Style,
    /// The parameters of the search, in their order.
    #[cfg(feature = "tune")]
    pub params: Vec<i32>,
}

impl Settings {
    /// The limits of the level, if the strength is limited.
    #[must_use]
    pub fn level(&self) -> Option<Level> {
        (self.limit_strength && !self.analyse_mode).then(|| Level::of(self.elo))
    }

    /// Sets the search parameters. They are global, so no search may run meanwhile.
    #[cfg(feature = "tune")]
    pub fn apply_params(&self) {
        for (param, &value) in params::ALL.iter().zip(&self.params) {
            (param.set)(value);
        }
    }
}

/// The size of the hash table at the start, in MiB: small, so that the start is quick and many engines
/// fit into memory.
pub const DEFAULT_HASH: usize = 16;

/// The largest hash table that is accepted, in MiB: 64 GiB.
const MAX_HASH: i64 = 65_536;

/// The most search threads that are accepted.
const MAX_THREADS: i64 = 1024;

/// The option that names the network's file.
pub const EVAL_FILE: &str = "EvalFile";

/// The option that names the folders of endgame tables.
pub const SYZYGY_PATH: &str = "SyzygyPath";

/// The option that names the file of what was learnt.
pub const HASH_FILE: &str = "Hash File";

/// The button that saves what was learnt.
pub const SAVE_HASH: &str = "Save Hash";

/// The button that loads what was saved.
pub const LOAD_HASH: &str = "Load Hash";

/// The default of Move Overhead, in milliseconds.
const DEFAULT_OVERHEAD: i64 = 10;

/// The text of `UCI_EngineAbout`. It holds none of the words at which clients split a declaration.
const ABOUT: &str = concat!(
    "Cairn ",
    env!("CARGO_PKG_VERSION"),
    ", a 0x88 engine that grew from H.G. Muller's micro-Max 3.2; MIT licence"
);

/// The value of an option in range, as the integer type of its setting.
fn small<T: TryFrom<i64> + Default>(value: i64) -> T {
    T::try_from(value).unwrap_or_default()
}

/// A setting as the value of an option.
fn wide(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

/// The options that decide what is searched and how, and the log.
static SEARCH_OPTIONS: [UciOption; 15] = [
    UciOption {
        name: "Debug Log File",
        doc: "Writes all that is said and done to a file, which 'cairn replay' plays again; {pid} in \
              the path becomes the process id.",
        kind: OptionKind::File {
            set: |settings, path| {
                settings.log_file = path;
                None
            },
            get: |settings| &settings.log_file,
        },
        when: When::Idle,
    },
    UciOption {
        name: "Hash",
        doc: "Size of the hash table in MiB.",
        kind: OptionKind::Spin {
            default: DEFAULT_HASH as i64,
            min: 1,
            max: MAX_HASH,
            beyond: Beyond::Moved,
            set: |settings, mib| settings.hash_mib = small(mib),
            get: |settings| wide(settings.hash_mib),
        },
        when: When::Idle,
    },
    UciOption {
        name: "Threads",
        doc: "Search threads; style MicroMax and limited strength have one.",
        kind: OptionKind::Spin {
            default: 1,
            min: 1,
            max: MAX_THREADS,
            beyond: Beyond::Refused,
            set: |settings, threads| settings.threads = small(threads),
            get: |settings| wide(settings.threads),
        },
        when: When::Idle,
    },
    UciOption {
        name: "Deterministic",
        doc: "Lets several threads find the same every time, so that a session with them can be replayed.",
        kind: OptionKind::Check {
            default: false,
            set: |settings, on| settings.deterministic = on,
            get: |settings| settings.deterministic,
        },
        when: When::Idle,
    },
    UciOption {
        name: "Clear Hash",
        doc: "Empties the hash table.",
        kind: OptionKind::Button { press: |settings| settings.clear_hash = true },
        when: When::Idle,
    },
    UciOption {
        name: HASH_FILE,
        doc: "The file of 'Save Hash' and 'Load Hash'.",
        kind: OptionKind::File {
            set: |settings, path| {
                settings.hash_file = path;
                None
            },
            get: |settings| &settings.hash_file,
        },
        when: When::Idle,
    },
    UciOption {
        name: SAVE_HASH,
        doc: "Saves hash table and histories to the file that 'Hash File' names.",
        // The controller has it done.
        kind: OptionKind::Button { press: |_| {} },
        when: When::Idle,
    },
    UciOption {
        name: LOAD_HASH,
        doc: "Loads hash table and histories from the file that 'Hash File' names, to go on where they were saved.",
        kind: OptionKind::Button { press: |_| {} },
        when: When::Idle,
    },
    UciOption {
        name: "Ponder",
        doc: "Tells that the GUI may let the engine think on the opponent's time; nothing else depends on it.",
        kind: OptionKind::Check {
            default: false,
            set: |settings, on| settings.ponder = on,
            get: |settings| settings.ponder,
        },
        when: When::Anytime,
    },
    UciOption {
        name: "MultiPV",
        doc: "How many of the best lines are searched and reported.",
        kind: OptionKind::Spin {
            default: 1,
            min: 1,
            max: 256,
            beyond: Beyond::Moved,
            set: |settings, lines| settings.multi_pv = small(lines),
            get: |settings| wide(settings.multi_pv),
        },
        when: When::Anytime,
    },
    UciOption {
        name: "Move Overhead",
        doc: "Milliseconds kept back for each move, for what is lost between the engine and the clock.",
        kind: OptionKind::Spin {
            default: DEFAULT_OVERHEAD,
            min: 0,
            max: 5000,
            beyond: Beyond::Moved,
            set: |settings, time| settings.move_overhead = time.unsigned_abs(),
            get: |settings| wide(settings.move_overhead),
        },
        when: When::Anytime,
    },
    UciOption {
        name: "Style",
        doc: "The search that plays: the strong one, or the exact historical micro-Max.",
        kind: OptionKind::Combo {
            default: 0,
            choices: &["Cairn", "MicroMax"],
            set: |settings, index| settings.style = Style::ALL[index],
            get: |settings| usize::from(settings.style == Style::MicroMax),
        },
        when: When::Idle,
    },
    UciOption {
        name: EVAL_FILE,
        doc: "The file of a network that evaluates; empty for the one that is built in.",
        kind: OptionKind::File {
            set: |settings, path| {
                settings.eval_file = path;
                None
            },
            get: |settings| &settings.eval_file,
        },
        when: When::Idle,
    },
    UciOption {
        name: "UCI_LimitStrength",
        doc: "Plays at the strength that UCI_Elo sets: fewer nodes are searched and fewer moves seen.",
        kind: OptionKind::Check {
            default: false,
            set: |settings, on| settings.limit_strength = on,
            get: |settings| settings.limit_strength,
        },
        when: When::Anytime,
    },
    UciOption {
        name: "UCI_Elo",
        doc: "The strength when it is limited, on a scale close to CCRL Blitz; see `level`.",
        kind: OptionKind::Spin {
            default: level::MAX_ELO as i64,
            min: level::MIN_ELO as i64,
            max: level::MAX_ELO as i64,
            beyond: Beyond::Moved,
            set: |settings, elo| settings.elo = small(elo),
            get: |settings| wide(settings.elo),
        },
        when: When::Anytime,
    },
];

/// The options about what a GUI sends, shows and knows.
static GUI_OPTIONS: [UciOption; 5] = [
    UciOption {
        name: "UCI_Chess960",
        doc: "Writes castling as the king taking its own rook, as is always done in positions that only \
              Chess960 has; both notations are always read.",
        kind: OptionKind::Check {
            default: false,
            set: |settings, on| settings.chess960 = on,
            get: |settings| settings.chess960,
        },
        when: When::Anytime,
    },
    UciOption {
        name: "UCI_ShowWDL",
        doc: "Adds the chances to win, draw and lose, in permill, to each score; fitted to games of style Cairn.",
        kind: OptionKind::Check {
            default: false,
            set: |settings, on| settings.show_wdl = on,
            get: |settings| settings.show_wdl,
        },
        when: When::Anytime,
    },
    UciOption {
        name: "UCI_AnalyseMode",
        doc: "Tells that somebody analyses; then the strength is not limited.",
        kind: OptionKind::Check {
            default: false,
            set: |settings, on| settings.analyse_mode = on,
            get: |settings| settings.analyse_mode,
        },
        when: When::Anytime,
    },
    UciOption {
        name: "UCI_Opponent",
        doc: "Tells who the opponent is; nothing depends on it.",
        kind: OptionKind::Text {
            default: "",
            set: |settings, opponent| opponent.clone_into(&mut settings.opponent),
            get: |settings| &settings.opponent,
        },
        when: When::Anytime,
    },
    UciOption {
        name: "UCI_EngineAbout",
        doc: "Says what this engine is; setting it changes nothing.",
        kind: OptionKind::Text { default: ABOUT, set: |_, _| {}, get: |_| ABOUT },
        when: When::Anytime,
    },
];

/// The options about endgame tables. lichess-bot's default configuration sets them.
static TABLE_OPTIONS: [UciOption; 4] = [
    UciOption {
        name: SYZYGY_PATH,
        doc: "The folders with Syzygy endgame tables, with ';' between them on Windows and ':' elsewhere.",
        kind: OptionKind::File {
            set: |settings, path| {
                settings.syzygy_path = path;
                None
            },
            get: |settings| &settings.syzygy_path,
        },
        when: When::Idle,
    },
    UciOption {
        name: "SyzygyProbeDepth",
        doc: "The least depth at which the largest endgame tables are asked; smaller ones are at any depth.",
        kind: OptionKind::Spin {
            default: 1,
            min: 1,
            max: 100,
            beyond: Beyond::Moved,
            set: |settings, depth| settings.syzygy_probe_depth = small(depth),
            get: |settings| wide(settings.syzygy_probe_depth),
        },
        when: When::Anytime,
    },
    UciOption {
        name: "SyzygyProbeLimit",
        doc: "The most pieces on the board with which endgame tables are asked.",
        kind: OptionKind::Spin {
            default: 7,
            min: 0,
            max: 7,
            beyond: Beyond::Moved,
            set: |settings, pieces| settings.syzygy_probe_limit = small(pieces),
            get: |settings| wide(settings.syzygy_probe_limit),
        },
        when: When::Anytime,
    },
    UciOption {
        name: "Syzygy50MoveRule",
        doc: "Whether a win in the tables that the 50-move rule spoils counts as a draw.",
        kind: OptionKind::Check {
            default: true,
            set: |settings, on| settings.syzygy_50_move_rule = on,
            get: |settings| settings.syzygy_50_move_rule,
        },
        when: When::Anytime,
    },
];

/// The parameters of the search, one option each.
#[cfg(feature = "tune")]
static PARAM_OPTIONS: LazyLock<Vec<UciOption>> = LazyLock::new(|| {
    let option = |(index, param): (usize, &params::Param)| UciOption {
        name: param.name,
        doc: "A number of the search, to be tuned.",
        kind: OptionKind::Param(index),
        when: When::Anytime,
    };
    params::ALL.iter().enumerate().map(option).collect()
});

/// All options, in the order in which they are declared.
pub fn all() -> impl Iterator<Item = &'static UciOption> {
    let options = SEARCH_OPTIONS.iter().chain(&GUI_OPTIONS).chain(&TABLE_OPTIONS);
    #[cfg(feature = "tune")]
    let options = options.chain(PARAM_OPTIONS.iter());
    options
}

/// Whether setting an option has to wait for the end of a search.
#[must_use]
pub fn needs_idle_engine(name: &str) -> bool {
    UciOption::named(name).is_some_and(|option| option.when == When::Idle)
}

impl UciOption {
    /// The option with this name, in whatever case.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static UciOption> {
        all().find(|option| option.name.eq_ignore_ascii_case(name))
    }

    /// The declaration for a GUI.
    #[must_use]
    pub fn declaration(&self) -> OptionDeclaration {
        let kind = match self.kind {
            OptionKind::Spin { default, min, max, .. } => OptionType::Spin { default, min, max },
            #[cfg(feature = "tune")]
            OptionKind::Param(index) => {
                let param = &params::ALL[index];
                let [default, min, max] = [param.default, param.min, param.max].map(i64::from);
                OptionType::Spin { default, min, max }
            }
            OptionKind::Check { default, .. } => OptionType::Check { default },
            OptionKind::Combo { default, choices, .. } => {
                OptionType::Combo { default: choices[default], choices }
            }
            OptionKind::Text { default, .. } => OptionType::Text { default },
            OptionKind::File { .. } => OptionType::Text { default: "" },
            OptionKind::Button { .. } => OptionType::Button,
        };
        OptionDeclaration { name: self.name, kind }
    }

    /// The allowed values, for people.
    #[must_use]
    pub fn allowed(&self) -> String {
        match self.kind {
            OptionKind::Spin { min, max, .. } => format!("a whole number from {min} to {max}"),
            #[cfg(feature = "tune")]
            OptionKind::Param(index) => {
                let param = &params::ALL[index];
                format!("a whole number from {} to {}", param.min, param.max)
            }
            OptionKind::Check { .. } => "true or false".into(),
            OptionKind::Combo { choices, .. } => format!("one of {}", choices.join(", ")),
            OptionKind::Text { .. } => "any text".into(),
            OptionKind::File { .. } => "a path".into(),
            OptionKind::Button { .. } => "no value".into(),
        }
    }

    /// The current value as `setoption` would have it; a button has none.
    #[must_use]
    pub fn value(&self, settings: &Settings) -> Option<String> {
        match self.kind {
            OptionKind::Spin { get, .. } => Some(get(settings).to_string()),
            #[cfg(feature = "tune")]
            OptionKind::Param(index) => Some(settings.params[index].to_string()),
            OptionKind::Check { get, .. } => Some(get(settings).to_string()),
            OptionKind::Combo { choices, get, .. } => Some(choices[get(settings)].to_owned()),
            OptionKind::Text { get, .. } => Some(get(settings).to_owned()),
            OptionKind::File { get, .. } => Some(get(settings).text().to_owned()),
            OptionKind::Button { .. } => None,
        }
    }
}

/// What is to be said about a value that was given to an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What is wrong with it and what is allowed, or why it has no effect yet.
    pub about: String,
    /// What has become of it.
    pub effect: String,
}

impl Remark {
    fn new(about: impl Into<String>, effect: impl Into<String>) -> Remark {
        Remark { about: about.into(), effect: effect.into() }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.about, self.effect)
    }
}

impl Settings {
    /// Sets an option by name. Returns a remark if the value was changed to fit, or has no effect yet.
    ///
    /// # Errors
    /// What is wrong and what is allowed; the old value is kept.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<Option<Remark>, Remark> {
        const KEPT: &str = "the old value is kept";
        let option = UciOption::named(name).ok_or_else(|| {
            Remark::new(format!("there is no option '{}'", quote(name)), "nothing changed")
        })?;
        let value = value.unwrap_or_default();
        let takes =
            || format!("{} takes {}, not '{}'", option.name, option.allowed(), quote(value));
        let refusal = || Remark::new(takes(), KEPT);
        let in_range = |min: i64, max: i64| {
            let wanted: i128 = parse_spin(value).ok_or_else(refusal)?;
            let taken =
                i64::try_from(wanted.clamp(min.into(), max.into())).map_err(|_| refusal())?;
            let moved = i128::from(taken) != wanted;
            let remark = || Remark::new(takes(), format!("it is now {taken}"));
            Ok::<_, Remark>((taken, moved.then(remark)))
        };
        match option.kind {
            OptionKind::Spin { min, max, beyond, set, .. } => {
                let (taken, remark) = in_range(min, max)?;
                if beyond == Beyond::Refused && remark.is_some() {
                    return Err(refusal());
                }
                set(self, taken);
                Ok(remark)
            }
            #[cfg(feature = "tune")]
            OptionKind::Param(index) => {
                let param = &params::ALL[index];
                let (taken, remark) = in_range(param.min.into(), param.max.into())?;
                self.params[index] = i32::try_from(taken).map_err(|_| refusal())?;
                Ok(remark)
            }
            OptionKind::Check { set, .. } => {
                set(self, parse_check(value).ok_or_else(refusal)?);
                Ok(None)
            }
            OptionKind::Combo { choices, set, .. } => {
                let index = choices.iter().position(|choice| choice.eq_ignore_ascii_case(value));
                set(self, index.ok_or_else(refusal)?);
                Ok(None)
            }
            OptionKind::Text { set, .. } => {
                set(self, value);
                Ok(None)
            }
            OptionKind::File { set, .. } => {
                let path = self
                    .files
                    .path(value)
                    .map_err(|reason| Remark::new(format!("{} {reason}", option.name), KEPT))?;
                Ok(set(self, path).map(|why| Remark::new(why, "the path is kept")))
            }
            OptionKind::Button { press } => {
                press(self);
                Ok(None)
            }
        }
    }
}

/// The defaults of the table.
impl Default for Settings {
    fn default() -> Settings {
        let mut settings = Settings {
            hash_mib: 0,
            clear_hash: false,
            hash_file: FilePath::default(),
            threads: 0,
            deterministic: false,
            ponder: false,
            multi_pv: 0,
            move_overhead: 0,
            chess960: false,
            show_wdl: false,
            analyse_mode: false,
            opponent: String::new(),
            limit_strength: false,
            elo: 0,
            syzygy_path: FilePath::default(),
            syzygy_probe_depth: 0,
            syzygy_probe_limit: 0,
            syzygy_50_move_rule: false,
            eval_file: FilePath::default(),
            log_file: FilePath::default(),
            files: FileAccess::Open,
            style: Style::Cairn,
            #[cfg(feature = "tune")]
            params: vec![0; params::ALL.len()],
        };
        for option in all() {
            match option.kind {
                OptionKind::Spin { default, set, .. } => set(&mut settings, default),
                #[cfg(feature = "tune")]
                OptionKind::Param(index) => settings.params[index] = params::ALL[index].default,
                OptionKind::Check { default, set, .. } => set(&mut settings, default),
                OptionKind::Combo { default, set, .. } => set(&mut settings, default),
                OptionKind::Text { default, set, .. } => set(&mut settings, default),
                OptionKind::File { .. } | OptionKind::Button { .. } => {}
            }
        }
        settings
    }
}

/// A whole number of any size, as it is clamped to the range afterwards.
fn parse_spin(text: &str) -> Option<i128> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(i128::MAX);
    Some(if text.starts_with('-') { -size } else { size })
}

/// Reads `true` or `false` in any case: some clients capitalise them.
fn parse_check(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        for option in all() {
            match option.kind {
                OptionKind::Spin { default, min, max, .. } => {
                    assert!((min..=max).contains(&default), "{}", option.name);
                }
                OptionKind::Combo { default, choices, .. } => assert!(default < choices.len()),
                #[cfg(feature = "tune")]
                OptionKind::Param(index) => assert_eq!(params::ALL[index].name, option.name),
                OptionKind::Text { .. } => {
                    let words = option.name.to_lowercase() + &option.doc.to_lowercase();
                    assert!(!words.contains("file") && !words.contains("path"), "{}", option.name);
                }
                OptionKind::Check { .. } | OptionKind::File { .. } | OptionKind::Button { .. } => {}
            }
            // The words at which clients split a declaration.
            for word in option.name.split(' ') {
                let reserved = ["name", "value", "type", "default", "min", "max", "var"];
                assert!(!reserved.contains(&word.to_ascii_lowercase().as_str()), "{}", option.name);
            }
            assert!(option.doc.ends_with('.'), "{}", option.name);
        }
    }

    #[test]
    fn the_option_style_offers_the_styles_there_are() {
        let Some(UciOption { kind: OptionKind::Combo { choices, .. }, .. }) =
            UciOption::named("Style")
        else {
            panic!("no combo");
        };
        assert_eq!(Style::ALL.map(|style| style.to_string()), *choices);
    }

    #[test]
    fn values_out_of_range_are_moved_to_its_end_and_told() {
        let mut settings = Settings::default();
        let remark = settings.set("hash", Some("99999999999999999999")).expect("taken");
        assert_eq!(settings.hash_mib, 65_536);
        let remark = remark.expect("a remark").to_string();
        assert!(remark.contains("from 1 to 65536, not '99999999999999999999'"), "{remark}");
        assert!(remark.ends_with("it is now 65536"), "{remark}");
        settings.set("Hash", Some("-5")).expect("taken");
        assert_eq!(settings.hash_mib, 1);
        assert_eq!(settings.set("Hash", Some("64")), Ok(None));
        assert_eq!(settings.hash_mib, 64);
    }

    #[test]
    fn bad_values_change_nothing_and_say_what_is_allowed() {
        for (name, value, allowed) in [
            ("Hash", Some("abc"), "from 1 to 65536"),
            ("Hash", Some("64 MB"), "from 1 to 65536"),
            ("Hash", Some(""), "from 1 to 65536"),
            ("Hash", None, "from 1 to 65536"),
            ("Threads", Some("two"), "from 1 to 1024"),
            ("Threads", Some("0"), "from 1 to 1024"),
            ("Threads", Some("1025"), "from 1 to 1024"),
            ("Threads", Some("99999999999999999999"), "from 1 to 1024"),
            ("UCI_Chess960", Some("yes"), "true or false"),
            ("Style", Some("Tal"), "Cairn, MicroMax"),
            ("Skill Level", Some("10"), "no option"),
        ] {
            let mut settings = Settings::default();
            let refusal = settings.set(name, value).expect_err(name).to_string();
            assert!(refusal.contains(allowed), "{refusal}");
            assert_eq!(settings, Settings::default());
        }
    }

    #[test]
    fn every_option_reaches_its_setting() {
        let mut settings = Settings::default();
        let path = |text| FileAccess::Open.path(text).expect("a path");
        let wanted = Settings {
            hash_mib: 32,
            clear_hash: true,
            hash_file: path("/a hash"),
            threads: 4,
            deterministic: true,
            ponder: true,
            multi_pv: 3,
            move_overhead: 250,
            chess960: true,
            show_wdl: true,
            analyse_mode: true,
            opponent: "GM 2800 human Gary  Kasparov".into(),
            limit_strength: true,
            elo: 1500,
            syzygy_path: path("/a b/c:d"),
            syzygy_probe_depth: 2,
            syzygy_probe_limit: 5,
            syzygy_50_move_rule: false,
            eval_file: path("/a net"),
            log_file: path("/tmp/a log"),
            files: FileAccess::Open,
            style: Style::MicroMax,
            #[cfg(feature = "tune")]
            params: Settings::default().params,
        };
        for (name, value) in [
            ("HASH", Some("32")),
            ("clear hash", None),
            ("Threads", Some("4")),
            ("Deterministic", Some("true")),
            ("Ponder", Some("true")),
            ("MultiPV", Some("3")),
            ("move overhead", Some("250")),
            ("UCI_Chess960", Some("True")),
            ("UCI_ShowWDL", Some("TRUE")),
            ("UCI_AnalyseMode", Some("true")),
            ("UCI_Opponent", Some("GM 2800 human Gary  Kasparov")),
            ("UCI_EngineAbout", Some("something else")),
            ("UCI_LimitStrength", Some("true")),
            ("UCI_Elo", Some("1500")),
            ("SyzygyPath", Some("/a b/c:d")),
            ("SyzygyProbeDepth", Some("2")),
            ("SyzygyProbeLimit", Some("5")),
            ("Syzygy50MoveRule", Some("false")),
            ("Debug Log File", Some("/tmp/a log")),
            ("style", Some("micromax")),
            ("evalfile", Some("\"/a net\"")),
            ("hash file", Some("'/a hash'")),
            ("save hash", None),
            ("load hash", None),
        ] {
            assert_eq!(settings.set(name, value), Ok(None), "{name}");
        }
        assert_eq!(settings, wanted);
    }

    #[test]
    fn what_an_option_says_it_is_sets_it_to_the_same() {
        let mut changed = Settings::default();
        for (name, value) in
            [("Hash", "3"), ("Style", "MicroMax"), ("UCI_ShowWDL", "true"), ("UCI_Opponent", "a b")]
        {
            changed.set(name, Some(value)).expect("taken");
        }
        let mut copy = Settings::default();
        for option in all() {
            if let Some(value) = option.value(&changed) {
                copy.set(option.name, Some(&value)).expect("taken");
            }
        }
        assert_eq!(copy, changed);
    }

    #[test]
    fn without_access_to_files_no_option_names_one() {
        let mut settings = Settings { files: FileAccess::Closed, ..Settings::default() };
        for option in all().filter(|option| matches!(option.kind, OptionKind::File { .. })) {
            for value in ["/tmp/x", "\"/tmp/x\"", "<empty>"] {
                settings.set(option.name, Some(value)).expect_err("a file");
                settings.set(&option.name.to_uppercase(), Some(value)).expect_err("a file");
            }
        }
        assert_eq!(settings, Settings { files: FileAccess::Closed, ..Settings::default() });
    }

    #[cfg(feature = "tune")]
    #[test]
    fn every_parameter_is_an_option_within_its_range() {
        let mut settings = Settings::default();
        for (index, param) in params::ALL.iter().enumerate() {
            assert_eq!(settings.params[index], param.default);
            assert_eq!(settings.set(param.name, Some(&param.max.to_string())), Ok(None));
            assert_eq!(settings.params[index], param.max);
            let remark = settings.set(param.name, Some("-1000000")).expect("taken");
            assert!(remark.expect("a remark").about.contains(param.name));
            assert_eq!(settings.params[index], param.min);
            settings.set(param.name, Some("x")).expect_err("no number");
        }
    }

    #[test]
    fn the_strength_is_limited_only_when_asked_for_and_not_in_analysis() {
        let mut settings = Settings::default();
        assert_eq!(settings.level(), None);
        settings.limit_strength = true;
        settings.elo = level::MIN_ELO;
        assert_eq!(settings.level(), Some(Level::of(level::MIN_ELO)));
        settings.analyse_mode = true;
        assert_eq!(settings.level(), None);
    }
}
