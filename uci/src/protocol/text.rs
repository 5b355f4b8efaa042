//! Words of a text, and other people's text made safe to repeat.

/// How much of somebody else's text is repeated in an answer, in characters.
const QUOTE_LENGTH: usize = 60;

/// Whether a letter separates words: white space, and the control characters that some pipes leave.
#[must_use]
pub fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || letter.is_control()
}

/// Splits a text behind its first word; none if there is no word.
#[must_use]
pub fn next_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(is_blank);
    let end = text.find(is_blank).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// The words of a text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_blank).filter(|word| !word.is_empty())
}

/// Shortens somebody else's text and takes line breaks out, so that it fits into one line of our own.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut short = String::new();
    let mut letters = 0;
    for word in words(text) {
        if !short.is_empty() {
            short.push(' ');
        }
        for letter in word.chars() {
            if letters == QUOTE_LENGTH {
                short.push_str("...");
                return short;
            }
            short.push(letter);
            letters += 1;
        }
    }
    short
}
