//! The files that options name: how their paths are read, and the only place of the session that opens
//! them. Files that commands name, such as a suite or a book, are read here too.
//!
//! A replay carries out the options of a log, and anybody may have written that. So a path is only made
//! with [`FileAccess::path`], and a replay that has closed its access gets no path out of a log: there is
//! nothing that it could open, whatever option the path was meant for.

use std::env;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::str::FromStr;

use cairn_engine::MappedFile;

/// Whether options may name files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileAccess {
    /// They may.
    #[default]
    Open,
    /// They may not: what they say comes from a log.
    Closed,
}

impl FileAccess {
    /// Reads the path that an option names. Quotes around it are taken off, as some people put them there;
    /// between them may be nothing, which names no file.
    ///
    /// # Errors
    /// Why the path is refused.
    pub fn path(self, text: &str) -> Result<FilePath, &'static str> {
        if self == FileAccess::Closed {
            return Err("names a file, which a log may not do");
        }
        // What stands in a line for bytes that are not UTF-8.
        if text.contains(char::REPLACEMENT_CHARACTER) {
            return Err("takes a path in UTF-8");
        }
        let unquoted =
            ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
        Ok(FilePath { text: unquoted.unwrap_or(text).to_owned(), checksum: None })
    }
}

/// The path that an option names; empty if there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePath {
    text: String,
    checksum: Option<Checksum>,
}

impl FilePath {
    /// The path as it was given, without quotes.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether no file is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The checksum of what was loaded from here, if anything was.
    #[must_use]
    pub fn checksum(&self) -> Option<Checksum> {
        self.checksum
    }

    /// Loads the file and notes its checksum, which a log keeps. A relative path is looked for in the current
    /// folder and then in the program's, as a GUI may start the program anywhere.
    ///
    /// # Errors
    /// When it cannot be read, is no regular file, or has more than `longest` bytes.
    pub fn load(&mut self, longest: u64) -> io::Result<Vec<u8>> {
        let bytes = read_file(&self.found(), longest)?;
        self.checksum = Some(Checksum::of(&bytes));
        Ok(bytes)
    }

    /// Where the file lies.
    fn found(&self) -> PathBuf {
        found(&self.text)
    }

    /// Notes the checksum of what was loaded from here by other means than [`Self::load`].
    pub fn note_checksum(&mut self, checksum: Option<Checksum>) {
        self.checksum = checksum;
    }

    /// Maps the files in the folders of this path whose names end with one of these suffixes, in the order of
    /// the folders and of their names. Between two folders stands what the system has between two, `;` on
    /// Windows and `:` elsewhere; relative ones are looked for as by [`Self::load`]. What cannot be opened is
    /// told.
    #[must_use]
    pub fn map_files(&self, suffixes: &[&str]) -> Vec<Result<(String, MappedFile), String>> {
        let folders = self.text.split(FOLDERS_END).filter(|folder| !folder.is_empty());
        let mut files = Vec::new();
        for folder in folders {
            let in_words = |error: io::Error| format!("'{folder}': {error}");
            let folder = found(folder);
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    files.push(Err(in_words(error)));
                    continue;
                }
            };
            let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            let mut names: Vec<String> =
                names.filter(|name| suffixes.iter().any(|suffix| name.ends_with(suffix))).collect();
            names.sort_unstable();
            files.extend(names.into_iter().map(|name| {
                map(&folder.join(&name))
                    .map_err(|error| format!("{name}: {error}"))
                    .map(|mapped| (name, mapped))
            }));
        }
        files
    }

    /// Opens the file to read it; it is looked for as by [`Self::load`].
    ///
    /// # Errors
    /// When it cannot be opened or is no regular file.
    pub fn open(&self) -> io::Result<File> {
        let path = self.found();
        check_regular(&fs::metadata(&path)?)?;
        File::open(path)
    }

    /// Begins a new version of the file, which takes its place when it is whole. The old one may be missing or
    /// empty or begin with `title`: the path may have been mistyped, and nothing else is to be lost.
    ///
    /// # Errors
    /// As for [`Self::create`].
    pub fn renew(&self, title: &[u8]) -> io::Result<NewVersion> {
        let path = PathBuf::from(&self.text);
        // What a link leads to is replaced, not the link.
        let path = if path.exists() { fs::canonicalize(path)? } else { path };
        if path.exists() {
            check_regular(&fs::metadata(&path)?)?;
            check_title(&File::open(&path)?, title)?;
        }
        let mut part = path.clone().into_os_string();
        part.push(PART);
        let part = PathBuf::from(part);
        if let Ok(known) = fs::symlink_metadata(&part) {
            check_regular(&known)?;
        }
        let file = open_alone(&part)?;
        // Who has had it before may just have put it in its place.
        if !is_at(&file, &part) {
            return Err(written_by_another());
        }
        check_title(&file, title)?;
        file.set_len(0)?;
        (&file).rewind()?;
        Ok(NewVersion { file: Some(file), path, part, unsynced: 0 })
    }

    /// Creates the file, empty, or empties one that begins with `title`: the path may have been mistyped, and
    /// nothing else is to be lost. `{pid}` in the path becomes the process id, so that several processes can
    /// each have a file. Until it is closed no other process gets it, where the file system has locks.
    ///
    /// # Errors
    /// When it cannot be created, something that is no regular file has its name (a pipe could block for
    /// good), another process has it open, or it holds something else.
    pub fn create(&self, title: &str) -> io::Result<File> {
        let path = PathBuf::from(self.text.replace("{pid}", &process::id().to_string()));
        if fs::metadata(&path).is_ok_and(|known| !known.is_file()) {
            return Err(no_regular_file());
        }
        let mut file = open_alone(&path)?;
        check_title(&file, title.as_bytes())?;
        file.set_len(0)?;
        file.rewind()?;
        Ok(file)
    }
}

