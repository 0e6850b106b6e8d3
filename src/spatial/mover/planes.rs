//! Contacts as planes, and the nearest translation or velocity that respects them.
//!
//! A body with the contact normal nᵢ and the gap gᵢ may be translated by x if nᵢ · x >= -gᵢ. The
//! translation nearest to a target t is x = t + y, where y is the shortest vector with
//! nᵢ · y >= -gᵢ - nᵢ · t: the problem that `push_out` solves exactly.
//!
//! A plane with a push limit pushes back by at most that length: x = t + Σ λᵢ nᵢ with
//! 0 <= λᵢ <= limitᵢ. That is a quadratic program with bounds, which Gauss-Seidel iteration solves.

use bevy::prelude::*;
use smallvec::SmallVec;

use crate::{
    collision::shortest_translation,
    math::{DVec3, Vec3},
    space::{DVector, Space},
};

/// The maximum number of iterations for planes with a push limit. Each takes every plane once.
const MAX_SWEEPS: usize = 1024;

/// The iteration ends if no push changes by more than this fraction of the largest push.
const CONVERGED: f64 = 1e-12;

/// A plane in front of which a body has to stay: a contact, or a surface within a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContactPlane {
    /// The entity of the other collider.
    pub entity: Entity,
    /// The index of the part of a compound, or of the facet of a surface.
    pub part: u32,
    /// The unit normal of the plane, from the other collider to the body.
    pub normal: Vec3,
    /// The distance of the body from the plane, negative if they overlap.
    pub gap: f32,
    /// The point of the other collider that is nearest to the body, or deepest in it.
    pub point: Vec3,
    /// The maximum length by which this plane pushes the body, infinite by default. With a finite
    /// limit, the plane is soft: it slows the body down, and gives way. A plane with a limit of 0
    /// or NaN has no effect.
    pub push_limit: f32,
}

impl ContactPlane {
    /// Returns a rigid plane, for planes that are not contacts. The entity is a placeholder.
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

    /// Sets the maximum length by which the plane pushes: see
    /// [`push_limit`](Self#structfield.push_limit).
    #[must_use]
    pub fn with_push_limit(self, push_limit: f32) -> Self {
        Self { push_limit, ..self }
    }

    /// Returns the gap after a translation of the body.
    pub fn gap_after(&self, translation: Vec3) -> f32 {
        let change = self.normal.as_dvec3().dot(translation.as_dvec3());
        (f64::from(self.gap) + change) as f32
    }

    /// Returns the unit normal in f64, or `None` for a plane that is invalid or never pushes.
    fn unit_normal(&self) -> Option<DVec3> {
        let is_valid = self.push_limit > 0.0 && self.gap.is_finite();
        self.normal.to_f64().unit().filter(|_| is_valid)
    }
}

/// Returns the translation nearest to `target` after which no plane has a negative gap.
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
/// ```
///
/// # Precision
///
/// The result is exact for rigid planes. If two of many planes are opposite to within half a
/// degree, one of them may be violated by a thousandth of the translation. With soft planes, it has
/// an error of about 1e-9 of its length, or more between planes at angles of less than a few
/// degrees.
///
/// If rigid planes contradict each other, some are left out: each that contradicts those that bound
/// the translation found so far, the most violated plane first. Soft planes give way to rigid ones.
/// If the target is not finite, the result is 0.
pub fn solve_planes(target: Vec3, planes: &[ContactPlane]) -> Vec3 {
    if !target.is_finite() {
        return Vec3::ZERO;
    }
    let has_soft = planes.iter().any(|plane| plane.push_limit.is_finite());
    let target = if has_soft {
        pushed_softly(target.to_f64(), planes)
    } else {
        target.to_f64()
    };
    let rigid = planes.iter().filter(|plane| plane.push_limit.is_infinite());
    let planes = rigid.filter_map(|plane| Some((plane.unit_normal()?, plane.gap.into())));
    Vec3::from_f64(nearest_translation(target, planes))
}

/// Returns the velocity nearest to `velocity` that leads into none of the planes.
///
/// All planes count, whatever their gaps, except soft ones: pass the planes that the body touches.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::{ContactPlane, clip_velocity};
///
/// let floor = ContactPlane::new(Dir3::Y, 0.0);
/// let velocity = clip_velocity(Vec3::new(4.0, -9.0, 0.0), &[floor]);
/// assert_eq!(velocity, Vec3::X * 4.0);
/// ```
pub fn clip_velocity(velocity: Vec3, planes: &[ContactPlane]) -> Vec3 {
    if !velocity.is_finite() {
        return Vec3::ZERO;
    }
    let rigid = planes.iter().filter(|plane| plane.push_limit.is_infinite());
    let normals: SmallVec<[DVec3; 8]> = rigid.filter_map(ContactPlane::unit_normal).collect();
    Vec3::from_f64(clipped(velocity.to_f64(), &normals))
}

/// Returns the vector nearest to `vector` that leads against none of the unit normals.
pub fn clipped<D: DVector>(vector: D, normals: &[D]) -> D {
    nearest_translation(vector, normals.iter().map(|normal| (*normal, 0.0)))
}

/// Returns the translation nearest to `target` that closes none of the gaps along unit normals.
fn nearest_translation<D: DVector>(target: D, planes: impl Iterator<Item = (D, f64)>) -> D {
    let planes = planes.map(|(normal, gap)| (normal, -gap - normal.dot(target)));
    target + shortest_translation(planes).translation
}

/// Returns the target with the pushes of all planes.
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
        if change <= CONVERGED * largest {
            break;
        }
    }
    translation
}
