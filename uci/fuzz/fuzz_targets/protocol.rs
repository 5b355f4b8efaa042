//! Whatever comes in, reading it never panics, a refusal is one short line, and a command that was
//! understood says what was read when it is written and read again.

#![no_main]

use cairn::protocol::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| match parse(line) {
    Ok(Some(command)) => {
        let text = command.to_string();
        let again = parse(text.as_bytes());
        assert!(matches!(again, Ok(Some(_))), "{text:?} is written but not read: {again:?}");
    }
    Ok(None) => {}
    Err(refusal) => assert!(refusal.0.len() < 1000 && !refusal.0.contains('\n'), "{refusal}"),
});
