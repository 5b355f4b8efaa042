//! Games out of the bytes of a file, of either format, whole or damaged.

use super::format1::Record;
use super::format2::{self, BlockError, HEADER_LENGTH, Header, HeaderError, MAGIC};
use super::game::Game;
use std::fmt;

/// The most bytes that [`Decoder::step`] has to be shown to come to a decision.
pub const LARGEST_STEP: usize = format2::LONGEST_BLOCK;

/// A part of a file that holds no whole game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The first byte of it, from the start of the file.
    pub from: u64,
    /// The first byte behind it.
    pub to: u64,
    /// The number of the game that should stand there.
    pub number: u32,
    /// What is wrong.
    pub kind: DamageKind,
}

/// What is wrong with a part of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DamageKind {
    /// The file ends within a game: it was being written, and nothing else is lost.
    CutOff,
    /// Nothing but zeros up to the end of the file, as a crash of the machine may leave them.
    Zeros,
    /// The header: how the games were made is not known.
    Header(HeaderError),
    /// A game.
    Game(BlockError),
    /// Something else than a game, in format 1, in which nothing can be found again behind it.
    Record,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Damage { from, to, number, kind } = self;
        write!(f, "byte {from}, game {number}: ")?;
        match kind {
            DamageKind::CutOff => write!(f, "the file ends within the game")?,
            DamageKind::Zeros => write!(f, "nothing but zeros up to the end")?,
            DamageKind::Header(error) => write!(f, "{error}")?,
            DamageKind::Game(error) => write!(f, "{error}")?,
            DamageKind::Record => write!(f, "this is no game")?,
        }
        write!(f, " ({} bytes left out)", to - from)
    }
}

impl std::error::Error for Damage {}

/// What comes next in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A game with its number; in format 1 they are counted from 0.
    Game(u32, Game),
    /// Nothing that can be used. Games may follow.
    Damage(Damage),
    /// That cannot be said before more bytes are shown.
    More,
    /// The end.
    End,
}

/// How the games of a file are written.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Format {
    One,
    /// The header, if it is whole.
    Two(Option<Header>),
}

/// Reads games from bytes that are shown to it piece by piece, see [`games`] for all at once.
#[derive(Clone, Debug)]
pub struct Decoder {
    format: Format,
    /// How many bytes have been used up.
    at: u64,
    /// The number of the next game, if none is missing.
    expected: u32,
    /// Damage that has begun, with its end where the bytes were used up.
    damage: Option<Damage>,
    /// Whether it is all zeros so far.
    zeros: bool,
}

impl Decoder {
    /// Looks at the first bytes of a file, all of it or at least 64 bytes, and tells how many of them
    /// are used up.
    ///
    /// # Errors
    /// If this is no file of games.
    pub fn new(bytes: &[u8]) -> Result<(Decoder, usize), HeaderError> {
        let begin = |format, at: usize, expected| Decoder {
            format,
            at: at as u64,
            expected,
            damage: None,
            zeros: false,
        };
        match Header::read(bytes) {
            Ok(header) => {
                let first = header.first;
                Ok((begin(Format::Two(Some(header)), HEADER_LENGTH, first), HEADER_LENGTH))
            }
            Err(HeaderError::Foreign) => {
                // Format 1 has no header: its first record has to be one.
                let begun = bytes.len() > 1 && Record::is_begun(bytes);
                if !begun && Record::read(bytes).is_none() {
                    return Err(HeaderError::Foreign);
                }
                Ok((begin(Format::One, 0, 0), 0))
            }
            Err(error @ (HeaderError::Checksum | HeaderError::Setting)) => {
                let mut decoder = begin(Format::Two(None), HEADER_LENGTH, 0);
                let (from, to) = (MAGIC.len() as u64, HEADER_LENGTH as u64);
                let kind = DamageKind::Header(error);
                decoder.damage = Some(Damage { from, to, number: 0, kind });
                Ok((decoder, HEADER_LENGTH))
            }
            Err(error) => Err(error),
        }
    }

    /// The header, if the file has one that is whole.
    #[must_use]
    pub const fn header(&self) -> Option<&Header> {
        match &self.format {
            Format::Two(Some(header)) => Some(header),
            _ => None,
        }
    }

    /// The number of the format, 1 or 2.
    #[must_use]
    pub const fn format(&self) -> u8 {
        match self.format {
            Format::One => 1,
            Format::Two(_) => 2,
        }
    }

