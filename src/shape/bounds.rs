//! Boxes along the axes, around shapes.

use arrayvec::ArrayVec;

use crate::{
    shape::{HalfSpace, Support},
    space::{DVector, Pose, Space},
    tolerance::{OFFSET_SCALE, ROUNDING, TOUCHING},
};

/// A point in a shape, in its own frame: the mean of its support points in the directions of the
/// axes and of the corners of a cube, or square. It turns with the shape, and of one that is the
/// same upside down it is the middle. (Over all directions the mean is the Steiner point.)
pub fn centre_of<V: Space>(shape: &impl Support<Vector = V>) -> V::DVec {
    mean(&points_of(shape))
}

fn mean<D: DVector>(points: &[D]) -> D {
    let sum = points.iter().fold(D::ZERO, |sum, it| sum + *it);
    sum * (1.0 / points.len() as f64)
}

/// Balls around the [centre](centre_of) and the origin. Each extends to the farthest of the same
/// support points, plus the radius of the shape: no farther than the shape, and perhaps less far.
pub fn balls_in<V: Space>(shape: &impl Support<Vector = V>) -> [(V::DVec, f64); 2] {
    let points = points_of(shape);
    [mean(&points), V::DVec::ZERO].map(|centre| {
        let lengths = points.iter().map(|it| (*it - centre).length());
        (centre, lengths.fold(0.0, f64::max) + shape.radius())
    })
}

/// The support points of a shape in directions to the corners of a cube, and in as many near each
/// axis (all that the corners see of a flat cone is its base). They are a little askew, so that no
/// edge or face of a usual shape is at right angles to one and makes a tie; and with each there are
/// all its mirror images, so that of a symmetric shape the mean is on its axis.
fn points_of<V: Space>(shape: &impl Support<Vector = V>) -> ArrayVec<V::DVec, 32> {
    let sides = 1_usize << V::DVec::DIMENSION;
    let kinds = 0..=V::DVec::DIMENSION;
    let directions = kinds.flat_map(|kind| (0..sides).map(move |corner| (kind, corner)));
    let points = directions.map(|(kind, corner)| {
        let direction = [0, 1, 2].map(|index: usize| {
            let side = if corner >> index & 1 == 0 { 1.0 } else { -1.0 };
            let askew = 1.0 + 0.07 * index as f64;
            let is_along = kind == 0 || kind == index + 1;
            side * askew * if is_along { 1.0 } else { 0.05 }
        });
        shape.support(V::DVec::of(direction))
    });
    points.collect()
}

/// A box along the axes of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<D> {
    pub min: D,
    pub max: D,
}

impl<D: DVector> Bounds<D> {
    /// The box around a shape in a pose, with room for what counts as touching.
    #[inline]
    pub fn around<V: Space<DVec = D>>(shape: &impl Support<Vector = V>, pose: &Pose<D>) -> Self {
        let [min, max] = match shape.core().half_extents() {
            Some(half) => {
                let reach = reach(pose.rotation, half);
                [-reach, reach]
            }
            None => shape
                .vertex_bounds(pose.rotation)
                .unwrap_or_else(|| supported(shape, pose.rotation)),
        };
        // Two shapes touch up to a gap of TOUCHING times the scale of the pair: each box takes its share, and twice that,
        // together with the rounding of a place far from the origin.
        let radius = D::ONE * shape.radius();
        let (min, max) = (min - radius, max + radius);
        let offset = max.extent() + min.extent();
        let share = (max - min).length().max(OFFSET_SCALE * offset) * (2.0 * TOUCHING);
        let rounding = pose.translation.extent() * ROUNDING;
        let margin = D::ONE * (share + rounding);
        Self {
            min: pose.translation + min - margin,
            max: pose.translation + max + margin,
        }
    }

    /// The box with these corners. In the plane, z is left out.
    pub fn of_f32(min: [f32; 3], max: [f32; 3]) -> Self {
        let wide = |corner: [f32; 3]| D::of(corner.map(f64::from));
        Self {
            min: wide(min),
            max: wide(max),
        }
    }

    /// The box with a margin around it.
    pub fn grown(&self, margin: f64) -> Self {
        let reach = D::ONE * margin;
        Self {
            min: self.min - reach,
            max: self.max + reach,
        }
    }

    /// The intersection of two boxes that overlap.
    pub fn common(&self, other: &Self) -> Self {
        let of = |a: D, b: D, choose: fn(f64, f64) -> f64| {
            D::of([0, 1, 2].map(|index| {
                let is_there = index < D::DIMENSION;
                let component = |it: D| if is_there { it.component(index) } else { 0.0 };
                choose(component(a), component(b))
            }))
        };
        Self {
            min: of(self.min, other.min, f64::max),
            max: of(self.max, other.max, f64::min),
        }
    }

    /// How much it holds: in the plane its area.
    pub fn volume(&self) -> f64 {
        let size = self.max - self.min;
        (0..D::DIMENSION)
            .map(|index| size.component(index))
            .product()
    }

    /// Whether the two boxes have a point in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..D::DIMENSION).all(|index| {
            self.min.component(index) <= other.max.component(index)
                && other.min.component(index) <= self.max.component(index)
        })
    }

    /// The box around this one under an affine map: x is mapped to `linear * x + translation`.
    pub fn mapped(&self, linear: D::Matrix, translation: D) -> Self {
        let centre = linear * ((self.min + self.max) * 0.5) + translation;
        let reach = reach(linear, (self.max - self.min) * 0.5);
        Self {
            min: centre - reach,
            max: centre + reach,
        }
    }

    /// Whether the box reaches into a half-space, which is told from a point `origin`.
    pub fn reaches(&self, half_space: &HalfSpace<D>, origin: D) -> bool {
        // The box's lowest corner.
        let corner = (0..D::DIMENSION).fold(-origin, |sum, index| {
            let upward = half_space.normal.component(index) >= 0.0;
            let side = if upward { self.min } else { self.max };
            sum + D::axis(index) * side.component(index)
        });
        // The pair has the part of its scale that comes from how far apart its origins are.
        half_space.height(corner) <= corner.extent() * (2.0 * TOUCHING * OFFSET_SCALE)
    }
}

/// How far the box from -`half` to `half` reaches along the axes under a linear map M: Σ |m_ij| h_j along axis i.
#[inline]
fn reach<D: DVector>(linear: D::Matrix, half: D) -> D {
    (0..D::DIMENSION).fold(D::ZERO, |sum, index| {
        sum + D::column(linear, index).copysign(D::ONE) * half.component(index)
    })
}

/// The least and the greatest coordinates of a turned core, by its support points.
fn supported<V: Space>(
    shape: &impl Support<Vector = V>,
    rotation: <V::DVec as DVector>::Matrix,
) -> [V::DVec; 2] {
    let inverse = V::DVec::transpose(rotation);
    let axes = (0..V::DVec::DIMENSION).map(V::DVec::axis);
    axes.fold([V::DVec::ZERO; 2], |[min, max], axis| {
        let reach = |direction: V::DVec| {
            let farthest = rotation * shape.support(inverse * direction);
            direction * farthest.dot(direction)
        };
        [min + reach(-axis), max + reach(axis)]
    })
}
