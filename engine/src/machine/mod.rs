//! What needs the machine itself: huge pages, prefetching, AVX-512. The only module with `unsafe`.

#![allow(unsafe_code, reason = "raw memory, prefetching and processor features have no safe form")]

pub(crate) mod instructions;
pub(crate) mod mapped_file;
pub(crate) mod memory;
pub(crate) mod network;
pub(crate) mod vector;
