//! The network in floating point: its weights, its error, and the slope of the error.
//!
//! Additions are done in one order whatever the processor, and rustc never fuses a multiplication with
//! an addition: a program made for a processor with wider vectors finds the same numbers.

use cairn_engine::eval::network::{INPUTS, LARGEST_OUTPUT, Network, NetworkError, QA, QB, SCALE};

use multiversion::multiversion;

use crate::aligned::Aligned;
use crate::positions::{Position, scrambled};

/// Weights are held within this, either way: so they fit 8 bits in the units of the output.
pub(crate) const LARGEST_WEIGHT: f32 = 1.98;
const _: () = assert!(LARGEST_WEIGHT * (QB as f32) < LARGEST_OUTPUT as f32);

/// The sizes of a network, and where its weights stand in one row of numbers: columns by input, what
/// the sums begin with, output weights by bucket with the mover's first, what the outputs begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    /// Neurons of a side.
    pub(crate) hidden: usize,
    /// Sets of output weights.
    pub(crate) buckets: usize,
}

impl Shape {
    fn column_bias(self) -> usize {
        INPUTS * self.hidden
    }

    pub(crate) fn output(self) -> usize {
        self.column_bias() + self.hidden
    }

    pub(crate) fn output_bias(self) -> usize {
        self.output() + 2 * self.hidden * self.buckets
    }

    /// The number of weights.
    pub(crate) fn weights(self) -> usize {
        self.output_bias() + self.buckets
    }

    /// Whether a weight multiplies something: those that do not are not drawn to nothing.
    pub(crate) fn multiplies(self, weight: usize) -> bool {
        weight < self.column_bias() || (self.output()..self.output_bias()).contains(&weight)
    }

    /// Random weights to begin with.
    pub(crate) fn start(self, seed: u64) -> Vec<f32> {
        let output = 1.0 / libm::sqrtf(2.0 * self.hidden as f32);
        let number = |weight: usize| {
            let random = scrambled(scrambled(seed) ^ weight as u64) >> 40;
            let random = random as f32 / (1 << 23) as f32 - 1.0;
            // Some twenty pieces stand on the board.
            random * if weight < self.output() { 0.1 } else { output }
        };
        (0..self.weights()).map(number).collect()
    }

    /// The sizes of a network.
    pub(crate) fn of(network: &Network) -> Shape {
        Shape { hidden: network.hidden(), buckets: network.buckets() }
    }

    /// The layers in the order of their weights: how many they have, and what stands for 1 in whole
    /// numbers.
    fn layers(self) -> [(usize, f32); 3] {
        [
            (self.output(), QA as f32),
            (2 * self.hidden * self.buckets, QB as f32),
            (self.buckets, (QA * QB) as f32),
        ]
    }

    /// Writes the weights as they are in whole numbers to `rounded`, which is as long.
    pub(crate) fn round(self, weights: &[f32], rounded: &mut [f32]) {
        let mut from = 0;
        for (count, unit) in self.layers() {
            round(&weights[from..from + count], unit, &mut rounded[from..from + count]);
            from += count;
        }
    }

    /// The network in whole numbers, rounded.
    pub(crate) fn quantised(
        self,
        weights: &[f32],
        generation: u32,
    ) -> Result<Network, NetworkError> {
        let mut weights = weights.iter();
        let [columns, output, output_bias] = self.layers().map(|(count, unit)| {
            let rounded = weights.by_ref().take(count).map(|weight| weight * unit);
            rounded.map(|weight| weight.round_ties_even() as i32).collect::<Vec<i32>>()
        });
        let words = |weights: &[i32]| weights.iter().map(|&weight| weight as i16).collect();
        let (columns, column_bias) = columns.split_at(self.column_bias());
        let (columns, column_bias) = (words(columns), words(column_bias));
        Network::new(generation, columns, column_bias, words(&output), output_bias)
    }

