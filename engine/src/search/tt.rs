//! The strong search's transposition table: entries of 8 bytes, so that 8 slots are one cache line.
//!
//! ```text
//! 63      43 | 42    27 | 26   13 | 12   6 | 5   4 | 3  0
//!  check 21  |  move 16 | score 14|  depth | bound | age
//! ```

use super::root_lines::Found;
use super::team::Member;
use crate::hash::{Entry, SLOTS, Slots, Table};
use crate::keys::Keys;
use crate::moves::Move;
use crate::params;
use crate::score::{INFINITY, Score};

/// How a score relates to the true one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// At most this.
    Upper = 1,
    /// At least this.
    Lower = 2,
    /// Just this.
    Exact = 3,
}

impl Bound {
    /// The bound of a score that a search with this window returned.
    #[inline]
    pub(crate) const fn of(score: Score, alpha: Score, beta: Score) -> Bound {
        if score >= beta {
            Bound::Lower
        } else if score > alpha {
            Bound::Exact
        } else {
            Bound::Upper
        }
    }
}

/// An entry, unpacked. The score is the node's own, unsettled (see `delay`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TtEntry {
    pub(crate) mv: Option<u16>,
    pub(crate) score: Score,
    pub(crate) depth: i32,
    pub(crate) bound: Bound,
}

impl TtEntry {
    /// The move alone: the score becomes an upper bound of infinity, which never cuts off.
    #[inline]
    pub(crate) const fn without_score(self) -> TtEntry {
        TtEntry { score: INFINITY, depth: 0, bound: Bound::Upper, ..self }
    }

    /// Whether the score is a cutoff for a window: exact, or a bound beyond the window.
    #[inline]
    pub(crate) const fn is_cutoff(&self, alpha: Score, beta: Score) -> bool {
        match self.bound {
            Bound::Exact => true,
            Bound::Lower => self.score >= beta,
            Bound::Upper => self.score <= alpha,
        }
    }
}

/// The packed form; zero is an empty slot, as no bound is 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packed(u64);

impl Entry<1> for Packed {
    #[inline(always)]
    fn pack(self) -> [u64; 1] {
        [self.0]
    }

    #[inline(always)]
    fn unpack([word]: [u64; 1]) -> Packed {
        Packed(word)
    }
}

const AGE_MASK: u16 = 15;

impl Packed {
    #[inline(always)]
    fn new(check: u64, stored: &TtEntry, age: u16) -> Packed {
        let mv = u64::from(stored.mv.unwrap_or(0));
        let score = (stored.score + (1 << 13)) as u64 & 0x3fff;
        Packed(
            check << 43
                | mv << 27
                | score << 13
                | (stored.depth as u64 & 127) << 6
                | (stored.bound as u64) << 4
                | u64::from(age & AGE_MASK),
        )
    }

    const fn is_empty(self) -> bool {
        self.0 == 0
    }

    const fn check(self) -> u64 {
        self.0 >> 43
    }

    const fn depth(self) -> i32 {
        (self.0 >> 6 & 127) as i32
    }

    /// How many searches ago it was stored, 0 to 15.
    const fn searches_ago(self, age: u16) -> i32 {
        (age.wrapping_sub(self.0 as u16) & AGE_MASK) as i32
    }

    fn stored(self) -> TtEntry {
        let mv = (self.0 >> 27) as u16;
        TtEntry {
            mv: (mv != 0).then_some(mv),
            score: (self.0 >> 13 & 0x3fff) as i32 - (1 << 13),
            depth: self.depth(),
            bound: match self.0 >> 4 & 3 {
                1 => Bound::Upper,
                2 => Bound::Lower,
                _ => Bound::Exact,
            },
        }
    }
}

/// Whether a word is an empty slot or an entry that a search can have stored.
pub(super) fn is_sound(word: u64) -> bool {
    let packed = Packed(word);
    packed.is_empty() || (word >> 4 & 3 != 0 && packed.stored().score.abs() <= INFINITY)
}

/// The strong search's table.
pub(crate) type CairnTable = Table<Packed, 1>;

#[inline(always)]
const fn check_of(keys: Keys) -> u64 {
    keys.lock >> 43
}

/// The table as a thread sees it.
pub(super) trait TtView {
    /// After how many nodes of a thread a period ends, where there are periods.
    const PERIOD: u64 = u64::MAX;

    /// The entry of a position, if there is one.
    fn probe(&self, keys: Keys) -> Option<TtEntry>;

