//! Tunes the parameters of the search by SPSA: games in pairs, one side with all parameters shifted
//! at random to one side, the other with them shifted to the other; what wins draws them along.
//!
//! ```text
//! spsa tune STATE.csv [--pairs N] [--nodes N] [--seed N] [--threads N] [--rate PERMILL] [--only NAME,...]
//! spsa duel NAME=VALUE,... [--pairs N] [--nodes N] [--seed N] [--threads N]
//! spsa screen NAME=VALUE[+NAME=VALUE...],... [--pairs N] [--nodes N] [--seed N] [--threads N]
//! ```
//!
//! `STATE.csv` holds how many pairs were played and what the parameters have come to; a run that was
//! broken off goes on from there. `duel` plays the given values, which may be out of their range,
//! against those of the source: what is a number worth, or the technique that it turns off?
//! `screen` measures many changes at once: in each pair of games a random half of them is one side's, the
//! others are the other side's. So each game counts for every change, among random others; what they do
//! to each other averages out. Source: <https://en.wikipedia.org/wiki/Factorial_experiment>.
//! Parameters belong to a whole process, so the games are played by processes of this program.
//!
//! Built with `cargo build --release -p tune --features spsa`; run it from the repository's root, as the
//! openings are `scripts/openings.epd`. Source: <https://www.chessprogramming.org/SPSA>, with the gains
//! that OpenBench has for it.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use cairn_engine::board::Board;
use cairn_engine::params::{self, Param};
use cairn_engine::search::{Control, Limits, Searcher, Style, Verdict};
use cairn_engine::selfplay::{Adjudication, EarlyEnd, play_game};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// How fast the shifts and the steps shrink (Spall's exponents, as OpenBench has them).
const GAMMA: f64 = 0.101;
const ALPHA: f64 = 0.602;
/// The share of all pairs that delays the shrinking of the steps.
const STABILITY: f64 = 0.1;
/// What of a parameter's range its last shift is.
const LAST_SHIFT: f64 = 1.0 / 20.0;
/// When a game is broken off.
const EARLY_END: EarlyEnd =
    EarlyEnd { adjudication: Some(Adjudication::new(1000, 4)), longest_game: 300 };
const HASH_MIB: usize = 4;
const OPENINGS: &str = "scripts/openings.epd";

struct Options {
    pairs: u64,
    nodes: u64,
    seed: u64,
    threads: usize,
    rate: f64,
    only: Vec<String>,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Options> {
        let mut options = Options {
            pairs: 5000,
            nodes: 10_000,
            seed: 1,
            threads: 1,
            rate: 0.004,
            only: Vec::new(),
        };
        for pair in words.chunks(2) {
            let [name, value] = pair else { bail!("{} needs a value", pair[0]) };
            let number = || value.parse::<u64>().with_context(|| format!("{name} {value}"));
            match *name {
                "--pairs" => options.pairs = number()?,
                "--nodes" => options.nodes = number()?,
                "--seed" => options.seed = number()?,
                "--threads" => options.threads = number()?.clamp(1, 64) as usize,
                "--rate" => options.rate = number()? as f64 / 1000.0,
                "--only" => options.only = value.split(',').map(str::to_owned).collect(),
                other => bail!("spsa does not know {other}"),
            }
        }
        Ok(options)
    }
}

/// A parameter that is tuned, and what it has come to.
struct Tuned {
    param: &'static Param,
    value: f64,
}

struct State {
    file: String,
    options: Options,
    tuned: Vec<Tuned>,
    /// Pairs that were begun, and that were finished.
    begun: u64,
    done: u64,
    /// Games won by the upper side less games lost, and all games that somebody won.
    balance: i64,
    decisive: u64,
}

/// A pair to be played: the numbers of both sides, and how they were shifted.
struct Pair {
    number: u64,
    values: [Vec<i32>; 2],
    signs: Vec<f64>,
}

impl State {
    fn read(file: &str, options: Options) -> Result<State> {
        if let Some(name) =
            options.only.iter().find(|&name| params::ALL.iter().all(|param| param.name != name))
        {
            bail!("there is no parameter '{name}'");
        }
        let mut tuned: Vec<Tuned> = params::ALL
            .iter()
            .filter(|param| {
                options.only.is_empty() || options.only.iter().any(|name| name == param.name)
            })
            .map(|param| Tuned { param, value: f64::from(param.default) })
            .collect();
        let mut done = 0;
        if let Ok(text) = fs::read_to_string(file) {
            for line in text.lines() {
                let (name, value) = line.split_once(',').context("STATE.csv is damaged")?;
                if name == "pairs" {
                    done = value.parse()?;
                } else if let Some(known) = tuned.iter_mut().find(|t| t.param.name == name) {
                    known.value = value.parse()?;
                }
            }
        }
        Ok(State { file: file.into(), options, tuned, begun: done, done, balance: 0, decisive: 0 })
    }

