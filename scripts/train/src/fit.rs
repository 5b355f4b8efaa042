//! The training: batches, steps of AdamW, and a state that can be kept and gone on from.
//!
//! A batch is cut into parts, always the same ones, whose slopes are added up in one order, and what
//! comes next depends on the number of the step alone. So the network is the same with any number of
//! threads and however often the training was broken off. Source of the steps: Loshchilov and Hutter,
//! "Decoupled Weight Decay Regularization", 2019.

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use cairn_engine::eval::network::{MOST_BUCKETS, Network, fnv1a};

use multiversion::multiversion;

use crate::aligned::Aligned;
use crate::network::{Goal, Kernel, LARGEST_WEIGHT, Shape, Slope, WIDTHS};
use crate::positions::{Position, scrambled};
use crate::shuffle::{Permutation, Positions};
use crate::workers::side_by_side;

/// Parts of a batch; a part of the result, as sums depend on their order.
const PARTS: usize = 8;
/// Weights that one thread steps at a time.
const STRIDE: usize = 4096;
/// Positions that one thread measures at a time.
const MEASURED: usize = 4096;
/// How often the error is measured in a training.
const MEASUREMENTS: u64 = 100;
/// How fast the means of the slope and of its square forget.
const FORGETTING: (f32, f32) = (0.9, 0.999);
/// Keeps the step finite where there is no slope.
const EPSILON: f32 = 1e-8;
/// How strongly weights are drawn to nothing, times the learning rate.
const DECAY: f32 = 0.01;

/// What the network depends on beside the positions.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Settings {
    /// The sizes of the network.
    pub(crate) shape: Shape,
    /// Positions between two steps.
    pub(crate) batch: usize,
    /// How many positions are learned from, counted as often as they are, or
    pub(crate) samples: Option<u64>,
    /// how many passes over all of them are made.
    pub(crate) epochs: u64,
    /// The learning rate at first and in the end, half a cosine in between.
    pub(crate) rate: (f64, f64),
    /// The result's share in the target at first and in the end, a line in between.
    pub(crate) result_share: (f64, f64),
    /// The scale of the logistic function in centipawns.
    pub(crate) scale: f64,
    /// The largest score.
    pub(crate) bound: i16,
    /// The last share of the training in which the network is rounded before it is asked.
    pub(crate) rounded: f64,
    /// Where all randomness comes from.
    pub(crate) seed: u64,
}

/// An error that was measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Measured {
    /// How many steps had been made.
    pub(crate) step: u64,
    /// The mean squared error of the batches since the last measurement.
    pub(crate) training: f64,
    /// That of the positions held back.
    pub(crate) held_back: f64,
}

/// All that changes.
#[derive(PartialEq, Debug)]
struct State {
    step: u64,
    weights: Aligned,
    /// The running means of the slope and of its square.
    first: Aligned,
    second: Aligned,
    curve: Vec<Measured>,
}

/// A training under way.
pub(crate) struct Training<'data> {
    settings: Settings,
    threads: usize,
    kernel: Kernel,
    positions: &'data mut Positions,
    held_back: &'data [Position],
    state: State,
    /// What stands in the bytes of the network that the training began with.
    begun_with: Option<u64>,
    /// The weights as the network in whole numbers has them, in the last share of the training.
    rounded: Aligned,
    parts: Vec<Slope>,
    /// How strongly each weight is drawn to nothing, times the learning rate.
    decays: Vec<f32>,
    steps: u64,
}

/// The positions of a step: a pass, a chunk and a range of the order there.
struct Batch {
    epoch: u64,
    chunk: usize,
    from: usize,
    to: usize,
}

