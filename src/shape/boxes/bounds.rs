//! Axis-aligned bounding boxes of shapes. `placed/collider.rs` calls [`Bounds::around`] for a
//! convex collider or a part, and [`core_bounds`] for the core of a compound.

use arrayvec::ArrayVec;

use crate::{
    shape::{HalfSpace, Support, VertexBounds},
    space::{DVector, Pose, Space},
    tolerance::{OFFSET_SCALE, ROUNDING, TOUCHING},
};

/// The minimum and the maximum corner of a box in f32. In 2D, the box includes z = 0.
pub type Box3 = [[f32; 3]; 2];

/// Returns the centers and radii of two balls. The first center is the mean of some support points,
/// and the second center is the origin. Each radius is the distance from the center to the farthest
/// support point, plus the radius of the shape. A ball around the same center that contains the
/// shape needs at least this radius.
pub fn balls_in<V: Space>(shape: &impl Support<Vector = V>) -> [(V::DVec, f64); 2] {
    let points = support_points(shape);
    [V::DVec::mean(&points), V::DVec::ZERO].map(|center| {
        let lengths = points.iter().map(|point| (*point - center).length());
        (center, lengths.fold(0.0, f64::max) + shape.radius())
    })
}

/// Returns the support points of a shape in a few [`directions`].
pub fn support_points<V: Space>(
    shape: &(impl Support<Vector = V> + ?Sized),
) -> ArrayVec<V::DVec, 32> {
    directions()
        .map(|direction| shape.support(direction))
        .collect()
}

