//! Medians and quartiles, which other programs on the machine hardly disturb.

/// The median and the quartiles of some samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    pub low: f64,
    pub median: f64,
    pub high: f64,
}

impl Summary {
    /// Returns the summary of at least one sample.
    pub fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| samples[((samples.len() - 1) as f64 * part).round() as usize];
        Self {
            low: at(0.25),
            median: at(0.5),
            high: at(0.75),
        }
    }

    /// Returns the median and the quartiles, minus a constant.
    pub fn minus(self, constant: f64) -> Self {
        Self {
            low: self.low - constant,
            median: self.median - constant,
            high: self.high - constant,
        }
    }
}

/// The geometric mean of ratios: twice as fast and half as fast cancel out.
pub fn geometric_mean(ratios: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = ratios
        .into_iter()
        .fold((0.0, 0_u32), |(sum, count), ratio| {
            (sum + ratio.ln(), count + 1)
        });
    (sum / f64::from(count.max(1))).exp()
}
