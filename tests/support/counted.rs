//! A shape that counts its support evaluations. The tests, the fuzz targets and the benches share
//! this file.

use std::cell::Cell;

use headbutt::{Core, Space, Support};

/// The number of evaluations above which a query counts as endless. The solvers' own bounds are
/// lower: 1,088 in EPA, 12 along axes, 65 in each of up to 18 times 12 runs of GJK, 25 for the
/// order of two shapes in one pose, and 60 for a manifold.
pub const MAX_EVALUATIONS: usize = 17_000;

/// A shape that counts its support evaluations.
pub struct Counted<S> {
    shape: S,
    evaluations: Cell<usize>,
    most: usize,
    is_iterative: bool,
    /// If `true`, `support` panics if a direction is zero or not finite.
    pub is_strict: Cell<bool>,
}

impl<S> Counted<S> {
    pub fn new(shape: S) -> Self {
        Self {
            shape,
            evaluations: Cell::new(0),
            most: usize::MAX,
            is_iterative: false,
            is_strict: Cell::new(false),
        }
    }

    /// Returns a shape that panics after [`MAX_EVALUATIONS`], so that an endless query fails.
    pub fn bounded(self) -> Self {
        Self {
            most: MAX_EVALUATIONS,
            ..self
        }
    }

    /// If `is_iterative`, returns a shape for which queries use the iterative solver even if there
    /// is a closed form.
    pub fn iterative(self, is_iterative: bool) -> Self {
        Self {
            is_iterative,
            ..self
        }
    }

    /// Returns the number of evaluations since the last call, and resets it.
    pub fn take_evaluations(&self) -> usize {
        self.evaluations.take()
    }
}

impl<S: Support> Support for Counted<S> {
    type Vector = S::Vector;

    fn support(&self, direction: <S::Vector as Space>::DVec) -> <S::Vector as Space>::DVec {
        let count = self.evaluations.get() + 1;
        self.evaluations.set(count);
        assert!(count <= self.most, "a query without end");
        if self.is_strict.get() {
            let zero = Default::default();
            // 0 times infinity is NaN.
            assert!(
                direction != zero && direction * 0.0 == zero,
                "a support point is evaluated in direction {direction:?}"
            );
        }
        self.shape.support(direction)
    }

    fn radius(&self) -> f64 {
        self.shape.radius()
    }

    fn core(&self) -> Core<'_, <S::Vector as Space>::DVec> {
        if self.is_iterative {
            Core::Opaque
        } else {
            self.shape.core()
        }
    }
}
