//! Which vector instructions are used: chosen once, the best that the processor has unless a lower set
//! is forced.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// A set of vector instructions that some code is written for, from the least to the most. What comes out
/// is the same with each of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum InstructionSet {
    /// What every processor of the build has.
    Scalar,
    /// Arm's vectors of 128 bits.
    Neon,
    /// x86's vectors of 256 bits.
    Avx2,
    /// x86's vectors of 512 bits with the instructions on 16-bit numbers.
    Avx512,
}

static CHOSEN: OnceLock<InstructionSet> = OnceLock::new();

impl InstructionSet {
    /// All sets, the least first.
    pub const ALL: [InstructionSet; 4] = [
        InstructionSet::Scalar,
        InstructionSet::Neon,
        InstructionSet::Avx2,
        InstructionSet::Avx512,
    ];

    /// Whether this processor has the set.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            InstructionSet::Scalar => true,
            #[cfg(target_arch = "aarch64")]
            InstructionSet::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => {
                is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
            }
            _ => false,
        }
    }

    /// The set that is used in this process, from the first question on: the one that was forced, or
    /// else the best there is.
    #[must_use]
    pub fn chosen() -> InstructionSet {
        *CHOSEN.get_or_init(InstructionSet::best)
    }

    fn best() -> InstructionSet {
        let available = InstructionSet::ALL.into_iter().filter(|set| set.is_available());
        available.max().unwrap_or(InstructionSet::Scalar)
    }

    /// Lets this set be used and none above it, in the whole process. To be called before anything is
    /// searched.
    ///
    /// # Errors
    /// If the processor does not have it, or another one is in use already.
    pub fn force(self) -> Result<(), InstructionSetError> {
        if !self.is_available() {
            return Err(InstructionSetError::Missing(self));
        }
        let chosen = *CHOSEN.get_or_init(|| self);
        if chosen == self { Ok(()) } else { Err(InstructionSetError::InUse(chosen)) }
    }
}

/// As [`FromStr`] reads it: `scalar`, `neon`, `avx2`, `avx512`.
impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InstructionSet::Scalar => "scalar",
            InstructionSet::Neon => "neon",
            InstructionSet::Avx2 => "avx2",
            InstructionSet::Avx512 => "avx512",
        })
    }
}

impl FromStr for InstructionSet {
    type Err = InstructionSetError;

    fn from_str(name: &str) -> Result<InstructionSet, InstructionSetError> {
        InstructionSet::ALL
            .into_iter()
            .find(|set| set.to_string().eq_ignore_ascii_case(name))
            .ok_or_else(|| InstructionSetError::Unknown(name.to_owned()))
    }
}

/// Why a set of instructions can't be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InstructionSetError {
    /// No set has this name.
    Unknown(String),
    /// The processor does not have it.
    Missing(InstructionSet),
    /// Too late: this one is in use.
    InUse(InstructionSet),
}

impl fmt::Display for InstructionSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstructionSetError::Unknown(name) => {
                write!(f, "'{name}' is no instruction set; there are scalar, neon, avx2 and avx512")
            }
            InstructionSetError::Missing(set) => write!(f, "this processor does not have {set}"),
            InstructionSetError::InUse(set) => write!(f, "{set} is in use already"),
        }
    }
}

impl std::error::Error for InstructionSetError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_written() {
        for set in InstructionSet::ALL {
            assert_eq!(set.to_string().parse(), Ok(set));
            assert_eq!(set.to_string().to_uppercase().parse(), Ok(set));
        }
        let error = "sse9".parse::<InstructionSet>().unwrap_err();
        assert!(error.to_string().contains("sse9"));
    }

    #[test]
    fn what_is_missing_can_not_be_forced() {
        assert!(InstructionSet::chosen().is_available());
        for set in InstructionSet::ALL.into_iter().filter(|set| !set.is_available()) {
            assert_eq!(set.force(), Err(InstructionSetError::Missing(set)));
        }
        // The best is in use since the question above.
        assert_eq!(InstructionSet::chosen().force(), Ok(()));
        if InstructionSet::chosen() > InstructionSet::Scalar {
            let in_use = InstructionSetError::InUse(InstructionSet::chosen());
            assert_eq!(InstructionSet::Scalar.force(), Err(in_use));
        }
    }
}