impl<'data> Training<'data> {
    /// A training with nothing learned yet.
    ///
    /// # Errors
    /// If there is nothing to learn from or the settings make no sense.
    pub(crate) fn new(
        settings: Settings,
        positions: &'data mut Positions,
        held_back: &'data [Position],
        threads: usize,
    ) -> Result<Training<'data>> {
        let shape = settings.shape;
        let kernel = Kernel::of(shape.hidden)
            .with_context(|| format!("{} hidden neurons: can be {WIDTHS:?}", shape.hidden))?;
        ensure!(
            (1..=MOST_BUCKETS).contains(&shape.buckets),
            "there can be 1 to {MOST_BUCKETS} buckets"
        );
        ensure!(settings.batch > 0, "a batch has to have positions");
        ensure!(settings.scale > 0.0, "the scale has to be above 0");
        ensure!((0.0..=1.0).contains(&settings.rounded), "a share is 0 to 1");
        ensure!(positions.count() > 0, "the games have no position to learn from");
        let chunks = 0..positions.chunks();
        let steps = chunks.map(|chunk| batches(positions.length(chunk), settings.batch));
        let steps = match settings.samples {
            Some(samples) => samples.div_ceil(settings.batch as u64),
            None => settings.epochs * steps.sum::<usize>() as u64,
        };
        let none = || Aligned::zeros(shape.weights());
        let parts = (0..PARTS).map(|_| Slope { slope: none(), error: 0.0 }).collect();
        let state = State {
            step: 0,
            weights: Aligned::of(&shape.start(settings.seed)),
            first: none(),
            second: none(),
            curve: Vec::new(),
        };
        let decay = |weight| if shape.multiplies(weight) { DECAY } else { 0.0 };
        let decays = (0..shape.weights()).map(decay).collect();
        Ok(Training {
            settings,
            threads,
            kernel,
            positions,
            held_back,
            state,
            begun_with: None,
            rounded: none(),
            parts,
            decays,
            steps,
        })
    }

    /// Begins with the weights of a network instead of random ones.
    ///
    /// # Errors
    /// If it has other sizes.
    pub(crate) fn begin_with(&mut self, network: &Network) -> Result<()> {
        let (shape, other) = (self.settings.shape, Shape::of(network));
        ensure!(other == shape, "a network of other sizes: {other:?}, not {shape:?}");
        self.state.weights = Aligned::of(&shape.exact(network));
        self.begun_with = Some(fnv1a(&network.to_bytes()));
        Ok(())
    }

    /// How many steps there are in all.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// How many steps have been made.
    pub(crate) fn step(&self) -> u64 {
        self.state.step
    }

    /// The weights as they are now.
    pub(crate) fn weights(&self) -> &[f32] {
        &self.state.weights
    }

    /// What was measured until now.
    pub(crate) fn curve(&self) -> &[Measured] {
        &self.state.curve
    }

    /// How much of the training lies behind a step, from 0 to 1.
    fn progress(&self, step: u64) -> f64 {
        step as f64 / self.steps.max(1) as f64
    }

    /// The learning rate of a step.
    fn rate(&self, step: u64) -> f64 {
        let (start, end) = self.settings.rate;
        let cosine = libm::cos(std::f64::consts::PI * self.progress(step));
        end + (start - end) * (1.0 + cosine) / 2.0
    }

    /// The result's share in the target at a step.
    fn share(&self, step: u64) -> f64 {
        let (start, end) = self.settings.result_share;
        start + (end - start) * self.progress(step)
    }

    /// Whether the network is rounded before it is asked at a step.
    fn rounds(&self, step: u64) -> bool {
        self.progress(step) > 1.0 - self.settings.rounded
    }

    fn goal(&self, step: u64) -> Goal {
        let Settings { bound, scale, .. } = self.settings;
        Goal::new(bound, scale as f32, self.share(step) as f32)
    }

    /// The positions of a step.
    fn batch(&self, step: u64) -> Batch {
        let chunks = self.positions.chunks();
        let count =
            |chunk: usize| batches(self.positions.length(chunk), self.settings.batch) as u64;
        let pass: u64 = (0..chunks).map(count).sum();
        let epoch = step / pass;
        let order = Permutation::new(chunks, self.settings.seed ^ scrambled(epoch));
        let mut left = step % pass;
        let mut chunk = order.at(0);
        for number in 0..chunks {
            chunk = order.at(number);
            if left < count(chunk) {
                break;
            }
            left -= count(chunk);
        }
        let from = left as usize * self.settings.batch;
        let to = (from + self.settings.batch).min(self.positions.length(chunk));
        Batch { epoch, chunk, from, to }
    }

    /// Trains up to the next measurement, telling `tick` after each step how many positions it took.
    /// Returns whether anything is left to be done.
    ///
    /// # Errors
    /// If the positions cannot be read from their temporary files, or the weights run away.
    pub(crate) fn advance(&mut self, tick: &mut dyn FnMut(u64)) -> Result<bool> {
        let (mut error, mut count) = (0.0, 0);
        let reached = |step: u64| step * MEASUREMENTS / self.steps.max(1);
        let (before, last) = (reached(self.state.step), self.steps);
        let mut next = self.state.step;
        while next < last && reached(next) == before {
            next += 1;
        }
        while self.state.step < next {
            let batch = self.batch(self.state.step);
            error += self.learn(&batch)?;
            count += batch.to - batch.from;
            tick((batch.to - batch.from) as u64);
        }
        if count > 0 {
            let step = self.state.step;
            let goal = self.goal(step);
            let held_back = self.error(&goal);
            ensure!(
                f64::is_finite(error + held_back),
                "the errors are no numbers any more: a smaller learning rate may help"
            );
            self.state.curve.push(Measured { step, training: error / count as f64, held_back });
        }
        Ok(self.state.step < last)
    }

    /// One step; returns the sum of squared errors before it.
    fn learn(&mut self, batch: &Batch) -> Result<f64> {
        let Batch { epoch, chunk, from, to } = *batch;
        let (goal, rate) = (self.goal(self.state.step), self.rate(self.state.step));
        let Settings { shape, seed, .. } = self.settings;
        let seed = seed ^ scrambled(scrambled(epoch) ^ chunk as u64);
        let rounds = self.rounds(self.state.step);
        let weights = asked(&self.settings, rounds, &self.state.weights, &mut self.rounded);
        let positions = self.positions.chunk(chunk)?;
        let order = Permutation::new(positions.len(), seed);
        let kernel = self.kernel;
        let count = to - from;
        let work = |(number, part): (usize, &mut Slope)| {
            let range = from + count * number / PARTS..from + count * (number + 1) / PARTS;
            // Places first: so that the memory brings many positions at a time.
            let places: Vec<usize> = range.map(|index| order.at(index)).collect();
            let own: Vec<Position> = places.into_iter().map(|place| positions[place]).collect();
            (kernel.slope)(shape, weights, &own, &goal, part);
        };
        side_by_side(self.threads, self.parts.iter_mut().enumerate(), work);
        self.state.step += 1;
        let stepping = Stepping::new(self.state.step, rate as f32, count);
        let (state, parts, decays) = (&mut self.state, &self.parts, &self.decays);
        let weights = state.weights.chunks_mut(STRIDE);
        let means = state.first.chunks_mut(STRIDE).zip(state.second.chunks_mut(STRIDE));
        side_by_side(self.threads, weights.zip(means).enumerate(), |(number, (weights, means))| {
            let from = number * STRIDE;
            step(&stepping, parts, &decays[from..], from, weights, means);
        });
        if rounds {
            // The weights of the output stay as they were rounded first: their steps are coarse, and the error
            // would go up and down as they cross from one whole number to the next. The columns adapt to them.
            let output = shape.output()..shape.output_bias();
            self.state.weights[output.clone()].copy_from_slice(&self.rounded[output]);
        }
        Ok(self.parts.iter().map(|part| part.error).sum())
    }

    /// The mean squared error of the positions held back.
    fn error(&mut self, goal: &Goal) -> f64 {
        let (kernel, shape) = (self.kernel, self.settings.shape);
        let weights = asked(
            &self.settings,
            self.rounds(self.state.step),
            &self.state.weights,
            &mut self.rounded,
        );
        let outputs = |positions: &[Position]| (kernel.outputs)(shape, weights, positions);
        mean_error(self.held_back, self.threads, goal, outputs)
    }

    /// The curve as a table, its columns told by its first line.
    pub(crate) fn csv(&self) -> String {
        let mut text =
            String::from("step,epoch,samples,rate,result_share,training_loss,validation_loss\n");
        for measured in &self.state.curve {
            let Measured { step, training, held_back } = *measured;
            let samples = step * self.settings.batch as u64;
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "{step},{:.3},{samples},{:.3e},{:.3},{training:.7},{held_back:.7}",
                samples as f64 / self.positions.count() as f64,
                self.rate(step),
                self.share(step),
            );
        }
        text
    }

    /// What a training that is gone on with has to agree in.
    fn fingerprint(&self) -> u64 {
        let held_back = self
            .held_back
            .iter()
            .fold(0, |hash, position| scrambled(hash ^ fnv1a(&position.to_bytes())));
        let positions = self.positions.fingerprint() ^ self.positions.chunks() as u64;
        let (settings, begun_with) = (&self.settings, self.begun_with);
        fnv1a(format!("{settings:?} {begun_with:?} {positions} {held_back}").as_bytes())
    }

    /// All that is needed to go on, in bytes.
    pub(crate) fn checkpoint(&self) -> Vec<u8> {
        let State { step, weights, first, second, curve } = &self.state;
        let mut bytes = CHECKPOINT.to_vec();
        for number in [self.fingerprint(), *step, curve.len() as u64] {
            bytes.extend(number.to_le_bytes());
        }
        for measured in curve {
            bytes.extend(measured.step.to_le_bytes());
            bytes.extend(measured.training.to_le_bytes());
            bytes.extend(measured.held_back.to_le_bytes());
        }
        for number in weights.iter().chain(first.iter()).chain(second.iter()) {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(fnv1a(&bytes).to_le_bytes());
        bytes
    }

    /// Goes on from a checkpoint.
    ///
    /// # Errors
    /// If it is none, damaged, or of a training with other settings or positions.
    pub(crate) fn resume(&mut self, checkpoint: &[u8]) -> Result<()> {
        let (bytes, checksum) =
            checkpoint.split_last_chunk::<8>().context("it is no checkpoint")?;
        ensure!(bytes.starts_with(CHECKPOINT), "it is no checkpoint");
        ensure!(fnv1a(bytes) == u64::from_le_bytes(*checksum), "it is damaged");
        let (eights, _) = bytes[CHECKPOINT.len()..].as_chunks::<8>();
        let number = |index: usize| eights.get(index).copied().map_or(0, u64::from_le_bytes);
        let (fingerprint, step, rows) = (number(0), number(1), number(2) as usize);
        ensure!(fingerprint == self.fingerprint(), "it is of other settings or other games");
        let length = 3 * 8 + 3 * 8 * rows + 3 * 4 * self.state.weights.len();
        ensure!(bytes.len() == CHECKPOINT.len() + length && step <= self.steps, "it is damaged");
        self.state.step = step;
        self.state.curve = (0..rows)
            .map(|row| Measured {
                step: number(3 + 3 * row),
                training: f64::from_bits(number(4 + 3 * row)),
                held_back: f64::from_bits(number(5 + 3 * row)),
            })
            .collect();
        let (fours, _) = bytes[CHECKPOINT.len() + 3 * 8 * (rows + 1)..].as_chunks::<4>();
        let State { weights, first, second, .. } = &mut self.state;
        let numbers = weights.iter_mut().chain(first.iter_mut()).chain(second.iter_mut());
        for (number, four) in numbers.zip(fours) {
            *number = f32::from_le_bytes(*four);
        }
        Ok(())
    }
}