    /// The weights of a network, which has these sizes.
    pub(crate) fn exact(self, network: &Network) -> Vec<f32> {
        let words = [network.columns(), network.column_bias(), network.output_weights()];
        let words = words.into_iter().flatten().map(|&weight| i32::from(weight));
        let mut whole = words.chain(network.output_bias().iter().copied());
        let mut weights = Vec::with_capacity(self.weights());
        for (count, unit) in self.layers() {
            weights.extend(whole.by_ref().take(count).map(|weight| weight as f32 / unit));
        }
        weights
    }
}

/// Writes weights to `rounded` as they are in whole numbers of which `unit` stands for 1.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt"
))]
fn round(weights: &[f32], unit: f32, rounded: &mut [f32]) {
    for (rounded, weight) in rounded.iter_mut().zip(weights) {
        *rounded = (weight * unit).round_ties_even() / unit;
    }
}

/// What the outputs are compared with.
pub(crate) struct Goal {
    /// The expected result by score, from the lowest one on.
    expected: Vec<f32>,
    bound: i16,
    /// An output of 1 in the unit of the logistic function.
    pub(crate) steepness: f32,
    /// How much of the target is the game's result.
    pub(crate) share: f32,
}

impl Goal {
    /// The logistic function of scale `scale` centipawns, for scores up to `bound`.
    pub(crate) fn new(bound: i16, scale: f32, share: f32) -> Goal {
        let expected = (-bound..=bound).map(|score| logistic(f32::from(score) / scale)).collect();
        Goal { expected, bound, steepness: SCALE as f32 / scale, share }
    }

    /// What the mover can expect, from 0 to 1.
    #[inline]
    pub(crate) fn target(&self, position: Position) -> f32 {
        let score = position.score.clamp(-self.bound, self.bound);
        let expected = self.expected[(i32::from(score) + i32::from(self.bound)) as usize];
        (1.0 - self.share) * expected + self.share * position.won()
    }
}

#[inline]
pub(crate) fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}

/// The sum of squared errors over some positions, and its slope by weight.
pub(crate) struct Slope {
    /// By weight.
    pub(crate) slope: Aligned,
    /// The sum of squared errors.
    pub(crate) error: f64,
}

/// What a network of one width does; the functions are made for each width apart.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    /// The outputs for some positions, one after the other.
    pub(crate) outputs: fn(Shape, &[f32], &[Position]) -> Vec<f32>,
    /// The error over some positions and its slope, in place of what stood there.
    pub(crate) slope: fn(Shape, &[f32], &[Position], &Goal, &mut Slope),
}

/// The widths that can be trained.
pub(crate) const WIDTHS: [usize; 8] = [8, 16, 32, 64, 96, 128, 192, 256];

impl Kernel {
    /// That of a width; `None` if there is none, see [`WIDTHS`].
    pub(crate) fn of(hidden: usize) -> Option<Kernel> {
        const fn kernel<const N: usize, const BLOCK: usize>() -> Kernel {
            Kernel { outputs: outputs::<N, BLOCK>, slope: slope::<N, BLOCK> }
        }
        Some(match hidden {
            8 => kernel::<8, 8>(),
            16 => kernel::<16, 16>(),
            32 => kernel::<32, 32>(),
            64 => kernel::<64, 64>(),
            96 => kernel::<96, 32>(),
            128 => kernel::<128, 128>(),
            192 => kernel::<192, 32>(),
            256 => kernel::<256, 128>(),
            _ => return None,
        })
    }
}

/// Weights as the inner loops want them.
struct Layers<'weights, const N: usize> {
    columns: &'weights [[f32; N]],
    column_bias: &'weights [f32; N],
    /// Two for each bucket.
    output: &'weights [[f32; N]],
    output_bias: &'weights [f32],
}