/// Returns the directions of a cube's corners, and as many directions near each axis. For a flat
/// cone, the directions of the corners find only points of the base. The directions are not unit
/// vectors.
///
/// The directions are slightly tilted, so that no direction is normal to an edge or a face of a
/// usual shape. In such a direction, the support point would not be unique. The mirror images of
/// each direction are included, so the mean of a symmetric shape's support points lies on the axis
/// of symmetry.
fn directions<D: DVector>() -> impl Iterator<Item = D> {
    let sides = 1_usize << D::DIMENSION;
    // Group 0 contains the corner directions, and group i + 1 the directions near axis i.
    let groups = 0..=D::DIMENSION;
    let directions = groups.flat_map(move |group| (0..sides).map(move |corner| (group, corner)));
    directions.map(|(group, corner)| {
        let direction = [0, 1, 2].map(|index: usize| {
            let side = if corner >> index & 1 == 0 { 1.0 } else { -1.0 };
            let askew = 1.0 + 0.07 * index as f64;
            let is_along = group == 0 || group == index + 1;
            side * askew * if is_along { 1.0 } else { 0.05 }
        });
        D::of(direction)
    })
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<D> {
    pub min: D,
    pub max: D,
}

impl<D: DVector> Bounds<D> {
    /// Returns the box around a point.
    pub fn at(point: D) -> Self {
        Self {
            min: point,
            max: point,
        }
    }

    /// Returns the box around points. Without points, the minimum exceeds the maximum.
    pub fn of_points(points: impl IntoIterator<Item = D>) -> Self {
        let empty = Self {
            min: D::ONE * f64::INFINITY,
            max: D::ONE * f64::NEG_INFINITY,
        };
        points.into_iter().fold(empty, |bounds, point| Self {
            min: bounds.min.min(point),
            max: bounds.max.max(point),
        })
    }

    /// Returns the box around a shape in a pose, with a margin for the touching tolerance.
    #[inline(always)]
    pub fn around<V: Space<DVec = D>>(shape: &impl Support<Vector = V>, pose: &Pose<D>) -> Self {
        Self::around_core(
            core_bounds(shape, pose.rotation),
            shape.radius(),
            pose.translation,
        )
    }

    /// Returns the same box as [`around`](Self::around), from the result of [`core_bounds`].
    #[inline(always)]
    pub fn around_core([min, max]: [D; 2], radius: f64, translation: D) -> Self {
        // Two shapes count as touching up to a gap of `TOUCHING` times the scale of the pair. Each
        // box grows by twice its share of the gap, and by the rounding error of its translation.
        let radius = D::ONE * radius;
        let (min, max) = (min - radius, max + radius);
        let offset = max.extent() + min.extent();
        let share = (max - min).length().max(OFFSET_SCALE * offset) * (2.0 * TOUCHING);
        let rounding = translation.extent() * ROUNDING;
        let margin = D::ONE * (share + rounding);
        Self {
            min: translation + min - margin,
            max: translation + max + margin,
        }
    }

    /// Returns the box with these corners. In 2D, z is ignored.
    pub fn of_f32(min: [f32; 3], max: [f32; 3]) -> Self {
        let [min, max] = [min, max].map(|corner| D::of(corner.map(f64::from)));
        Self { min, max }
    }

    /// Returns a box in f32 that contains this box.
    pub fn round_outward(&self) -> Box3 {
        let round = |corner: D, round: fn(f32) -> f32| {
            let mut corner = corner.components().map(|component| component as f32);
            let rounded = corner.iter_mut().take(D::DIMENSION);
            rounded.for_each(|component| *component = round(*component));
            corner
        };
        [
            round(self.min, f32::next_down),
            round(self.max, f32::next_up),
        ]
    }

    /// Returns the box with a margin around it.
    pub fn grown(&self, margin: f64) -> Self {
        let margin = D::ONE * margin;
        Self {
            min: self.min - margin,
            max: self.max + margin,
        }
    }

    /// Returns a box that contains this box during a rotation about `pivot` by `angle`. No point of
    /// the box leaves its circle around the pivot, or moves farther than the length of its arc.
    pub fn around_rotation(&self, pivot: D, angle: f64) -> Self {
        let radius = (self.max - pivot).max(pivot - self.min).length();
        let (circle, arc) = (D::ONE * radius, D::ONE * (radius * angle));
        Self {
            min: (self.min - arc).max((pivot - circle).min(self.min)),
            max: (self.max + arc).min((pivot + circle).max(self.max)),
        }
    }

    /// Returns the box after a motion by `translation`.
    pub fn moved(&self, translation: D) -> Self {
        Self {
            min: self.min + translation,
            max: self.max + translation,
        }
    }

    /// Returns the box that contains this box during a motion by `translation`.
    pub fn around_translation(&self, translation: D) -> Self {
        let end = self.moved(translation);
        Self {
            min: self.min.min(end.min),
            max: self.max.max(end.max),
        }
    }

    /// Returns the intersection of two boxes that overlap.
    pub fn common(&self, other: &Self) -> Self {
        Self {
            min: self.min.max(other.min),
            max: self.max.min(other.max),
        }
    }

    /// Returns the volume, or in 2D the area.
    pub fn volume(&self) -> f64 {
        let size = self.max - self.min;
        let sides = (0..D::DIMENSION).map(|index| size.component(index));
        sides.product()
    }

    /// Returns the minimum of x · `direction` over all points x of the box.
    pub fn min_height(&self, direction: D) -> f64 {
        self.lowest_corner(direction).dot(direction)
    }

    /// Returns `true` if the boxes overlap or touch.
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..D::DIMENSION).all(|index| {
            self.min.component(index) <= other.max.component(index)
                && other.min.component(index) <= self.max.component(index)
        })
    }

    /// Returns `true` if this box contains another box.
    pub fn contains(&self, other: &Self) -> bool {
        (0..D::DIMENSION).all(|index| {
            self.min.component(index) <= other.min.component(index)
                && other.max.component(index) <= self.max.component(index)
        })
    }

    /// Returns the box around this box under the affine map x -> `linear * x + translation`.
    pub fn mapped(&self, linear: D::Matrix, translation: D) -> Self {
        let center = linear * ((self.min + self.max) * 0.5) + translation;
        let half = mapped_half_extents(linear, (self.max - self.min) * 0.5);
        Self {
            min: center - half,
            max: center + half,
        }
    }

    /// Returns the distance between two boxes, or 0 if they overlap.
    pub fn gap(&self, other: &Self) -> f64 {
        let gap = (self.min - other.max).max(other.min - self.max);
        gap.max(D::ZERO).length()
    }

    /// Returns the time at which `other`, which moves by `translation` from time 0 to 1, begins to
    /// touch this box. If the boxes never touch, the result is infinite.
    pub fn entry(&self, other: &Self, translation: D) -> f64 {
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for index in 0..D::DIMENSION {
            let ahead = self.min.component(index) - other.max.component(index);
            let behind = self.max.component(index) - other.min.component(index);
            let step = translation.component(index);
            if step == 0.0 {
                if ahead > 0.0 || behind < 0.0 {
                    return f64::INFINITY;
                }
                continue;
            }
            let times = [ahead / step, behind / step];
            let [first, last] = if step > 0.0 {
                times
            } else {
                [times[1], times[0]]
            };
            enter = enter.max(first);
            leave = leave.min(last);
        }
        if enter <= leave { enter } else { f64::INFINITY }
    }

    /// Returns a lower bound on the distance to a half-space, or 0 if the box may touch the
    /// half-space. The half-space is given relative to `origin`.
    pub fn gap_to_half_space(&self, half_space: &HalfSpace<D>, origin: D) -> f64 {
        let corner = self.lowest_corner(half_space.normal) - origin;
        (half_space.height(corner) - half_space_tolerance(corner)).max(0.0)
    }

    /// Returns `true` if the box overlaps a half-space that is given relative to `origin`.
    pub fn overlaps_half_space(&self, half_space: &HalfSpace<D>, origin: D) -> bool {
        let corner = self.lowest_corner(half_space.normal) - origin;
        half_space.height(corner) <= half_space_tolerance(corner)
    }

    /// Returns the corner with the least component along a vector.
    fn lowest_corner(&self, direction: D) -> D {
        D::of([0, 1, 2].map(|index| {
            let upward = direction.component(index) >= 0.0;
            let side = if upward { self.min } else { self.max };
            side.component(index)
        }))
    }
}

