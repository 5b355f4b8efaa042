//! Numbers out of bytes that may be damaged: every index is checked.

/// The bytes are not what a table can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Damaged;

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Damaged> {
    let rest = bytes.get(at..).ok_or(Damaged)?;
    rest.first_chunk().copied().ok_or(Damaged)
}

pub(super) fn u8_at(bytes: &[u8], at: usize) -> Result<u8, Damaged> {
    bytes.get(at).copied().ok_or(Damaged)
}

/// Little-endian.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Damaged> {
    array_at(bytes, at).map(u16::from_le_bytes)
}

/// Little-endian.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Damaged> {
    array_at(bytes, at).map(u32::from_le_bytes)
}

/// Reads a table's numbers one after the other.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl Reader<'_> {
    pub(super) fn u8(&mut self) -> Result<u8, Damaged> {
        let value = u8_at(self.bytes, self.at)?;
        self.at += 1;
        Ok(value)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Damaged> {
        let value = u16_at(self.bytes, self.at)?;
        self.at += 2;
        Ok(value)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Damaged> {
        let value = u32_at(self.bytes, self.at)?;
        self.at += 4;
        Ok(value)
    }

    /// Passes over `count` items of `size` bytes; where they begin.
    pub(super) fn skip(&mut self, count: u64, size: u64) -> Result<usize, Damaged> {
        let start = self.at;
        let length = count.checked_mul(size).and_then(|length| usize::try_from(length).ok());
        let end = length.and_then(|length| start.checked_add(length)).ok_or(Damaged)?;
        if end > self.bytes.len() {
            return Err(Damaged);
        }
        self.at = end;
        Ok(start)
    }

    /// Goes on at the next multiple of `unit` from the file's beginning.
    pub(super) fn align(&mut self, unit: usize) {
        self.at = self.at.next_multiple_of(unit);
    }
}