    fn write(&self) -> Result<()> {
        let mut text = format!("pairs,{}\n", self.done);
        for tuned in &self.tuned {
            let _ = writeln!(text, "{},{:.3}", tuned.param.name, tuned.value);
        }
        let new = format!("{}.new", self.file);
        fs::write(&new, text)?;
        fs::rename(new, &self.file)?;
        Ok(())
    }

    /// The shift of a parameter in a pair with this number.
    fn shift(&self, param: &Param, number: u64) -> f64 {
        let last = (f64::from(param.max - param.min) * LAST_SHIFT).max(0.5);
        last * (self.options.pairs as f64 / (number + 1) as f64).powf(GAMMA)
    }

    fn begin(&mut self) -> Option<Pair> {
        let number = self.begun;
        if number >= self.options.pairs {
            return None;
        }
        self.begun += 1;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.options.seed ^ number << 20);
        let mut pair = Pair { number, values: [Vec::new(), Vec::new()], signs: Vec::new() };
        for tuned in &self.tuned {
            let sign = if random.next_u64() & 1 == 0 { 1.0 } else { -1.0 };
            let shift = sign * self.shift(tuned.param, number);
            // Rounded up as often as that is right on average.
            let dither = (random.next_u64() >> 40) as f64 / f64::from(1 << 24);
            for (values, value) in
                pair.values.iter_mut().zip([tuned.value + shift, tuned.value - shift])
            {
                let rounded = (value + dither).floor() as i32;
                values.push(rounded.clamp(tuned.param.min, tuned.param.max));
            }
            pair.signs.push(sign);
        }
        Some(pair)
    }

    fn finish(&mut self, pair: &Pair, results: [i32; 2]) -> Result<()> {
        let balance: i32 = results.iter().sum();
        let all = self.options.pairs as f64;
        let stability = STABILITY * all;
        // The step relative to the shift: `rate` at the end.
        let rate = self.options.rate
            * ((stability + all) / (stability + (pair.number + 1) as f64)).powf(ALPHA);
        for index in 0..self.tuned.len() {
            let param = self.tuned[index].param;
            let shift = self.shift(param, pair.number);
            let step = rate * shift * f64::from(balance) * pair.signs[index];
            let value = &mut self.tuned[index].value;
            *value = (*value + step).clamp(f64::from(param.min), f64::from(param.max));
        }
        self.done += 1;
        self.balance += i64::from(balance);
        self.decisive += u64::from(balance != 0);
        if self.done.is_multiple_of(100) || self.done == self.options.pairs {
            self.write()?;
            eprintln!(
                "{}/{} pairs, {} not even, balance {}",
                self.done, self.options.pairs, self.decisive, self.balance
            );
        }
        Ok(())
    }
}