    /// How many bytes of the file have been used up.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.at
    }

    /// Takes the next step from the bytes that have not been used up, and tells how many of them are
    /// now. The answer is [`Step::More`] only if these are fewer than [`LARGEST_STEP`] and there are
    /// more behind them, which `at_end` denies.
    pub fn step(&mut self, bytes: &[u8], at_end: bool) -> (usize, Step) {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            if let Some(Damage { kind: DamageKind::Header(_), .. }) = self.damage {
                return (used, self.end_damage());
            }
            if rest.is_empty() {
                return (used, if at_end { self.end() } else { Step::More });
            }
            let found = match self.format {
                Format::One => self.read_record(rest, at_end),
                Format::Two(_) => self.read_block(rest, at_end),
            };
            match found {
                Ok(None) => return (used, Step::More),
                Ok(Some(_)) if self.damage.is_some() => return (used, self.end_damage()),
                Ok(Some((number, game, length))) => {
                    self.at += length as u64;
                    self.expected = number.saturating_add(1);
                    return (used + length, Step::Game(number, game));
                }
                Err(kind) => used += self.skip(rest, at_end, kind),
            }
        }
    }

    /// Leaves out bytes up to where a game may begin, at least one, and tells how many.
    fn skip(&mut self, rest: &[u8], at_end: bool, kind: DamageKind) -> usize {
        if self.damage.is_none() {
            let (from, number) = (self.at, self.expected);
            self.damage = Some(Damage { from, to: from, number, kind });
            self.zeros = true;
        }
        let count = match self.format {
            Format::One => rest.len(),
            Format::Two(_) => (1..rest.len())
                .find(|&at| self.read_block(&rest[at..], at_end).is_ok())
                .unwrap_or(rest.len()),
        };
        self.zeros &= rest[..count].iter().all(|&byte| byte == 0);
        self.at += count as u64;
        count
    }

    /// Tells of the damage behind which a game begins.
    fn end_damage(&mut self) -> Step {
        let Some(mut damage) = self.damage.take() else { return Step::End };
        damage.to = self.at;
        if damage.kind == DamageKind::CutOff {
            // There are games behind it: it said that it were longer than it is.
            damage.kind = DamageKind::Game(BlockError::Short);
        }
        Step::Damage(damage)
    }

    fn end(&mut self) -> Step {
        let Some(mut damage) = self.damage.take() else { return Step::End };
        damage.to = self.at;
        if self.zeros {
            damage.kind = DamageKind::Zeros;
        }
        Step::Damage(damage)
    }

    /// The game at the start of `rest`; nothing if more bytes have to be seen.
    fn read_record(
        &self,
        rest: &[u8],
        at_end: bool,
    ) -> Result<Option<(u32, Game, usize)>, DamageKind> {
        if self.damage.is_some() {
            return Err(DamageKind::Record);
        }
        match Record::read(rest) {
            Some((record, length)) => Ok(Some((self.expected, record.into(), length))),
            None if !Record::is_begun(rest) => Err(DamageKind::Record),
            None if at_end => Err(DamageKind::CutOff),
            None => Ok(None),
        }
    }

    fn read_block(
        &self,
        rest: &[u8],
        at_end: bool,
    ) -> Result<Option<(u32, Game, usize)>, DamageKind> {
        match format2::read_block(rest) {
            Ok((number, _, _)) if number < self.expected => {
                Err(DamageKind::Game(BlockError::Field("games are out of order")))
            }
            Ok(found) => Ok(Some(found)),
            Err(BlockError::Short) if !at_end => Ok(None),
            Err(BlockError::Short) => {
                let number = self.expected.to_le_bytes();
                let known = rest.len().min(number.len());
                let next = rest[..known] == number[..known];
                Err(if next { DamageKind::CutOff } else { DamageKind::Game(BlockError::Short) })
            }
            Err(error) => Err(DamageKind::Game(error)),
        }
    }
}

