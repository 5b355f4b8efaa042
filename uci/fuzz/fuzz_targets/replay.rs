//! Whatever stands in a log, reading it never panics.

#![no_main]

use cairn::session::replay::Session;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|log: &[u8]| {
    let _ = Session::parse(log);
});