/// A process that plays.
struct Player {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Player {
    fn start(nodes: u64, names: &str) -> Result<Player> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["play", &nodes.to_string(), names])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().context("no pipe")?;
        let output = BufReader::new(child.stdout.take().context("no pipe")?);
        Ok(Player { child, input, output })
    }

    /// The results of both games for the first set of values: 1, 0 or -1.
    fn play(&mut self, number: u64, values: &[Vec<i32>; 2]) -> Result<[i32; 2]> {
        let text = |values: &[i32]| values.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
        writeln!(self.input, "{number} {} {}", text(&values[0]), text(&values[1]))?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        let results = answer.trim().split_once(' ').context("a player gave up")?;
        Ok([results.0.parse()?, results.1.parse()?])
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // It ends by itself at the end of its input; nothing hangs on its last game.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lets processes play until there is nothing more to do: `next` says what, `take` gets the results.
fn play_all<T: Sync + Send>(
    options: (usize, u64),
    names: &str,
    state: &Mutex<T>,
    next: impl Fn(&mut T) -> Option<Pair> + Sync,
    take: impl Fn(&mut T, &Pair, [i32; 2]) -> Result<()> + Sync,
) -> Result<()> {
    let (threads, nodes) = options;
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    thread::scope(|scope| {
        let one = || -> Result<()> {
            let mut player = Player::start(nodes, names)?;
            loop {
                let Some(pair) = next(&mut lock()) else { return Ok(()) };
                let results = player.play(pair.number, &pair.values)?;
                take(&mut lock(), &pair, results)?;
            }
        };
        let players: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        for player in players {
            player.join().map_err(|_| anyhow!("a thread panicked"))??;
        }
        Ok(())
    })
}

fn tune(file: &str, options: Options) -> Result<()> {
    let how = (options.threads, options.nodes);
    let state = State::read(file, options)?;
    let names = state.tuned.iter().map(|t| t.param.name).collect::<Vec<_>>().join(",");
    let state = Mutex::new(state);
    play_all(how, &names, &state, State::begin, State::finish)?;
    let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    for tuned in &state.tuned {
        println!("{}: {} -> {:.1}", tuned.param.name, tuned.param.default, tuned.value);
    }
    Ok(())
}

/// How a match stands.
#[derive(Default)]
struct Tally {
    begun: u64,
    /// Pairs by the points of the side that is looked at, in half points from 0 to 4.
    pairs: [u32; 5],
    /// Games lost, drawn and won.
    games: [u32; 3],
}

impl Tally {
    /// Counts a pair by its results for the side that is looked at: 1, 0 or -1 each.
    fn add(&mut self, results: [i32; 2]) {
        self.pairs[(2 + results[0] + results[1]) as usize] += 1;
        for result in results {
            self.games[(1 + result) as usize] += 1;
        }
    }

    /// Elo difference and its 95 % error, from the spread of the pairs.
    fn elo(&self) -> (f64, f64) {
        let count = f64::from(self.pairs.iter().sum::<u32>());
        let share = |index: usize| index as f64 / 4.0;
        let sum = |value: &dyn Fn(f64) -> f64| -> f64 {
            self.pairs.iter().enumerate().map(|(i, &n)| value(share(i)) * f64::from(n)).sum()
        };
        let mean = sum(&|x| x) / count;
        let deviation = (sum(&|x| (x - mean) * (x - mean)) / count / count).sqrt();
        let elo = |x: f64| -400.0 * (1.0 / x.clamp(0.001, 0.999) - 1.0).log10();
        let (low, high) = (elo(mean - 1.96 * deviation), elo(mean + 1.96 * deviation));
        (elo(mean), (high - low) / 2.0)
    }
}

fn duel(settings: &str, options: &Options) -> Result<()> {
    let (mut names, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for setting in settings.split(',') {
        let (name, value) = setting.split_once('=').context("NAME=VALUE,...")?;
        let param = params::ALL.iter().find(|param| param.name == name);
        names.push(name);
        ours.push(value.parse()?);
        theirs.push(param.with_context(|| format!("there is no parameter '{name}'"))?.default);
    }
    let tally = Mutex::new(Tally::default());
    let next = |tally: &mut Tally| {
        tally.begun += 1;
        let number = options.seed << 20 | tally.begun;
        let pair = Pair { number, values: [ours.clone(), theirs.clone()], signs: Vec::new() };
        (tally.begun <= options.pairs).then_some(pair)
    };
    let take = |tally: &mut Tally, _: &Pair, results: [i32; 2]| {
        tally.add(results);
        Ok(())
    };
    play_all((options.threads, options.nodes), &names.join(","), &tally, next, take)?;
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ([losses, draws, wins], (elo, error)) = (tally.games, tally.elo());
    println!("{settings}: {wins}-{draws}-{losses} (W-D-L), {elo:+.1} +- {error:.1}");
    Ok(())
}

/// A change that is screened, and how its sides did.
struct Change {
    text: String,
    /// Which of the parameters it sets, and to what.
    values: Vec<(usize, i32)>,
    tally: Tally,
}

/// Plays `settings` as `screen` does, and tells after every 100 pairs what each change is worth.
fn screen(settings: &str, options: &Options) -> Result<()> {
    let mut params: Vec<&Param> = Vec::new();
    let mut changes = Vec::new();
    for text in settings.split(',') {
        let mut values = Vec::new();
        for setting in text.split('+') {
            let (name, value) = setting.split_once('=').context("NAME=VALUE[+NAME=VALUE],...")?;
            let param = params::ALL.iter().find(|param| param.name == name);
            let param = param.with_context(|| format!("there is no parameter '{name}'"))?;
            if params.iter().any(|other| other.name == name) {
                bail!("'{name}' is in two changes");
            }
            values.push((params.len(), value.parse()?));
            params.push(param);
        }
        changes.push(Change { text: text.to_owned(), values, tally: Tally::default() });
    }
    let names = params.iter().map(|param| param.name).collect::<Vec<_>>().join(",");
    let defaults: Vec<i32> = params.iter().map(|param| param.default).collect();
    let state = Mutex::new((0, changes));
    let next = |(begun, changes): &mut (u64, Vec<Change>)| {
        *begun += 1;
        let number = options.seed << 20 | *begun;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(number.rotate_right(20));
        let mut pair =
            Pair { number, values: [defaults.clone(), defaults.clone()], signs: Vec::new() };
        for change in changes {
            let side = (random.next_u64() >> 63) as usize;
            for &(index, value) in &change.values {
                pair.values[side][index] = value;
            }
            pair.signs.push(if side == 0 { 1.0 } else { -1.0 });
        }
        (*begun <= options.pairs).then_some(pair)
    };
    let take = |(_, changes): &mut (u64, Vec<Change>), pair: &Pair, results: [i32; 2]| {
        for (change, &sign) in changes.iter_mut().zip(&pair.signs) {
            let results = if sign > 0.0 { results } else { results.map(|result| -result) };
            change.tally.add(results);
        }
        let done: u32 = changes.first().map_or(0, |change| change.tally.pairs.iter().sum());
        if done.is_multiple_of(100) || u64::from(done) == options.pairs {
            println!("{done} of {} pairs", options.pairs);
            for change in changes {
                let (elo, error) = change.tally.elo();
                println!("{elo:+6.1} +- {error:.1}  {}", change.text);
            }
        }
        Ok(())
    };
    play_all((options.threads, options.nodes), &names, &state, next, take)
}

fn set(params: &[&Param], values: &[i32]) {
    for (param, &value) in params.iter().zip(values) {
        (param.set)(value);
    }
}

/// Plays a game; the result for white is 1, 0 or -1.
fn game(
    board: &mut Board,
    params: &[&Param],
    sides: [&[i32]; 2],
    searchers: &mut [Searcher; 2],
    nodes: u64,
) -> Result<i32> {
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    let result = play_game(board, &EARLY_END, |board| {
        let us = board.side_to_move().index();
        set(params, sides[us]);
        let control = Control::new();
        let outcome = searchers[us].search(board, &limits, &control, &mut |_| Verdict::Continue);
        Some((outcome.best?, outcome.score.to_score()))
    });
    let (result, _) = result.context("no move in a game that is not over")?;
    Ok(result.for_white())
}

/// Plays the pairs that come in, and answers with what the upper side won by.
fn play(nodes: u64, names: &str) -> Result<()> {
    let params: Vec<&Param> = names
        .split(',')
        .map(|name| {
            params::ALL.iter().find(|param| param.name == name).context("no such parameter")
        })
        .collect::<Result<_>>()?;
    let text = fs::read_to_string(OPENINGS).with_context(|| format!("reading {OPENINGS}"))?;
    let openings: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let mut searchers =
        [Searcher::new(Style::Cairn, HASH_MIB)?, Searcher::new(Style::Cairn, HASH_MIB)?];
    for line in std::io::stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let [number, upper, lower] = words[..] else { bail!("'{line}' is no pair") };
        let values = |text: &str| -> Result<Vec<i32>> {
            text.split(',').map(|value| Ok(value.parse()?)).collect()
        };
        let (upper, lower) = (values(upper)?, values(lower)?);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(number.parse()?);
        let opening = openings[(random.next_u64() % openings.len() as u64) as usize];
        let mut results = Vec::new();
        for (sides, sign) in [([&upper[..], &lower[..]], 1), ([&lower[..], &upper[..]], -1)] {
            searchers.iter_mut().for_each(Searcher::clear);
            let mut board = Board::from_fen(opening)?;
            let result = game(&mut board, &params, sides, &mut searchers, nodes)?;
            results.push((sign * result).to_string());
        }
        println!("{}", results.join(" "));
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["play", nodes, names] => play(nodes.parse()?, names),
        ["tune", file, ref rest @ ..] => tune(file, Options::parse(rest)?),
        ["duel", settings, ref rest @ ..] => duel(settings, &Options::parse(rest)?),
        ["screen", settings, ref rest @ ..] => screen(settings, &Options::parse(rest)?),
        _ => bail!(
            "usage: spsa tune STATE.csv ... | spsa duel NAME=VALUE,... ... | spsa screen NAME=VALUE,... ..."
        ),
    }
}
