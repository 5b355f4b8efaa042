//! The options: one table that says all about each, and the settings they change.

use cairn_engine::search::Style;

use crate::protocol::quote;

/// One option, as it is declared, documented and set.
#[derive(Debug)]
pub struct UciOption {
    /// The name that goes over the wire. It never holds the words `name`, `value`, `type`,
    /// `default`, `min`, `max` or `var`, at which clients split the declaration.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
    /// Its type, range, default and effect.
    pub kind: Kind,
    /// When it may change.
    pub when: When,
}

/// The type of an option with its range, its default and what setting it does.
#[derive(Debug)]
pub enum Kind {
    /// A whole number.
    Spin {
        /// The value at the start.
        default: i64,
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
        /// Takes over a value in range.
        set: fn(&mut Settings, i64),
    },
    /// Yes or no.
    Check {
        /// The value at the start.
        default: bool,
        /// Takes over a value.
        set: fn(&mut Settings, bool),
    },
    /// One of several words.
    Combo {
        /// The index of the value at the start.
        default: usize,
        /// The words.
        choices: &'static [&'static str],
        /// Takes over the word with this index.
        set: fn(&mut Settings, usize),
    },
    /// Something to do.
    Button {
        /// Does it.
        press: fn(&mut Settings),
    },
}

/// When an option may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At any time; a search that is under way keeps the value it began with.
    Anytime,
    /// Only while nothing is searched, so a search that is under way is stopped first.
    Idle,
}

/// What the options have been set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Size of the hash table, in MiB.
    pub hash_mib: usize,
    /// The hash table is to be emptied before the next search.
    pub clear_hash: bool,
    /// How many of the best lines are reported.
    pub multi_pv: usize,
    /// What a move costs beyond thinking, in milliseconds.
    pub move_overhead: u64,
    /// Castling is written as the king taking its own rook.
    pub chess960: bool,
    /// Which search is used.
    pub style: Style,
}

/// The size of the hash table at the start, in MiB: small, so that starting is quick and many
/// engines fit beside each other.
pub const DEFAULT_HASH: usize = 16;

/// The largest hash table that is accepted, in MiB: 64 GiB.
const MAX_HASH: i64 = 65_536;

/// Milliseconds lost with each move on the way between engine and clock, unless told otherwise.
const DEFAULT_OVERHEAD: i64 = 10;

/// All options, in the order in which they are declared.
pub static OPTIONS: [UciOption; 8] = [
    UciOption {
        name: "Hash",
        doc: "Size of the hash table in MiB.",
        kind: Kind::Spin {
            default: DEFAULT_HASH as i64,
            min: 1,
            max: MAX_HASH,
            set: |settings, mib| settings.hash_mib = usize::try_from(mib).unwrap_or(DEFAULT_HASH),
        },
        when: When::Idle,
    },
    UciOption {
        name: "Threads",
        doc: "Search threads; the search runs on one.",
        kind: Kind::Spin { default: 1, min: 1, max: 1, set: |_, _| {} },
        when: When::Idle,
    },
    UciOption {
        name: "Clear Hash",
        doc: "Empties the hash table.",
        kind: Kind::Button { press: |settings| settings.clear_hash = true },
        when: When::Idle,
    },
    UciOption {
        name: "Ponder",
        doc: "Tells that the GUI may let the engine think on the opponent's time; nothing else depends on it.",
        kind: Kind::Check { default: false, set: |_, _| {} },
        when: When::Anytime,
    },
    UciOption {
        name: "MultiPV",
        doc: "How many of the best lines are searched and reported.",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 256,
            set: |settings, lines| settings.multi_pv = usize::try_from(lines).unwrap_or(1),
        },
        when: When::Anytime,
    },
    UciOption {
        name: "Move Overhead",
        doc: "Milliseconds kept back for each move, for what is lost between the engine and the clock.",
        kind: Kind::Spin {
            default: DEFAULT_OVERHEAD,
            min: 0,
            max: 5000,
            set: |settings, time| settings.move_overhead = time.unsigned_abs(),
        },
        when: When::Anytime,
    },
    UciOption {
        name: "UCI_Chess960",
        doc: "Writes castling as the king taking its own rook; both notations are always read.",
        kind: Kind::Check { default: false, set: |settings, on| settings.chess960 = on },
        when: When::Anytime,
    },
    UciOption {
        name: "Style",
        doc: "The search that plays: the strong one, or the exact historical micro-Max.",
        kind: Kind::Combo {
            default: 1,
            choices: &["Cairn", "MicroMax"],
            set: |settings, index| settings.style = Style::ALL[index],
        },
        when: When::Idle,
    },
];

