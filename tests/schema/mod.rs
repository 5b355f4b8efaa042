//! Values of JSON checked against a schema.

use serde_json::Value;

/// Checks a value against as much of JSON Schema as the schema uses; what it does not know, it refuses.
pub(crate) fn check(value: &Value, schema: &Value, root: &Value, place: &str) {
    let fits = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{place}: unknown type {other}"),
    };
    for (key, rule) in schema.as_object().expect("a schema") {
        match key.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "type" => {
                let kinds = rule.as_array().map_or(vec![rule], |kinds| kinds.iter().collect());
                let one = kinds.iter().any(|kind| fits(kind.as_str().expect("a type")));
                assert!(one, "{place}: {value} is no {rule}");
            }
            "const" => assert_eq!(value, rule, "{place}"),
            "enum" => assert!(rule.as_array().expect("values").contains(value), "{place}: {value}"),
            "required" => {
                let names = rule.as_array().expect("names");
                for name in names.iter().filter(|_| value.is_object()) {
                    assert!(value.get(name.as_str().expect("a name")).is_some(), "{place}: {name}");
                }
            }
            "properties" => {
                let known = rule.as_object().expect("properties");
                for (name, inner) in value.as_object().into_iter().flatten() {
                    let schema = known.get(name).unwrap_or_else(|| panic!("{place}: {name}"));
                    check(inner, schema, root, &format!("{place}.{name}"));
                }
            }
            "items" => {
                for inner in value.as_array().into_iter().flatten() {
                    check(inner, rule, root, &format!("{place}[]"));
                }
            }
            "minimum" | "maximum" => {
                if let Some(number) = value.as_i64() {
                    let bound = rule.as_i64().expect("a bound");
                    let inside = if key == "minimum" { number >= bound } else { number <= bound };
                    assert!(inside, "{place}: {number}");
                }
            }
            "pattern" => {
                assert_eq!(rule, "^[a-h][1-8][a-h][1-8][nbrq]?$");
                if let Some(text) = value.as_str() {
                    let fits = (4..=5).contains(&text.len())
                        && (b'a'..=b'h').contains(&text.as_bytes()[2])
                        && (b'1'..=b'8').contains(&text.as_bytes()[3]);
                    assert!(fits, "{place}: {text}");
                }
            }
            "$ref" => {
                let path = rule.as_str().and_then(|path| path.strip_prefix('#')).expect("a path");
                let target = root.pointer(path).unwrap_or_else(|| panic!("{place}: {rule}"));
                check(value, target, root, place);
            }
            other => panic!("{place}: unknown rule {other}"),
        }
    }
}
