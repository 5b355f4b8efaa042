#!/usr/bin/env bash
# Plays a match between two engines; --help shows how. What it does is in arena.py.
exec python3 "$(dirname "$0")/arena.py" "$@"
