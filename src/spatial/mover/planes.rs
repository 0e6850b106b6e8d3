//! Contacts as planes, and the nearest translation or velocity that respects them.
//!
//! A body with the contact normal nᵢ and the gap gᵢ may be translated by x if nᵢ · x >= -gᵢ. The
//! translation nearest to a target t is x = t + y, where y is the shortest vector with
//! nᵢ · y >= -gᵢ - nᵢ · t. [`shortest_translation`] solves this problem exactly.
//!
//! A plane with a push limit pushes back by at most that length. The translation is x = t + Σ λᵢ nᵢ
//! with 0 <= λᵢ <= limitᵢ. Gauss-Seidel iteration solves this quadratic program with bounds.

use bevy::prelude::*;
use smallvec::SmallVec;

use crate::{
    math::{DVec3, Vec3},
    shape::Dimension,
    space::{
        DVector, Space,
        shortest_translation::{PushPlane, shortest_translation},
    },
};

/// The maximum number of iterations for planes with a push limit. Each iteration updates every
/// plane once. For two planes at an angle θ, an iteration multiplies the error by cos² θ. So even
/// at 10 degrees, the changes fall below [`LEAST_PUSH_CHANGE`].
const MAX_SWEEPS: usize = 1024;

/// The iteration ends if no push changes by more than this fraction of the largest push. Between
/// two planes at 10 degrees, the error is up to 33 times this fraction, far below the rounding to
/// f32.
const LEAST_PUSH_CHANGE: f64 = 1e-12;

/// The greatest length of a translation out of overlaps, as a multiple of the deepest overlap. In a
/// wedge between two planes, the required multiple is more than 1. At an opening of 7 degrees, the
/// multiple is 16.
const MAX_DETOUR: f64 = 16.0;

/// A length limit is enlarged by this fraction, which exceeds the rounding error of a length.
const LENGTH_ERROR: f64 = 1e-6;

/// A plane in front of which a body has to stay. The plane belongs to a contact, or to a collider
/// within a distance. In 2D, z is 0.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
#[type_path = "headbutt"]
#[non_exhaustive]
pub struct ContactPlane {
    /// The entity of the other collider.
    pub entity: Entity,
    /// The index of the part of a compound, or of the facet of a surface.
    pub part: u32,
    /// The unit normal of the plane, from the other collider to the body.
    pub normal: Vec3,
    /// The distance of the body from the plane, negative if the colliders overlap.
    pub gap: f32,
    /// The point of the other collider that is nearest to the body, or deepest in the body.
    pub point: Vec3,
    /// The maximum length by which this plane pushes the body, infinite by default. With a finite
    /// limit, the plane is soft: the plane shortens the translation, but the body can pass through
    /// the plane. A plane with a limit of 0 or NaN has no effect.
    pub push_limit: f32,
}

impl ContactPlane {
    /// Returns a rigid plane that belongs to no collider. The entity is a placeholder. For 2D, see
    /// [`new_2d`](Self::new_2d).
    pub fn new(normal: Dir3, gap: f32) -> Self {
        Self {
            entity: Entity::PLACEHOLDER,
            part: 0,
            normal: *normal,
            gap,
            point: Vec3::ZERO,
            push_limit: f32::INFINITY,
        }
    }

    /// Returns a rigid plane in 2D: see [`new`](Self::new).
    pub fn new_2d(normal: Dir2, gap: f32) -> Self {
        Self {
            normal: normal.extend(0.0),
            ..Self::new(Dir3::X, gap)
        }
    }

    /// Sets the maximum length by which the plane pushes: see
    /// [`push_limit`](Self#structfield.push_limit).
    #[must_use]
    pub fn with_push_limit(self, push_limit: f32) -> Self {
        Self { push_limit, ..self }
    }

    /// Returns the gap after a translation of the body, a `Vec2` or a `Vec3`.
    pub fn gap_after<V: Dimension>(&self, translation: V) -> f32 {
        let change = self.normal.to_f64().dot(translation.to_vec3().to_f64());
        let max = f64::from(f32::MAX);
        (f64::from(self.gap) + change).clamp(-max, max) as f32
    }

    /// Returns the unit normal in f64, or `None` for a plane that is invalid or never pushes.
    fn unit_normal(&self) -> Option<DVec3> {
        let is_valid = self.push_limit > 0.0 && self.gap.is_finite();
        self.normal.to_f64().unit().filter(|_| is_valid)
    }
}