/// Returns the maximum height of a box's lowest corner at which the box may touch a half-space. The
/// result grows with the corner's distance from the half-space's origin, like the scale of the
/// pair.
fn half_space_tolerance<D: DVector>(corner: D) -> f64 {
    corner.extent() * (2.0 * TOUCHING * OFFSET_SCALE)
}

/// Returns the half extents of the box around the image of a box under a linear map M. For the box
/// from -`half` to `half`, the half extent along axis i is Σ |m_ij| h_j.
#[inline]
fn mapped_half_extents<D: DVector>(linear: D::Matrix, half: D) -> D {
    (0..D::DIMENSION).fold(D::ZERO, |sum, index| {
        sum + D::column(linear, index).copysign(D::ONE) * half.component(index)
    })
}

/// Returns the minimum and maximum coordinates of a rotated core.
#[inline(always)]
pub fn core_bounds<V: Space>(
    shape: &(impl Support<Vector = V> + ?Sized),
    rotation: <V::DVec as DVector>::Matrix,
) -> [V::DVec; 2] {
    if let Some(half) = shape.core().half_extents() {
        let half = mapped_half_extents(rotation, half);
        return [-half, half];
    }
    match shape.vertex_bounds(rotation) {
        Some(VertexBounds(bounds)) => bounds,
        None => supported(shape, rotation),
    }
}

/// Returns the minimum and maximum coordinates of a rotated core, from its support points.
fn supported<V: Space>(
    shape: &(impl Support<Vector = V> + ?Sized),
    rotation: <V::DVec as DVector>::Matrix,
) -> [V::DVec; 2] {
    let inverse = V::DVec::transpose(rotation);
    (0..V::DVec::DIMENSION).fold([V::DVec::ZERO; 2], |[min, max], index| {
        let local = V::DVec::column(inverse, index);
        let extreme = |direction| V::DVec::axis(index) * shape.support(direction).dot(local);
        [min + extreme(-local), max + extreme(local)]
    })
}
