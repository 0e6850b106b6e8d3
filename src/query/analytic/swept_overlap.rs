//! The interval of time in which the projections of moving cores onto some axes overlap.

/// The intersection of the intervals of all axes added so far, infinite before the first axis.
pub struct SweptOverlap {
    /// The depth beyond which an overlap is not a mere touch.
    depth: f64,
    /// The time at which the projections begin to overlap.
    pub enter: f64,
    /// The time at which the projections cease to overlap.
    pub exit: f64,
    /// The times at which an overlap deeper than `depth` begins and ends.
    deep: [f64; 2],
    /// The largest gap at the time 0 of all axes that were tested.
    pub start_gap: f64,
    /// The speed at which the cores approach each other along the axis of `enter`.
    pub closing_speed: f64,
}

impl SweptOverlap {
    pub fn new(depth: f64) -> Self {
        Self {
            depth,
            enter: f64::NEG_INFINITY,
            exit: f64::INFINITY,
            deep: [f64::NEG_INFINITY, f64::INFINITY],
            start_gap: f64::NEG_INFINITY,
            closing_speed: 0.0,
        }
    }

    /// Adds the time at which the projections onto an axis begin to overlap. `duration` is the time
    /// in which the projections move by a length of 1. Returns `true` if the axis becomes the axis
    /// of `enter`, because its gap at the old `enter` exceeds `better_by`.
    pub fn begin(&mut self, enter: f64, duration: f64, better_by: f64) -> bool {
        let [deep_enter, _] = &mut self.deep;
        *deep_enter = deep_enter.max(enter + self.depth * duration);
        let is_last = enter - better_by * duration > self.enter;
        if is_last {
            self.enter = enter;
            self.closing_speed = 1.0 / duration;
        }
        is_last
    }

    /// Adds the time at which the projections onto an axis cease to overlap, with the same
    /// `duration` as in [`begin`](Self::begin).
    pub fn end(&mut self, exit: f64, duration: f64) {
        let [_, deep_exit] = &mut self.deep;
        *deep_exit = deep_exit.min(exit - self.depth * duration);
        self.exit = self.exit.min(exit);
    }

    /// Returns `true` if an axis may change the intersection. `gap` is an upper bound on the gap
    /// between the projections onto the axis.
    pub fn may_change(&self, gap: f64, closing_speed: f64, duration: f64) -> bool {
        let [deep_enter, deep_exit] = self.deep;
        let (bound, deep) = (gap * duration, (gap + self.depth) * duration);
        if closing_speed > 0.0 {
            bound > self.enter || deep > deep_enter
        } else {
            -bound < self.exit || -deep < deep_exit
        }
    }

    /// Adds an axis along which the shapes have no relative motion.
    pub fn add_resting(&mut self, gap: f64) {
        if gap > -self.depth {
            self.deep = [f64::INFINITY, f64::NEG_INFINITY];
        }
        if gap > 0.0 {
            self.exit = f64::NEG_INFINITY;
        }
    }

    /// Returns `true` if, at some time up to `end`, the cores overlap by more than `depth`.
    pub fn overlaps_deeply(&self, end: f64) -> bool {
        let [enter, exit] = self.deep;
        enter < exit && enter <= end
    }
}
