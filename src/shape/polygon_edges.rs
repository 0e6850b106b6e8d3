//! The sides of a convex polygon: what queries in the plane know of one beyond its support function.

use crate::space::DVector;

/// A polygon of more sides has none here: to look along all of them takes longer than to ask for support points.
pub const MAX_SIDES: usize = 16;

/// How far a corner may be beyond a side, relative to the size: what rounding leaves of a corner that lies on it.
const CONVEX: f64 = 1e-15;

/// A side of a polygon.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side<D> {
    /// The corner at which it begins, going counter-clockwise. It ends where the next one begins.
    pub start: D,
    /// Outward, of unit length.
    pub normal: D,
}

/// All sides of a polygon, counter-clockwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides<D> {
    sides: Vec<Side<D>>,
    /// The mean of the corners.
    middle: D,
    /// Half the diagonal of the box around it.
    half_diagonal: f64,
    /// The greatest [`extent`](DVector::extent) of a corner.
    extent: f64,
}

impl<D: DVector> Sides<D> {
    /// The sides of a convex polygon with these corners, which may be in any order, or `None` if it has too many, or is
    /// none in f64: no area, or corners that are none.
    pub fn new(corners: &[D]) -> Option<Self> {
        if D::DIMENSION != 2 || !(3..=MAX_SIDES).contains(&corners.len()) {
            return None;
        }
        let middle =
            corners.iter().fold(D::ZERO, |sum, it| sum + *it) * (1.0 / corners.len() as f64);
        let mut around = corners.to_vec();
        // What grows with the angle from -x on: by x on the circle of |x| + |y| = 1, in the lower half and then in the upper.
        let turn = |corner: &D| {
            let way = *corner - middle;
            let x = way.component(0) / way.extent();
            if way.component(1) < 0.0 { x } else { 2.0 - x }
        };
        around.sort_by(|a, b| turn(a).total_cmp(&turn(b)));
        let nexts = around.iter().cycle().skip(1);
        let sides: Vec<_> = around
            .iter()
            .zip(nexts)
            .map(|(start, end)| {
                let normal = D::perpendicular(&[*end - *start])?.unit()?;
                let start = *start;
                Some(Side { start, normal })
            })
            .collect::<Option<_>>()?;
        let extent = corners.iter().map(|it| it.extent()).fold(0.0, f64::max);
        let diagonal = (0..D::DIMENSION).fold(D::ZERO, |sum, index| {
            let along = || corners.iter().map(move |it| it.component(index));
            let most = along().fold(f64::NEG_INFINITY, f64::max);
            sum + D::axis(index) * (most - along().fold(f64::INFINITY, f64::min))
        });
        let is_beneath = |side: &Side<D>| {
            let heights = corners.iter().map(|it| (*it - side.start).dot(side.normal));
            heights.fold(f64::NEG_INFINITY, f64::max) <= CONVEX * extent
        };
        sides.iter().all(is_beneath).then(|| Self {
            sides,
            middle,
            half_diagonal: 0.5 * diagonal.length(),
            extent,
        })
    }

    /// The same, to be looked at.
    pub fn outline(&self) -> Outline<'_, D> {
        Outline {
            sides: &self.sides,
            middle: self.middle,
            factor: 1.0,
            half_diagonal: self.half_diagonal,
            extent: self.extent,
        }
    }
}

/// The sides of a polygon that is scaled by a factor.
#[derive(Clone, Copy, Debug)]
pub struct Outline<'a, D> {
    /// Before it is scaled.
    pub sides: &'a [Side<D>],
    /// The mean of the corners, likewise.
    pub middle: D,
    /// More than 0.
    pub factor: f64,
    half_diagonal: f64,
    extent: f64,
}

impl<D> Outline<'_, D> {
    /// The same with all lengths times a factor.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Option<Self> {
        let factor = self.factor * factor;
        (factor > 0.0 && factor.is_finite()).then_some(Self { factor, ..self })
    }

    /// Half the diagonal of a box around it.
    pub fn half_diagonal(&self) -> f64 {
        self.half_diagonal * self.factor
    }

    /// The greatest extent of a corner.
    pub fn extent(&self) -> f64 {
        self.extent * self.factor
    }
}