/// A file that is being written beside the one whose place it takes in the end. Dropped before, it is removed.
#[derive(Debug)]
pub struct NewVersion {
    /// None once it is in its place.
    file: Option<File>,
    path: PathBuf,
    part: PathBuf,
    /// The bytes that the system may not have on the disk yet.
    unsynced: u64,
}

/// What the name of a new version ends with.
const PART: &str = ".part";

/// So many bytes are put on the disk at once: it takes a moment, which nobody can cut short.
const SYNCED_AT_ONCE: u64 = 16 << 20;

impl NewVersion {
    /// Writes what comes next.
    ///
    /// # Errors
    /// When it cannot be written, such as to a disk that is full.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(bytes)?;
        self.unsynced += bytes.len() as u64;
        if self.unsynced >= SYNCED_AT_ONCE {
            self.unsynced = 0;
            file.sync_data()?;
        }
        Ok(())
    }

    /// Replaces the old version by this one, once it is on the disk.
    ///
    /// # Errors
    /// When that cannot be done: then the old one is still there.
    pub fn finish(mut self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        file.sync_all()?;
        if cfg!(windows) {
            // An open file cannot be renamed there; elsewhere its lock keeps others away until it is.
            self.file = None;
        }
        let renamed = fs::rename(&self.part, &self.path);
        if renamed.is_err() {
            let _ = fs::remove_file(&self.part);
        }
        self.file = None;
        // The name, too; if that cannot be asked for, the system does it in its own time.
        #[cfg(unix)]
        if let Some(folder) = self.path.parent() {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        renamed
    }
}

impl Drop for NewVersion {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else { return };
        if cfg!(windows) {
            // An open file cannot be removed there; elsewhere its lock keeps others away until it is.
            drop(file);
            let _ = fs::remove_file(&self.part);
        } else {
            let _ = fs::remove_file(&self.part);
            drop(file);
        }
    }
}

/// Whether a path still leads to an open file.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let place = |known: fs::Metadata| (known.dev(), known.ino());
        match (file.metadata(), fs::symlink_metadata(path)) {
            (Ok(file), Ok(path)) => place(file) == place(path),
            _ => false,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

/// Refuses a file that does not begin with `title`, as far as it goes, and is not empty.
fn check_title(file: &File, title: &[u8]) -> io::Result<()> {
    let mut beginning = Vec::new();
    file.take(title.len() as u64).read_to_end(&mut beginning)?;
    if beginning.is_empty() || beginning == title {
        Ok(())
    } else {
        Err(io::Error::other("it holds something else, which would be lost"))
    }
}

/// Refuses what is no regular file.
fn check_regular(known: &fs::Metadata) -> io::Result<()> {
    if known.is_dir() {
        Err(io::Error::other("it is a folder"))
    } else if known.is_file() {
        Ok(())
    } else {
        Err(no_regular_file())
    }
}

/// What stands between two folders of a path.
const FOLDERS_END: char = if cfg!(windows) { ';' } else { ':' };

/// Where a file or folder lies: here, or else beside the program.
fn found(text: &str) -> PathBuf {
    let here = PathBuf::from(text);
    let beside = || Some(env::current_exe().ok()?.parent()?.join(text));
    match beside() {
        Some(beside) if !here.exists() && beside.exists() => beside,
        _ => here,
    }
}

/// Maps a regular file.
fn map(path: &Path) -> io::Result<MappedFile> {
    // Asked before it is opened: a pipe would block for good.
    if !fs::metadata(path)?.is_file() {
        return Err(no_regular_file());
    }
    MappedFile::new(&File::open(path)?)
}

/// Opens or creates a file to write it, if nobody else writes it.
pub(crate) fn open_alone(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    // A lock would keep others from reading it, too.
    #[cfg(windows)]
    let file = {
        use std::os::windows::fs::OpenOptionsExt;
        const FILE_SHARE_READ: u32 = 1;
        const ERROR_SHARING_VIOLATION: i32 = 32;
        options.share_mode(FILE_SHARE_READ).open(path).map_err(|error| {
            // Said in the words of other systems: Windows' own depend on its language.
            if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION) {
                written_by_another()
            } else {
                error
            }
        })?
    };
    #[cfg(not(windows))]
    let file = options.open(path)?;
    #[cfg(not(windows))]
    if let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
        return Err(written_by_another());
    }
    Ok(file)
}