/// Returns the translation nearest to `target`, a `Vec2` or a `Vec3`, after which no plane has a
/// negative gap.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::{ContactPlane, solve_planes};
///
/// // A floor under the feet, and a wall at a distance of 1.
/// let planes = [ContactPlane::new(Dir3::Y, 0.0), ContactPlane::new(Dir3::NEG_X, 1.0)];
/// let moved = solve_planes(Vec3::new(3.0, -2.0, 5.0), &planes);
/// assert_eq!(moved, Vec3::new(1.0, 0.0, 5.0));
///
/// // A crowd that gives way.
/// let crowd = ContactPlane::new(Dir3::NEG_X, 0.0).with_push_limit(0.5);
/// assert_eq!(solve_planes(Vec3::X * 2.0, &[crowd]), Vec3::X * 1.5);
///
/// // The same in 2D.
/// let crowd = ContactPlane::new_2d(Dir2::NEG_X, 0.0).with_push_limit(0.5);
/// assert_eq!(solve_planes(Vec2::X * 2.0, &[crowd]), Vec2::X * 1.5);
/// ```
///
/// # Precision
///
/// The result is exact for rigid planes. If two of many planes are opposite to within half a
/// degree, the result may violate one of the two by a thousandth of the translation. With soft
/// planes, the result has an error of about 1e-9 of its length. The error is greater between planes
/// at angles of less than a few degrees.
///
/// If rigid planes contradict each other, some planes are left out. The planes are added one by
/// one, the most violated plane first. A plane is left out if it contradicts the planes that bound
/// the translation found so far. Soft planes give way to rigid planes.
///
/// The result stays near the target. Soft planes move the target first. If no rigid plane has a
/// negative gap, the result is at most as far from the moved target as a translation of 0 is.
/// Otherwise, this distance may be greater by 16 times the deepest overlap. A plane that demands a
/// greater distance counts as a contradiction.
///
/// If the target is not finite, the result is 0. A result beyond the range of f32 is shortened to
/// that range, in the same direction.
pub fn solve_planes<V: Dimension>(target: V, planes: &[ContactPlane]) -> V {
    if !target.is_finite() {
        return V::default();
    }
    let mut target = target.to_vec3().to_f64();
    if planes.iter().any(|plane| plane.push_limit.is_finite()) {
        target = pushed_softly(target, planes);
    }
    let rigid = planes.iter().filter(|plane| plane.push_limit.is_infinite());
    let planes = rigid.filter_map(|plane| Some((plane.unit_normal()?, plane.gap.into())));
    let nearest = nearest_translation(target, planes);
    V::projected(Vec3::from_f64(nearest.in_f32_range()))
}

/// Returns the velocity nearest to `velocity`, a `Vec2` or a `Vec3`, that points into none of the
/// planes. The result is at most as long as `velocity`. If the velocity is not finite, the result
/// is 0. A result beyond the range of f32 is shortened to that range, in the same direction.
///
/// All rigid planes count, whatever their gaps, so pass only planes that the body touches. Soft
/// planes have no effect.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::{ContactPlane, clip_velocity};
///
/// let floor = ContactPlane::new(Dir3::Y, 0.0);
/// let velocity = clip_velocity(Vec3::new(4.0, -9.0, 0.0), &[floor]);
/// assert_eq!(velocity, Vec3::X * 4.0);
/// ```
pub fn clip_velocity<V: Dimension>(velocity: V, planes: &[ContactPlane]) -> V {
    if !velocity.is_finite() {
        return V::default();
    }
    let rigid = planes.iter().filter(|plane| plane.push_limit.is_infinite());
    let normals: SmallVec<[DVec3; 8]> = rigid.filter_map(ContactPlane::unit_normal).collect();
    let velocity = clipped(velocity.to_vec3().to_f64(), &normals);
    V::projected(Vec3::from_f64(velocity.in_f32_range()))
}

/// Returns the vector nearest to `vector` that opposes none of the unit normals.
pub fn clipped<D: DVector>(vector: D, normals: &[D]) -> D {
    nearest_translation(vector, normals.iter().map(|normal| (*normal, 0.0)))
}

/// Returns the translation nearest to `target` after which no gap along a unit normal is negative.
///
/// If no gap is negative at the start, a translation of 0 is valid. So the nearest translation is
/// no farther from the target than 0 is. If a gap is negative, this distance may be greater by up
/// to [`MAX_DETOUR`] times the deepest overlap.
fn nearest_translation<D: DVector>(target: D, planes: impl Iterator<Item = (D, f64)>) -> D {
    let missing = planes.map(|(normal, gap)| (normal, -gap - normal.dot(target)));
    let missing: SmallVec<[PushPlane<D>; 8]> = missing.collect();
    let overlaps = missing
        .iter()
        .map(|(normal, depth)| depth + normal.dot(target));
    let deepest = overlaps.fold(0.0, f64::max);
    let max_length = (1.0 + LENGTH_ERROR) * (target.length() + MAX_DETOUR * deepest);
    target + shortest_translation(missing, max_length)
}

/// Returns the target after the pushes of all planes.
fn pushed_softly(target: DVec3, planes: &[ContactPlane]) -> DVec3 {
    let valid = planes
        .iter()
        .filter_map(|plane| Some((plane.unit_normal()?, plane)));
    let mut pushes: SmallVec<[_; 8]> = valid.map(|(normal, plane)| (normal, plane, 0.0)).collect();
    let mut translation = target;
    for _ in 0..MAX_SWEEPS {
        let (mut largest, mut change) = (0.0_f64, 0.0_f64);
        for (normal, plane, push) in &mut pushes {
            let missing = -f64::from(plane.gap) - normal.dot(translation);
            let next = (*push + missing).clamp(0.0, plane.push_limit.into());
            translation += *normal * (next - *push);
            change = change.max((next - *push).abs());
            largest = largest.max(next);
            *push = next;
        }
        if change <= LEAST_PUSH_CHANGE * largest {
            break;
        }
    }
    translation
}
