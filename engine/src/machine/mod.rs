//! What the machine offers beyond the language: large pages, prefetching, vectors. The one module with
//! `unsafe`.

#![allow(unsafe_code, reason = "raw memory, prefetching and processor features have no safe form")]

pub(crate) mod instructions;
pub(crate) mod memory;
pub(crate) mod network;
pub(crate) mod vector;
