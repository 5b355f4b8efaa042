//! The picture of a training: both errors over its steps.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use crate::fit::Measured;

/// The curve as SVG.
///
/// # Errors
/// If it cannot be drawn.
pub(crate) fn svg(curve: &[Measured]) -> Result<String> {
    let mut text = String::new();
    draw(curve, &mut text).map_err(|error| anyhow!("drawing the curve: {error}"))?;
    Ok(text)
}

fn draw(
    curve: &[Measured],
    text: &mut String,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(text, (900, 500)).into_drawing_area();
    root.fill(&WHITE)?;
    // The first errors are far above all others and would hide what comes later.
    let shown = &curve[(curve.len() / 50).min(curve.len().saturating_sub(2))..];
    let errors = shown.iter().flat_map(|row| [row.training, row.held_back]);
    let least = errors.clone().fold(f64::INFINITY, f64::min).min(1.0);
    let most = errors.fold(0.0, f64::max).max(least * 1.01 + 1e-9);
    let steps = curve.last().map_or(1, |row| row.step) as f64;
    let mut chart = ChartBuilder::on(&root)
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..steps, (least * 0.99)..most)?;
    chart.configure_mesh().x_desc("steps").y_desc("mean squared error").draw()?;
    for (name, colour, error) in [
        ("training", BLUE, (|row| row.training) as fn(&Measured) -> f64),
        ("held back", RED, |row| row.held_back),
    ] {
        chart
            .draw_series(LineSeries::new(
                shown.iter().map(|row| (row.step as f64, error(row))),
                &colour,
            ))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
    }
    chart.configure_series_labels().background_style(WHITE).border_style(BLACK).draw()?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::svg;
    use crate::fit::Measured;

    #[test]
    fn a_curve_of_any_length_is_drawn() {
        for length in [0, 1, 2, 100] {
            let row = |step| Measured { step, training: 1.0 / step as f64, held_back: 0.5 };
            let text = svg(&(1..=length).map(row).collect::<Vec<_>>()).unwrap();
            assert!(text.starts_with("<svg") && text.contains("held back"), "{length}");
        }
    }
}