    /// Stores an entry of a position, in place of one that is worth less.
    fn store(&mut self, keys: Keys, new: TtEntry);

    /// Prefetches the entries of a position that is about to be probed.
    fn prefetch(&self, keys: Keys);

    /// The share of slots with entries of this search, in permill (`hashfull`).
    fn fill(&self) -> u32;

    /// Ends a period: tells the other threads what was stored and `found`, and takes over what they
    /// have told. Returns whether to go on; if not, nothing has happened.
    fn end_period(&mut self, _member: Member<'_>, _found: &Found) -> bool {
        true
    }

    /// The nodes of the other threads that went into what was taken over from them.
    #[inline(always)]
    fn merged_nodes(&self) -> u64 {
        0
    }
}

/// The table that all threads share: what one of them stores all can probe at once. Each entry is one atomic
/// word, so that none is ever half of one and half of another.
#[derive(Clone, Copy)]
pub(crate) struct SharedTt<'a>(pub(crate) &'a CairnTable);

impl TtView for SharedTt<'_> {
    #[inline(always)]
    fn probe(&self, keys: Keys) -> Option<TtEntry> {
        probe(self.0, keys)
    }

    #[inline(always)]
    fn store(&mut self, keys: Keys, new: TtEntry) {
        store(self.0, keys, new);
    }

    #[inline(always)]
    fn prefetch(&self, keys: Keys) {
        self.0.prefetch(keys);
    }

    fn fill(&self) -> u32 {
        fill(self.0)
    }
}

/// The entry of a position, if there is one.
#[inline]
pub(crate) fn probe(tt: &CairnTable, keys: Keys) -> Option<TtEntry> {
    let slots = tt.slots(keys);
    let check = check_of(keys);
    (0..SLOTS)
        .map(|slot| slots.load(slot))
        .find(|entry| entry.check() == check && !entry.is_empty())
        .map(Packed::stored)
}

/// Stores an entry. One of the same position is replaced, unless it is of this search and much deeper, and
/// the new score is a bound or quiescence's. Else an empty slot, else the entry with the least depth is
/// replaced, where each search ago counts as some plies. Source: the ageing of H.G. Muller's engines and Stockfish, see
/// <https://www.chessprogramming.org/Transposition_Table#Replacement_Strategies>.
#[inline]
pub(crate) fn store(tt: &CairnTable, keys: Keys, mut new: TtEntry) {
    let slots: Slots<'_, Packed, 1> = tt.slots(keys);
    let check = check_of(keys);
    let age = tt.generation();
    let mut victim = 0;
    let mut least = i32::MAX;
    for slot in 0..SLOTS {
        let old = slots.load(slot);
        if old.is_empty() {
            if least > i32::MIN {
                victim = slot;
                least = i32::MIN;
            }
            continue;
        }
        if old.check() == check {
            let old_entry = old.stored();
            let is_weaker = new.bound != Bound::Exact || new.depth == 0;
            let keeps = is_weaker
                && old.searches_ago(age) == 0
                && new.depth + params::hash_depth_slack() <= old_entry.depth;
            if keeps {
                return;
            }
            new.mv = new.mv.or(old_entry.mv);
            slots.store(slot, Packed::new(check, &new, age));
            return;
        }
        let worth = old.depth() - params::hash_age_plies() * old.searches_ago(age);
        if worth < least {
            least = worth;
            victim = slot;
        }
    }
    slots.store(victim, Packed::new(check, &new, age));
}

/// The share of slots with entries of this search, in permill (`hashfull`).
pub(crate) fn fill(tt: &CairnTable) -> u32 {
    let age = tt.generation();
    tt.fill(|entry| !entry.is_empty() && entry.searches_ago(age) == 0)
}