const CHECKPOINT: &[u8] = b"CAIRNCP1";

/// The weights that the network is asked with: those that are stepped, or these as they are in whole
/// numbers. Steps that are too small for these add up all the same.
fn asked<'all>(
    settings: &Settings,
    rounds: bool,
    weights: &'all Aligned,
    rounded: &'all mut Aligned,
) -> &'all Aligned {
    if rounds {
        settings.shape.round(weights, rounded);
        rounded
    } else {
        weights
    }
}

/// How many batches a chunk has: the positions that fill none are left out of this pass.
fn batches(positions: usize, batch: usize) -> usize {
    if positions == 0 { 0 } else { (positions / batch).max(1) }
}

/// The mean squared error of the outputs for some positions.
pub(crate) fn mean_error(
    positions: &[Position],
    threads: usize,
    goal: &Goal,
    outputs: impl Fn(&[Position]) -> Vec<f32> + Sync,
) -> f64 {
    let errors = side_by_side(threads, positions.chunks(MEASURED), |positions| -> f64 {
        let outputs = outputs(positions).into_iter().zip(positions);
        let errors = outputs.map(|(output, &position)| {
            let error = crate::network::logistic(output * goal.steepness) - goal.target(position);
            f64::from(error * error)
        });
        errors.sum()
    });
    let sum = errors.into_iter().fold(0.0, |sum, error| sum + error);
    sum / positions.len().max(1) as f64
}

