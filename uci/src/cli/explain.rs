//! `cairn explain`: what a position is worth and why, and what each of its moves comes to.

use std::io::{self, Write};

use anyhow::{anyhow, bail};
use cairn_engine::search::Style;
use clap::ValueEnum;

use super::output::{exit_when_unread, print};
use super::progress::bar;
use super::{Failure, analyze, bad_usage, position};
use crate::protocol::Go;
use crate::protocol::san::read_san;
use crate::report::batch::{Order, hash_mib};
use crate::report::explain::{Question, SCHEMA, compared, text};
use crate::session::{network, views};

/// Say why a position is worth what it is: what the evaluation sees, what is threatened, what each move comes to
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The position; without it the starting position
    fen: Vec<String>,
    /// Compare this move, in UCI or SAN, with the best one; may be given several times
    #[arg(long, value_name = "MOVE", value_delimiter = ',')]
    why_not: Vec<String>,
    /// Nodes for each move, and for the threat
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// How many moves are searched at the same time; the answer does not depend on it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// The hash table of each search in MiB; without it one for 100000 nodes
    #[arg(long, value_name = "MIB")]
    hash: Option<u64>,
    /// How the answer is written
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Sets a UCI option, such as SyzygyPath=FOLDER; may be given several times
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// Print the JSON Schema of the answer
    #[arg(long)]
    schema: bool,
}

/// How an explanation is written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people
    Text,
    /// For programs, an object of JSON
    Json,
}

/// Searches and explains.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.schema {
        return print(SCHEMA);
    }
    let board = position(&arguments.fen)?;
    let why_not = arguments
        .why_not
        .iter()
        .map(|text| {
            read_san(&board, text.trim()).map_err(|error| bad_usage(anyhow!("--why-not: {error}")))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    let order = arguments.order().map_err(bad_usage)?;
    let limits = arguments.limits(&order);
    let origin = analyze::origin(&order.settings, limits).map_err(bad_usage)?;
    let loaded = network::chosen(&mut order.settings.eval_file.clone());
    let loaded = loaded.map_err(|refusal| bad_usage(anyhow!(refusal)))?;
    let network = network::playing(loaded.as_ref());
    exit_when_unread(0);
    let question = Question {
        board: &board,
        why_not: &why_not,
        network: network.as_ref(),
        order: &order,
        origin: &origin,
    };
    let progress = bar(question.searches() as u64);
    let answered = question.answer(&|| progress.inc(1));
    progress.finish_and_clear();
    let (explanation, notes) = answered?;
    for note in notes {
        // Where nobody can be told, nothing is lost but a remark.
        let _ = writeln!(io::stderr(), "cairn: {note}");
    }
    match arguments.format {
        Form::Json => print(&(serde_json::to_string(&explanation)? + "\n")),
        Form::Text if !why_not.is_empty() => print(&compared(&explanation, &board)),
        Form::Text => {
            let evaluation = views::evaluation_of_cairn(&board, network.as_ref());
            print(&text(&explanation, &board, &evaluation))
        }
    }
}

impl Arguments {
    fn order(&self) -> anyhow::Result<Order> {
        let hash = self.hash.unwrap_or(hash_mib(self.nodes));
        let settings = analyze::settings(&[("Hash", hash.to_string())], &self.options)?;
        if settings.style == Style::MicroMax {
            bail!(
                "'cairn explain' is of style Cairn: the other one evaluates no position by itself"
            );
        }
        let limits = Go { nodes: Some(self.nodes), ..Go::default() };
        Ok(Order { limits, settings, jobs: self.jobs.into() })
    }

    /// The limits and options in words.
    fn limits(&self, order: &Order) -> String {
        let mut words = vec![format!("nodes {} hash {}", self.nodes, order.settings.hash_mib)];
        words.extend(self.options.iter().map(|option| format!("option {option}")));
        words.join(" ")
    }
}
