//! A file as bytes in memory: mapped where the system can, so that only what is looked at is read.

use std::fs::File;
use std::io;

/// The bytes of a file, for reading. Endgame tables are larger than memory, and a probe looks at a few bytes
/// of them.
pub struct MappedFile {
    #[cfg(any(unix, windows))]
    bytes: memmap2::Mmap,
    #[cfg(not(any(unix, windows)))]
    bytes: Vec<u8>,
}

impl MappedFile {
    /// Maps all of a file, which may be closed afterwards.
    ///
    /// # Errors
    /// If the system does not map it: it is no regular file, or empty on some systems.
    #[cfg(any(unix, windows))]
    pub fn new(file: &File) -> io::Result<MappedFile> {
        // SAFETY: the map is only for reading, and its bytes are looked at one by one as plain numbers: should
        // somebody write to the file meanwhile, other numbers are read, which the readers of tables check like
        // those of a damaged file. A file that is made shorter meanwhile ends the program on some systems, as
        // any mapped file does; no memory of the program is touched.
        let bytes = unsafe { memmap2::Mmap::map(file)? };
        // Only advice: a probe reads here and there, not what comes next.
        #[cfg(unix)]
        let _ = bytes.advise(memmap2::Advice::Random);
        Ok(MappedFile { bytes })
    }

    /// Reads all of a file.
    ///
    /// # Errors
    /// If it cannot be read.
    #[cfg(not(any(unix, windows)))]
    pub fn new(mut file: &File) -> io::Result<MappedFile> {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes)?;
        Ok(MappedFile { bytes })
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