impl<'weights, const N: usize> Layers<'weights, N> {
    fn of(shape: Shape, weights: &'weights [f32]) -> Layers<'weights, N> {
        let (rows, output_bias) = weights.split_at(shape.output_bias());
        let (columns, rest) = rows.as_chunks::<N>().0.split_at(INPUTS);
        Layers { columns, column_bias: &rest[0], output: &rest[1..], output_bias }
    }
}

/// The sums of one side's neurons.
#[inline(always)]
fn sums<const N: usize, const BLOCK: usize>(layers: &Layers<N>, inputs: &[u16]) -> [f32; N] {
    let mut sums = [0.0; N];
    // So much of a column at a time that the sums stay in registers.
    for (block, sums) in sums.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        let mut sum = layers.column_bias.as_chunks::<BLOCK>().0[block];
        for &input in inputs {
            let column = &layers.columns[usize::from(input)].as_chunks::<BLOCK>().0[block];
            for (sum, weight) in sum.iter_mut().zip(column) {
                *sum += weight;
            }
        }
        *sums = sum;
    }
    sums
}

/// The output of one side: clamped, squared, weighted, added up in eight lanes.
#[inline(always)]
fn weighted<const N: usize>(sums: &[f32; N], weights: &[f32; N]) -> f32 {
    let mut lanes = [0.0; 8];
    for (sums, weights) in sums.as_chunks::<8>().0.iter().zip(weights.as_chunks::<8>().0) {
        for ((lane, sum), weight) in lanes.iter_mut().zip(sums).zip(weights) {
            let clamped = sum.clamp(0.0, 1.0);
            *lane += clamped * clamped * weight;
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt"
))]
fn outputs<const N: usize, const BLOCK: usize>(
    shape: Shape,
    weights: &[f32],
    positions: &[Position],
) -> Vec<f32> {
    let layers = Layers::<N>::of(shape, weights);
    let output = |position: &Position| {
        let inputs = position.inputs();
        let bucket = position.bucket(shape.buckets);
        let side = |side: usize| {
            let sums = sums::<N, BLOCK>(&layers, inputs.of(side));
            weighted(&sums, &layers.output[2 * bucket + side])
        };
        side(0) + side(1) + layers.output_bias[bucket]
    };
    positions.iter().map(output).collect()
}

#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt"
))]
fn slope<const N: usize, const BLOCK: usize>(
    shape: Shape,
    weights: &[f32],
    positions: &[Position],
    goal: &Goal,
    result: &mut Slope,
) {
    let layers = Layers::<N>::of(shape, weights);
    result.slope.fill(0.0);
    result.error = 0.0;
    let (rows, output_bias) = result.slope.split_at_mut(shape.output_bias());
    let (columns, rest) = rows.as_chunks_mut::<N>().0.split_at_mut(INPUTS);
    let Some((column_bias, output)) = rest.split_first_mut() else { return };
    for &position in positions {
        let inputs = position.inputs();
        let bucket = position.bucket(shape.buckets);
        let sums = [0, 1].map(|side| sums::<N, BLOCK>(&layers, inputs.of(side)));
        let [own, enemy] =
            [0, 1].map(|side| weighted(&sums[side], &layers.output[2 * bucket + side]));
        let expected = logistic((own + enemy + layers.output_bias[bucket]) * goal.steepness);
        let error = expected - goal.target(position);
        result.error += f64::from(error * error);
        let slope = 2.0 * error * expected * (1.0 - expected) * goal.steepness;
        output_bias[bucket] += slope;
        for side in [0, 1] {
            let mut inner = [0.0; N];
            let output_weights = &layers.output[2 * bucket + side];
            let output = &mut output[2 * bucket + side];
            for i in 0..N {
                let sum = sums[side][i];
                let clamped = sum.clamp(0.0, 1.0);
                output[i] += slope * (clamped * clamped);
                let inside = if clamped == sum { 2.0 * clamped } else { 0.0 };
                inner[i] = slope * output_weights[i] * inside;
                column_bias[i] += inner[i];
            }
            for &input in inputs.of(side) {
                for (sum, slope) in columns[usize::from(input)].iter_mut().zip(&inner) {
                    *sum += slope;
                }
            }
        }
    }
}