/// Two table entries are the same option when they have the same name.
impl PartialEq for UciOption {
    fn eq(&self, other: &UciOption) -> bool {
        self.name == other.name
    }
}

impl UciOption {
    /// The option with this name, in whatever case.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static UciOption> {
        OPTIONS.iter().find(|option| option.name.eq_ignore_ascii_case(name))
    }

    /// What may be set, for people.
    #[must_use]
    pub fn allowed(&self) -> String {
        match self.kind {
            Kind::Spin { min, max, .. } => format!("a whole number from {min} to {max}"),
            Kind::Check { .. } => "true or false".into(),
            Kind::Combo { choices, .. } => format!("one of {}", choices.join(", ")),
            Kind::Button { .. } => "no value".into(),
        }
    }
}

impl Settings {
    /// Sets an option by name. The text that may come back is a remark on what was done.
    ///
    /// # Errors
    /// What was wrong and what would have been right; the old value is kept.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<Option<String>, String> {
        let option = UciOption::named(name)
            .ok_or_else(|| format!("there is no option '{}', nothing changed", quote(name)))?;
        let value = value.unwrap_or_default();
        let refusal = || {
            let allowed = option.allowed();
            let said = quote(value);
            format!("{} takes {allowed}, not '{said}'; the old value is kept", option.name)
        };
        match option.kind {
            Kind::Spin { min, max, set, .. } => {
                let wanted: i128 = parse_spin(value).ok_or_else(refusal)?;
                let taken =
                    i64::try_from(wanted.clamp(min.into(), max.into())).map_err(|_| refusal())?;
                set(self, taken);
                let moved = i128::from(taken) != wanted;
                let allowed = option.allowed();
                Ok(moved.then(|| format!("{} takes {allowed}; it is now {taken}", option.name)))
            }
            Kind::Check { set, .. } => {
                set(self, parse_check(value).ok_or_else(refusal)?);
                Ok(None)
            }
            Kind::Combo { choices, set, .. } => {
                let index = choices.iter().position(|choice| choice.eq_ignore_ascii_case(value));
                set(self, index.ok_or_else(refusal)?);
                Ok(None)
            }
            Kind::Button { press } => {
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
            hash_mib: DEFAULT_HASH,
            clear_hash: false,
            multi_pv: 1,
            move_overhead: 0,
            chess960: false,
            style: Style::MicroMax,
        };
        for option in &OPTIONS {
            match option.kind {
                Kind::Spin { default, set, .. } => set(&mut settings, default),
                Kind::Check { default, set } => set(&mut settings, default),
                Kind::Combo { default, set, .. } => set(&mut settings, default),
                Kind::Button { .. } => {}
            }
        }
        settings
    }
}

/// A whole number of any size: where it lies beyond the range it will be moved to its end anyway.
fn parse_spin(text: &str) -> Option<i128> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(i128::MAX);
    Some(if text.starts_with('-') { -size } else { size })
}

/// Some clients capitalise the two words.
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
        for option in &OPTIONS {
            match option.kind {
                Kind::Spin { default, min, max, .. } => {
                    assert!((min..=max).contains(&default), "{}", option.name);
                }
                Kind::Combo { default, choices, .. } => assert!(default < choices.len()),
                Kind::Check { .. } | Kind::Button { .. } => {}
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
        let Some(UciOption { kind: Kind::Combo { choices, .. }, .. }) = UciOption::named("Style")
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
        assert!(remark.expect("a remark").contains("from 1 to 65536"));
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
            ("UCI_Chess960", Some("yes"), "true or false"),
            ("Style", Some("Tal"), "Cairn, MicroMax"),
            ("Skill Level", Some("10"), "no option"),
        ] {
            let mut settings = Settings::default();
            let refusal = settings.set(name, value).expect_err(name);
            assert!(refusal.contains(allowed), "{refusal}");
            assert_eq!(settings, Settings::default());
        }
    }

    #[test]
    fn every_option_reaches_its_setting() {
        let mut settings = Settings::default();
        let wanted = Settings {
            hash_mib: 32,
            clear_hash: true,
            multi_pv: 3,
            move_overhead: 250,
            chess960: true,
            style: Style::Cairn,
        };
        for (name, value) in [
            ("HASH", Some("32")),
            ("clear hash", None),
            ("MultiPV", Some("3")),
            ("move overhead", Some("250")),
            ("UCI_Chess960", Some("True")),
            ("style", Some("cairn")),
        ] {
            assert_eq!(settings.set(name, value), Ok(None), "{name}");
        }
        assert_eq!(settings, wanted);
    }
}