/// The games of a file that is in memory as a whole, with what is damaged in between.
///
/// # Errors
/// If this is no file of games.
pub fn games(
    bytes: &[u8],
) -> Result<impl Iterator<Item = Result<(u32, Game), Damage>>, HeaderError> {
    let (mut decoder, mut at) = Decoder::new(bytes)?;
    Ok(std::iter::from_fn(move || {
        let (used, step) = decoder.step(&bytes[at..], true);
        at += used;
        match step {
            Step::Game(number, game) => Some(Ok((number, game))),
            Step::Damage(damage) => Some(Err(damage)),
            Step::More | Step::End => None,
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::eval::Damping;
    use crate::selfplay::{Ending, GameResult, Ply, Settings, Start};

    const FIRST: u32 = 300;

    fn game(number: u32) -> Game {
        let moves = Board::startpos().legal_moves();
        let mv = |index: u32| moves[index as usize % moves.len()];
        Game {
            start: Start::STANDARD,
            opening: (0..number % 3).map(mv).collect(),
            plies: (0..=number % 5).map(|i| Ply { mv: mv(i + number), score: i as i16 }).collect(),
            result: GameResult::Draw,
            ending: Some(Ending::Repetition),
        }
    }

    /// A file with these games, and where each of them ends in it.
    fn file(numbers: &[u32]) -> (Vec<u8>, Vec<usize>) {
        let settings = Settings::default();
        let header = Header { first: FIRST, bench: 1, settings, damping: Damping::NONE };
        let mut bytes = header.to_bytes().to_vec();
        let mut ends = Vec::new();
        for &number in numbers {
            format2::write_block(number, &game(number), &mut bytes);
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    const NUMBERS: [u32; 6] = [300, 301, 302, 303, 310, 311];

    fn read(bytes: &[u8]) -> (Vec<u32>, Vec<Damage>) {
        let (mut numbers, mut damages) = (Vec::new(), Vec::new());
        for item in games(bytes).unwrap() {
            match item {
                Ok((number, found)) => {
                    assert!(found == game(number), "game {number} is whole");
                    numbers.push(number);
                }
                Err(damage) => damages.push(damage),
            }
        }
        (numbers, damages)
    }

    /// The same as [`read`], but never showing more than what was asked for.
    fn read_in_pieces(bytes: &[u8], piece: usize) -> (Vec<u32>, Vec<Damage>) {
        let (mut decoder, mut at) = Decoder::new(bytes).unwrap();
        let (mut shown, mut numbers, mut damages) = (at, Vec::new(), Vec::new());
        loop {
            let (used, step) = decoder.step(&bytes[at..shown], shown == bytes.len());
            at += used;
            assert_eq!(decoder.position(), at as u64);
            match step {
                Step::Game(number, _) => numbers.push(number),
                Step::Damage(damage) => damages.push(damage),
                Step::More => {
                    assert!(shown < bytes.len());
                    shown = (shown + piece).min(bytes.len());
                }
                Step::End => return (numbers, damages),
            }
        }
    }

    #[test]
    fn whole_files_are_read_whatever_is_shown_at_once() {
        let (bytes, _) = file(&NUMBERS);
        assert_eq!(read(&bytes), (NUMBERS.to_vec(), Vec::new()));
        for piece in [1, 7, 16, 17, 100] {
            assert_eq!(read_in_pieces(&bytes, piece), (NUMBERS.to_vec(), Vec::new()));
        }
        assert_eq!(read(&bytes[..HEADER_LENGTH]), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_damaged_byte_costs_no_game_but_its_own() {
        let (bytes, ends) = file(&NUMBERS);
        for at in HEADER_LENGTH..bytes.len() {
            let hit = ends.iter().position(|&end| at < end).unwrap();
            let from = if hit == 0 { HEADER_LENGTH } else { ends[hit - 1] };
            for flip in [0xff, 0x01, 0x80] {
                let mut bytes = bytes.clone();
                bytes[at] ^= flip;
                let (numbers, damages) = read(&bytes);
                let mut others = NUMBERS.to_vec();
                others.remove(hit);
                assert_eq!(numbers, others, "byte {at}");
                let [damage] = &damages[..] else { panic!("byte {at}: {damages:?}") };
                assert_eq!((damage.from, damage.to), (from as u64, ends[hit] as u64));
                let expected = if hit == 0 { FIRST } else { NUMBERS[hit - 1] + 1 };
                assert_eq!(damage.number, expected);
                for piece in [1, 13] {
                    assert_eq!(read_in_pieces(&bytes, piece), (numbers.clone(), damages.clone()));
                }
            }
        }
    }

    #[test]
    fn a_damaged_header_is_told_and_the_games_are_used() {
        let (bytes, _) = file(&NUMBERS);
        for at in 0..HEADER_LENGTH {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x10;
            if at < 10 {
                assert!(games(&bytes).is_err());
                continue;
            }
            let (numbers, damages) = read(&bytes);
            assert_eq!(numbers, NUMBERS);
            let [damage] = &damages[..] else { panic!("byte {at}: {damages:?}") };
            assert_eq!(damage.kind, DamageKind::Header(HeaderError::Checksum));
            assert!(Decoder::new(&bytes).unwrap().0.header().is_none());
        }
    }

    #[test]
    fn a_file_that_is_cut_off_keeps_its_whole_games() {
        let (bytes, ends) = file(&[300, 301, 302]);
        for length in HEADER_LENGTH..bytes.len() {
            let whole = ends.iter().filter(|&&end| end <= length).count();
            let (numbers, damages) = read(&bytes[..length]);
            assert_eq!(numbers, NUMBERS[..whole]);
            if length == HEADER_LENGTH || ends.contains(&length) {
                assert_eq!(damages, []);
            } else {
                let [damage] = &damages[..] else { panic!("{length}: {damages:?}") };
                assert_eq!(damage.kind, DamageKind::CutOff);
                assert_eq!(damage.to, length as u64);
            }
        }
        for length in 0..HEADER_LENGTH {
            assert!(games(&bytes[..length]).is_err());
        }
    }

    #[test]
    fn what_follows_the_games_is_told_from_a_game_that_is_cut_off() {
        let (bytes, ends) = file(&[300, 301]);
        let end = ends[1] as u64;
        let last = |more: &[u8]| {
            let (numbers, mut damages) = read(&[&bytes, more].concat());
            assert_eq!(numbers, [300, 301]);
            let damage = damages.pop().unwrap();
            assert_eq!((damage.from, damage.to), (end, end + more.len() as u64));
            damage.kind
        };
        assert_eq!(last(&[0; 4096]), DamageKind::Zeros);
        assert_eq!(last(&[0; 3]), DamageKind::Zeros);
        assert_eq!(last(b"more"), DamageKind::Game(BlockError::Short));
        assert!(matches!(last(&[0x55; 700]), DamageKind::Game(_)));
        assert_eq!(last(&302u32.to_le_bytes()[..3]), DamageKind::CutOff);
    }

    #[test]
    fn games_out_of_order_are_left_out() {
        let (numbers, damages) = read(&file(&[300, 305, 301, 305, 306]).0);
        assert_eq!(numbers, [300, 305, 306]);
        assert_eq!(damages.len(), 1, "{damages:?}");
        assert_eq!(read(&file(&[299, 300]).0).0, [300], "before the first that belongs here");
    }

    #[test]
    fn format_1_is_read_up_to_its_damage() {
        let records: Vec<Record> = (0..4)
            .map(|number| {
                let Game { opening, plies, result, .. } = game(number);
                Record { opening, plies, result }
            })
            .collect();
        let mut bytes = Vec::new();
        records.iter().for_each(|record| record.write(&mut bytes));
        let found = |bytes: &[u8]| -> (u32, Option<DamageKind>) {
            let (mut count, mut kind) = (0, None);
            for item in games(bytes).unwrap() {
                match item {
                    Ok((number, game)) => {
                        assert_eq!((number, kind), (count, None));
                        assert_eq!(game, Game::from(records[count as usize].clone()));
                        count += 1;
                    }
                    Err(damage) => kind = Some(damage.kind),
                }
            }
            (count, kind)
        };
        assert_eq!(found(&bytes), (4, None));
        assert_eq!(found(&bytes[..bytes.len() - 1]), (3, Some(DamageKind::CutOff)));
        assert_eq!(found(&[&bytes, &[0; 100][..]].concat()), (4, Some(DamageKind::Zeros)));
        assert_eq!(found(&[&bytes, &b"tail"[..]].concat()), (4, Some(DamageKind::Record)));
        for bytes in [&b""[..], &[0; 400], b"# Not games\n", &[1]] {
            assert_eq!(games(bytes).err(), Some(HeaderError::Foreign));
        }
        for piece in [1, 9] {
            let bytes = [&bytes, &b"tail"[..]].concat();
            let (numbers, damages) = read_in_pieces(&bytes, piece);
            assert_eq!((numbers.len(), damages.len()), (4, 1));
        }
    }
}