/// The outputs of a network in whole numbers, as [`cairn_engine::eval::network::evaluate_reference`]
/// finds them, in units of [`SCALE`].
pub(crate) fn quantised_outputs(network: &Network, positions: &[Position]) -> Vec<f32> {
    let (hidden, columns) = (network.hidden(), network.columns());
    let output = |position: &Position| {
        let inputs = position.inputs();
        let bucket = position.bucket(network.buckets());
        let mut output = network.output_weights()[2 * hidden * bucket..].iter();
        let mut sum = 0;
        for side in [0, 1] {
            let mut sums = network.column_bias().to_vec();
            for &input in inputs.of(side) {
                let column = &columns[hidden * usize::from(input)..][..hidden];
                for (sum, weight) in sums.iter_mut().zip(column) {
                    *sum += weight;
                }
            }
            for (&neuron, &weight) in sums.iter().zip(output.by_ref()) {
                let clamped = i32::from(neuron).clamp(0, QA);
                sum += clamped * clamped * i32::from(weight);
            }
        }
        network.output(sum, bucket) as f32 / SCALE as f32
    };
    positions.iter().map(output).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use cairn_engine::board::Board;
    use cairn_engine::eval::network::{bucket, evaluate_reference, feature};
    use cairn_engine::selfplay::GameResult;
    use cairn_engine::square::Square;

    const SHAPE: Shape = Shape { hidden: 8, buckets: 3 };

    /// The output written down once more, from the board and in double precision.
    fn output(shape: Shape, weights: &[f64], board: &Board) -> f64 {
        let hidden = shape.hidden;
        let pieces: Vec<_> =
            Square::all().filter_map(|at| Some((board.piece_on(at)?, at))).collect();
        let bucket = bucket(pieces.len(), shape.buckets);
        let bias = &weights[INPUTS * hidden..];
        let output = &bias[hidden + 2 * hidden * bucket..];
        let mut sum = bias[hidden + 2 * hidden * shape.buckets + bucket];
        let mover = board.side_to_move();
        for (half, side) in [mover, mover.other()].into_iter().enumerate() {
            for neuron in 0..hidden {
                let columns = pieces.iter().map(|&(piece, at)| {
                    weights[hidden * feature(side, board.king(side), piece, at) + neuron]
                });
                let clamped = (bias[neuron] + columns.sum::<f64>()).clamp(0.0, 1.0);
                sum += clamped * clamped * output[half * hidden + neuron];
            }
        }
        sum
    }

    fn taken(boards: &[Board]) -> Vec<Position> {
        let results = [GameResult::BlackWins, GameResult::Draw, GameResult::WhiteWins];
        let numbered = boards.iter().enumerate();
        let position = |(number, board): (usize, &Board)| {
            Position::new(board, (37 * number % 500) as i16, results[number % 3])
        };
        numbered.map(position).collect()
    }

    /// Weights with neurons in all three parts of the activation.
    fn weights(shape: Shape) -> Vec<f32> {
        shape.start(1).into_iter().map(|weight| 1.5 * weight).collect()
    }

    #[test]
    fn outputs_are_what_the_definition_says() {
        let boards = samples::boards(0..10);
        for hidden in WIDTHS {
            let shape = Shape { hidden, buckets: 2 };
            let weights = weights(shape);
            let doubled: Vec<f64> = weights.iter().map(|&weight| f64::from(weight)).collect();
            let kernel = Kernel::of(hidden).unwrap();
            let found = (kernel.outputs)(shape, &weights, &taken(&boards));
            for (found, board) in found.into_iter().zip(&boards) {
                let expected = output(shape, &doubled, board);
                assert!((f64::from(found) - expected).abs() < 1e-5, "{found} {expected}");
            }
        }
    }

    #[test]
    fn the_slope_is_that_of_the_error() {
        let boards: Vec<Board> = samples::boards(0..40).into_iter().step_by(40).collect();
        let positions = taken(&boards);
        let goal = Goal::new(2000, 150.0, 0.3);
        let weights = weights(SHAPE);
        let mut found = Slope { slope: Aligned::zeros(SHAPE.weights()), error: 0.0 };
        found.slope.fill(7.0);
        let kernel = Kernel::of(SHAPE.hidden).unwrap();
        (kernel.slope)(SHAPE, &weights, &positions, &goal, &mut found);
        let error = |weights: &[f64]| -> f64 {
            let errors = boards.iter().zip(&positions).map(|(board, &position)| {
                let output = output(SHAPE, weights, board) * f64::from(SCALE) / 150.0;
                (1.0 / (1.0 + libm::exp(-output)) - f64::from(goal.target(position))).powi(2)
            });
            errors.sum()
        };
        let mut doubled: Vec<f64> = weights.iter().map(|&weight| f64::from(weight)).collect();
        assert!((found.error - error(&doubled)).abs() < 1e-4);
        // All biases and output weights, and some of the columns.
        let columns = (0..SHAPE.column_bias()).step_by(23);
        let mut steep = 0;
        for index in columns.chain(SHAPE.column_bias()..SHAPE.weights()) {
            let middle = doubled[index];
            let mut at = |weight: f64| {
                doubled[index] = weight;
                error(&doubled)
            };
            let (up, down) = (at(middle + 1e-5), at(middle - 1e-5));
            at(middle);
            let expected = (up - down) / 2e-5;
            let slope = f64::from(found.slope[index]);
            assert!((slope - expected).abs() < 2e-4, "weight {index}: {slope} {expected}");
            steep += usize::from(expected.abs() > 1e-2);
        }
        assert!(steep > 100, "{steep} slopes that could be wrong");
    }

    #[test]
    fn whole_numbers_are_near() {
        let shape = Shape { hidden: 32, buckets: 4 };
        let (weights, boards) = (weights(shape), samples::boards(0..20));
        let network = shape.quantised(&weights, 5).unwrap();
        assert_eq!((network.generation(), network.hidden(), network.buckets()), (5, 32, 4));
        let positions = taken(&boards);
        let whole = quantised_outputs(&network, &positions);
        let kernel = Kernel::of(shape.hidden).unwrap();
        let exact = (kernel.outputs)(shape, &weights, &positions);
        let mut furthest = 0.0_f32;
        for ((board, whole), exact) in boards.iter().zip(whole).zip(exact) {
            let centipawns = evaluate_reference(&network, board);
            assert_eq!((whole * SCALE as f32).round() as i32, centipawns, "{board:?}");
            furthest = furthest.max((whole - exact).abs());
        }
        // Rounded: columns by up to 1 in 510 each, output weights by 1 in 128.
        assert!(furthest < 0.06, "{furthest}");
    }

    #[test]
    fn rounded_weights_are_those_of_the_whole_numbers() {
        let shape = Shape { hidden: 16, buckets: 3 };
        let weights = weights(shape);
        let network = shape.quantised(&weights, 1).unwrap();
        assert_eq!(Shape::of(&network), shape);
        let mut rounded = vec![7.0; shape.weights()];
        shape.round(&weights, &mut rounded);
        assert_eq!(rounded, shape.exact(&network));
        assert_eq!(shape.quantised(&rounded, 1).unwrap(), network);
        let furthest = |range: std::ops::Range<usize>| {
            let both = weights[range.clone()].iter().zip(&rounded[range]);
            both.map(|(weight, rounded)| (weight - rounded).abs()).fold(0.0, f32::max)
        };
        for (range, unit) in [(0..shape.output(), QA), (shape.output()..shape.output_bias(), QB)] {
            let furthest = furthest(range) * unit as f32;
            assert!((0.4..0.501).contains(&furthest), "{unit}: {furthest}");
        }
    }

    #[test]
    fn targets_are_blended() {
        let position = |score, result| Position::new(&Board::startpos(), score, result);
        let goal = Goal::new(2000, 200.0, 0.25);
        let found = goal.target(position(200, GameResult::WhiteWins));
        assert!((found - (0.75 / (1.0 + (-1.0_f32).exp()) + 0.25)).abs() < 1e-6);
        assert_eq!(goal.target(position(0, GameResult::Draw)), 0.5);
        assert_eq!(goal.target(position(0, GameResult::BlackWins)), 0.375);
        let most = position(i16::MAX, GameResult::Draw);
        assert_eq!(goal.target(most), goal.target(position(2000, GameResult::Draw)));
    }
}