/// The numbers of one step of AdamW.
struct Stepping {
    rate: f32,
    corrections: (f32, f32),
    share: f32,
}

impl Stepping {
    /// Step `step`, from 1, over `count` positions.
    fn new(step: u64, rate: f32, count: usize) -> Stepping {
        let remembered =
            |forgetting: f32| 1.0 - libm::pow(f64::from(forgetting), step as f64) as f32;
        let corrections = (remembered(FORGETTING.0), remembered(FORGETTING.1));
        Stepping { rate, corrections, share: 1.0 / count as f32 }
    }
}

/// Steps the weights from number `from` on, each with its decay.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt"
))]
fn step(
    stepping: &Stepping,
    parts: &[Slope],
    decays: &[f32],
    from: usize,
    weights: &mut [f32],
    (first, second): (&mut [f32], &mut [f32]),
) {
    let mut slopes = [0.0; STRIDE];
    let slopes = &mut slopes[..weights.len()];
    for part in parts {
        for (sum, slope) in slopes.iter_mut().zip(&part.slope[from..]) {
            *sum += slope;
        }
    }
    let means = first.iter_mut().zip(second);
    for (((weight, slope), (first, second)), decay) in
        weights.iter_mut().zip(slopes).zip(means).zip(decays)
    {
        let slope = *slope * stepping.share;
        *first = FORGETTING.0 * *first + (1.0 - FORGETTING.0) * slope;
        *second = FORGETTING.1 * *second + (1.0 - FORGETTING.1) * (slope * slope);
        let root = (*second / stepping.corrections.1).sqrt() + EPSILON;
        let stepped =
            *weight - stepping.rate * (*first / stepping.corrections.0 / root + decay * *weight);
        *weight = stepped.clamp(-LARGEST_WEIGHT, LARGEST_WEIGHT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::shuffle::Collector;

    fn settings() -> Settings {
        Settings {
            shape: Shape { hidden: 8, buckets: 2 },
            batch: 256,
            samples: None,
            epochs: 40,
            rate: (5e-3, 5e-5),
            result_share: (0.0, 0.2),
            scale: 200.0,
            bound: 2000,
            rounded: 0.2,
            seed: 3,
        }
    }

    fn collected(games: u64, most: usize, name: &str) -> Positions {
        let stem = std::env::temp_dir().join(format!("train-fit-{}-{name}", std::process::id()));
        let mut collector = Collector::new(most, stem, 3);
        samples::positions(0..games).into_iter().for_each(|p| collector.push(p).unwrap());
        collector.finish().unwrap()
    }

    /// A training on one thread.
    fn begun<'data>(
        settings: &Settings,
        positions: &'data mut Positions,
        held_back: &'data [Position],
    ) -> Training<'data> {
        Training::new(settings.clone(), positions, held_back, 1).unwrap()
    }

    /// Trains to the end and hands out what has changed.
    fn finished(mut training: Training) -> State {
        while training.advance(&mut |_| ()).unwrap() {}
        assert_eq!(training.step(), training.steps());
        training.state
    }

    #[test]
    fn a_tiny_network_learns_material_to_a_known_loss() {
        let (mut positions, held_back) =
            (collected(600, 1 << 20, "known"), samples::positions(600..620));
        let settings = Settings { result_share: (0.0, 0.0), rounded: 0.0, epochs: 6, ..settings() };
        let training = Training::new(settings, &mut positions, &held_back, 2).unwrap();
        let curve = finished(training).curve;
        let (first, last) = (curve[0], curve[curve.len() - 1]);
        assert_eq!(curve.len(), MEASUREMENTS as usize);
        assert!(first.training > 0.05, "{first:?}");
        let rounded = |error: f64| format!("{error:.7}");
        let found = (rounded(last.training), rounded(last.held_back));
        assert_eq!(found, ("0.0000827".to_string(), "0.0002107".to_string()));
    }

    #[test]
    fn the_network_is_the_same_with_any_number_of_threads() {
        let held_back = samples::positions(60..65);
        for most in [1 << 20, 700] {
            let states = [1, 2, 3].map(|threads| {
                let mut positions = collected(60, most, &format!("threads{most}"));
                let settings = Settings { epochs: 3, ..settings() };
                let training = Training::new(settings, &mut positions, &held_back, threads);
                finished(training.unwrap())
            });
            assert_eq!(states[0], states[1]);
            assert_eq!(states[0], states[2]);
            assert!(states[0].step > 20);
        }
    }

    #[test]
    fn one_that_was_broken_off_goes_on_as_if_it_had_not_been() {
        let held_back = samples::positions(60..65);
        let settings = Settings { samples: Some(20_000), ..settings() };
        let mut positions = collected(60, 1500, "resumed");
        let whole = finished(begun(&settings, &mut positions, &held_back));
        let mut training = begun(&settings, &mut positions, &held_back);
        for _ in 0..30 {
            assert!(training.advance(&mut |_| ()).unwrap());
        }
        let checkpoint = training.checkpoint();
        assert!(training.step() < training.steps());

        let mut resumed = begun(&settings, &mut positions, &held_back);
        resumed.resume(&checkpoint).unwrap();
        assert_eq!(finished(resumed), whole);

        let mut wrong = checkpoint.clone();
        wrong[100] ^= 1;
        assert!(begun(&settings, &mut positions, &held_back).resume(&wrong).is_err());
        assert!(
            begun(&settings, &mut positions, &held_back)
                .resume(&checkpoint[..checkpoint.len() - 4])
                .is_err()
        );
        assert!(begun(&settings, &mut positions, &held_back).resume(b"").is_err());
        let other = Settings { seed: 4, ..settings.clone() };
        let mut other = Training::new(other, &mut positions, &held_back, 1).unwrap();
        let error = other.resume(&checkpoint).unwrap_err();
        assert!(error.to_string().contains("other settings"), "{error}");
    }

    #[test]
    fn in_the_end_the_network_is_asked_as_it_is_in_whole_numbers() {
        let held_back = samples::positions(60..70);
        let mut positions = collected(60, 1 << 20, "rounded");
        let errors = [0.0, 0.3].map(|rounded| {
            let settings = Settings { rounded, result_share: (0.0, 0.0), ..settings() };
            let shape = settings.shape;
            let training = Training::new(settings, &mut positions, &held_back, 2).unwrap();
            let goal = training.goal(0);
            let state = finished(training);
            let network = shape.quantised(&state.weights, 1).unwrap();
            let weights = shape.exact(&network);
            let output = shape.output()..shape.output_bias();
            let stays = state.weights[output.clone()] == weights[output];
            assert_eq!(stays, rounded > 0.0, "the weights of the output stay as they were rounded");
            let kernel = Kernel::of(shape.hidden).unwrap();
            let whole =
                mean_error(&held_back, 1, &goal, |some| (kernel.outputs)(shape, &weights, some));
            (state.curve.last().unwrap().held_back, whole)
        });
        assert!(errors[0].0 != errors[0].1);
        assert!(errors[1].0 == errors[1].1, "{errors:?}");
    }

    #[test]
    fn a_training_can_begin_with_a_network() {
        let held_back = samples::positions(60..65);
        let mut positions = collected(60, 1 << 20, "from");
        let settings = Settings { epochs: 4, rounded: 0.5, result_share: (0.0, 0.0), ..settings() };
        let first = finished(begun(&settings, &mut positions, &held_back));
        let network = settings.shape.quantised(&first.weights, 1).unwrap();
        let settings = Settings { rate: (1e-4, 1e-5), ..settings };
        let mut training = begun(&settings, &mut positions, &held_back);
        training.begin_with(&network).unwrap();
        assert_eq!(training.weights(), settings.shape.exact(&network));
        assert!(training.advance(&mut |_| ()).unwrap());
        let checkpoint = training.checkpoint();
        let second = finished(training);
        let (last, next) = (first.curve[first.curve.len() - 1], second.curve[0]);
        assert!((next.held_back / last.held_back - 1.0).abs() < 0.05, "{last:?} {next:?}");
        let error = begun(&settings, &mut positions, &held_back).resume(&checkpoint).unwrap_err();
        assert!(error.to_string().contains("other settings"), "{error}");
        let wide = Settings { shape: Shape { hidden: 16, buckets: 2 }, ..settings.clone() };
        let mut wide = begun(&wide, &mut positions, &held_back);
        assert!(wide.begin_with(&network).is_err());
    }

    #[test]
    fn every_pass_takes_every_full_batch_once() {
        let mut positions = collected(60, 1000, "passes");
        let settings = settings();
        let training = Training::new(settings, &mut positions, &[], 1).unwrap();
        let pass = training.steps() / 40;
        let taken = |epoch: u64| {
            let steps = epoch * pass..(epoch + 1) * pass;
            let batches = steps.map(|step| training.batch(step));
            batches
                .map(|batch| (batch.epoch, batch.chunk, batch.from, batch.to))
                .collect::<Vec<_>>()
        };
        let (first, second) = (taken(0), taken(1));
        assert!(first.iter().all(|batch| batch.0 == 0) && second.iter().all(|batch| batch.0 == 1));
        let sorted = |batches: &[(u64, usize, usize, usize)]| {
            let mut batches: Vec<_> = batches.iter().map(|batch| (batch.1, batch.2)).collect();
            batches.sort_unstable();
            batches
        };
        assert_eq!(sorted(&first), sorted(&second));
        let mut unique = sorted(&first);
        unique.dedup();
        assert_eq!(unique.len(), first.len());
        assert!((training.rate(0) - 5e-3).abs() < 1e-12);
        assert!((training.rate(training.steps()) - 5e-5).abs() < 1e-12);
    }

    #[test]
    fn settings_without_sense_are_refused() {
        let mut positions = collected(60, 1 << 20, "refused");
        for wrong in [
            Settings { shape: Shape { hidden: 9, buckets: 1 }, ..settings() },
            Settings { shape: Shape { hidden: 8, buckets: 0 }, ..settings() },
            Settings { batch: 0, ..settings() },
            Settings { scale: 0.0, ..settings() },
            Settings { rounded: 1.1, ..settings() },
        ] {
            assert!(Training::new(wrong, &mut positions, &[], 1).is_err());
        }
        let mut none = Collector::new(1, std::env::temp_dir(), 1).finish().unwrap();
        assert!(Training::new(settings(), &mut none, &[], 1).is_err());
    }
}