/// Whether a stored move is this one.
#[inline(always)]
pub(crate) fn is_move(stored: Option<u16>, mv: Move) -> bool {
    stored == Some(mv.raw())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{INFINITY, MATE};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    fn keys(n: u64) -> Keys {
        Keys { index: 0, lock: n << 43 }
    }

    #[test]
    fn without_its_score_an_entry_settles_nothing() {
        for bound in [Bound::Upper, Bound::Lower, Bound::Exact] {
            let stored = TtEntry { mv: Some(9), score: 0, depth: 9, bound }.without_score();
            assert_eq!(stored.mv, Some(9));
            for beta in -MATE..=MATE {
                assert!(!stored.is_cutoff(beta - 1, beta) && !stored.is_cutoff(beta, beta));
            }
        }
    }

    #[test]
    fn everything_comes_back() {
        let table = CairnTable::new(1).unwrap();
        for score in [-INFINITY, -MATE, -1, 0, 1, MATE, INFINITY] {
            for depth in [0, 1, 64, 127] {
                for bound in [Bound::Upper, Bound::Lower, Bound::Exact] {
                    for mv in [None, Some(1), Some(0xffff)] {
                        let mut table = CairnTable::new(1).unwrap();
                        table.next_generation();
                        let stored = TtEntry { mv, score, depth, bound };
                        store(&table, keys(77), stored);
                        assert_eq!(probe(&table, keys(77)), Some(stored));
                        assert_eq!(probe(&table, keys(78)), None);
                    }
                }
            }
        }
        assert_eq!(probe(&table, keys(0)), None, "an empty slot is no entry");
    }

    #[test]
    fn the_shallowest_and_oldest_goes() {
        let mut table = CairnTable::new(1).unwrap();
        let entry = |depth| TtEntry { mv: None, score: 0, depth, bound: Bound::Exact };
        for n in 1..=8 {
            store(&table, keys(n), entry(10 + n as i32));
        }
        store(&table, keys(9), entry(1));
        assert_eq!(probe(&table, keys(1)), None, "depth 11 was the shallowest");
        assert!((2..=9).all(|n| probe(&table, keys(n)).is_some()));
        for _ in 0..4 {
            table.next_generation();
        }
        store(&table, keys(10), entry(3));
        store(&table, keys(11), entry(3));
        assert!(probe(&table, keys(10)).is_some(), "younger entries are worth more");
        assert!(probe(&table, keys(8)).is_some());
    }

    #[test]
    fn quiescence_does_not_replace_a_much_deeper_entry() {
        let tt = CairnTable::new(1).unwrap();
        for bound in [Bound::Upper, Bound::Lower, Bound::Exact] {
            let deep = TtEntry { mv: Some(5), score: 3, depth: 9, bound };
            store(&tt, keys(1), deep);
            store(&tt, keys(1), TtEntry { mv: None, score: 8, depth: 0, bound: Bound::Exact });
            assert_eq!(probe(&tt, keys(1)), Some(deep));
            let exact = TtEntry { mv: Some(6), score: 8, depth: 1, bound: Bound::Exact };
            store(&tt, keys(1), exact);
            assert_eq!(probe(&tt, keys(1)), Some(exact), "else an exact score replaces any other");
            store(&tt, keys(1), TtEntry { depth: 0, ..exact });
            assert_eq!(probe(&tt, keys(1)).unwrap().depth, 0, "as deep as that, almost");
        }
    }

    #[test]
    fn a_bound_does_not_replace_a_much_deeper_entry_and_moves_are_kept() {
        let table = CairnTable::new(1).unwrap();
        let deep = TtEntry { mv: Some(5), score: 3, depth: 9, bound: Bound::Exact };
        store(&table, keys(1), deep);
        store(&table, keys(1), TtEntry { mv: None, score: 8, depth: 5, bound: Bound::Lower });
        assert_eq!(probe(&table, keys(1)), Some(deep));
        store(&table, keys(1), TtEntry { mv: None, score: 8, depth: 6, bound: Bound::Lower });
        let kept = probe(&table, keys(1)).unwrap();
        assert_eq!((kept.mv, kept.depth), (Some(5), 6));
    }

    #[test]
    fn false_hits_are_as_rare_as_the_bits_say() {
        const PROBES: u64 = 16_000_000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut keys = || Keys { index: random.next_u64(), lock: random.next_u64() };
        let table = CairnTable::new(1).unwrap();
        let entry = TtEntry { mv: None, score: 0, depth: 1, bound: Bound::Exact };
        // Until each bucket is full.
        let slots = 1 << 17;
        (0..4 * slots).for_each(|_| store(&table, keys(), entry));
        assert_eq!(fill(&table), 1000);
        let hits = (0..PROBES).filter(|_| probe(&table, keys()).is_some()).count() as f64;
        // One in 2^21 for each of 8 slots.
        let expected = (PROBES * SLOTS as u64) as f64 / f64::from(1 << 21);
        assert!((hits - expected).abs() < 4.0 * expected.sqrt(), "{hits} instead of {expected}");
    }
}