/// Reads a whole file.
///
/// # Errors
/// When it cannot be read, is no regular file, or has more than `longest` bytes.
pub fn read_file(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    // Asked before it is opened: a pipe would block for good, and a device may never end.
    let metadata = fs::metadata(path)?;
    check_regular(&metadata)?;
    let too_long = || io::Error::other(format!("it has more than {longest} bytes"));
    if metadata.len() > longest {
        return Err(too_long());
    }
    // It may grow meanwhile.
    let mut bytes = Vec::new();
    File::open(path)?.take(longest.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest { Err(too_long()) } else { Ok(bytes) }
}

/// Reads a whole text, less the byte-order mark that some editors put before it.
///
/// # Errors
/// As for [`read_file`], and when it is not UTF-8.
pub fn read_text(path: &Path, longest: u64) -> io::Result<String> {
    let text = String::from_utf8(read_file(path, longest)?)
        .map_err(|_| io::Error::other("it is no text in UTF-8"))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(unmarked) => unmarked.to_owned(),
        None => text,
    })
}

fn written_by_another() -> io::Error {
    io::Error::other("another process writes it")
}

fn no_regular_file() -> io::Error {
    io::Error::other("it is no regular file")
}

/// A number that tells two files apart; not safe against intent. FNV-1a with 64 bits, source:
/// <https://en.wikipedia.org/wiki/Fowler-Noll-Vo_hash_function>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum(u64);

impl Checksum {
    /// The checksum of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Checksum {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        Checksum(
            bytes.iter().fold(OFFSET, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(PRIME)),
        )
    }
}

/// A checksum that was found by other means.
impl From<u64> for Checksum {
    fn from(number: u64) -> Checksum {
        Checksum(number)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Checksum {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Checksum, Self::Err> {
        u64::from_str_radix(text, 16).map(Checksum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_as_it_is_but_for_quotes() {
        for (text, path) in [
            ("/a b/c", "/a b/c"),
            ("\"C:\\a b\\c.log\"", "C:\\a b\\c.log"),
            ("'/a b/c'", "/a b/c"),
            ("/a\"b\"", "/a\"b\""),
            ("\"", "\""),
            ("\"\"", ""),
            ("''", ""),
            ("", ""),
        ] {
            assert_eq!(FileAccess::Open.path(text).expect(text).text(), path);
            assert!(FileAccess::Closed.path(text).is_err(), "{text}");
        }
        let bytes = String::from_utf8_lossy(b"/tmp/M\xfcller.log").into_owned();
        assert!(FileAccess::Open.path(&bytes).is_err());
    }

    #[test]
    fn only_a_file_with_the_title_is_emptied() {
        let name = format!("cairn-files-{}", process::id());
        let path = env::temp_dir().join(name);
        let file = FileAccess::Open.path(&path.display().to_string()).expect("a path");
        for (before, kept) in
            [("", false), ("Title 2\nmore", false), ("Tit", true), ("a game\n", true)]
        {
            fs::write(&path, before).expect("a file");
            assert_eq!(file.create("Title ").is_err(), kept, "{before}");
            let after = fs::read_to_string(&path).expect("the file");
            assert_eq!(after, if kept { before } else { "" });
        }
        fs::remove_file(&path).expect("the file");
        assert!(file.create("Title ").is_ok(), "a new one");
        fs::remove_file(&path).expect("the file");
    }

    #[test]
    fn a_file_that_is_being_written_is_not_opened_again() {
        let path = env::temp_dir().join(format!("cairn-locked-{}", process::id()));
        let file = FileAccess::Open.path(&path.display().to_string()).expect("a path");
        let first = file.create("Title ").expect("a file");
        let refusal = file.create("Title ").expect_err("it is in use").to_string();
        assert!(refusal.contains("another process"), "{refusal}");
        drop(first);
        assert!(file.create("Title ").is_ok());
        fs::remove_file(&path).expect("the file");
    }

    #[test]
    fn a_file_is_read_up_to_a_length() {
        let path = env::temp_dir().join(format!("cairn-read-{}", process::id()));
        fs::write(&path, "\u{feff}abc").expect("a file");
        assert_eq!(read_file(&path, 6).expect("the file").len(), 6);
        assert_eq!(read_text(&path, 6).expect("a text"), "abc");
        assert!(read_file(&path, 5).expect_err("long").to_string().contains("more than 5 bytes"));
        fs::write(&path, [0xff]).expect("a file");
        assert!(read_text(&path, 5).expect_err("no text").to_string().contains("UTF-8"));
        fs::remove_file(&path).expect("the file");
        assert!(
            read_file(&env::temp_dir(), 5).expect_err("a folder").to_string().contains("folder")
        );
    }

    #[test]
    fn checksums_are_those_of_the_source() {
        for (text, sum) in [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c")] {
            assert_eq!(Checksum::of(text.as_bytes()).to_string(), sum);
            assert_eq!(sum.parse(), Ok(Checksum::of(text.as_bytes())));
        }
    }
}
