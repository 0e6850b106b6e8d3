//! The result of a cast, and its options.

use bevy::reflect::{Reflect, prelude::ReflectDefault};

use crate::{
    math::Vec3,
    query::{Contact, Contact64},
    space::{DVector, Space},
};

/// The first touch of two moving shapes, as [`cast_shape`](crate::query::cast_shape) and
/// [`cast_motion`](crate::query::cast_motion) return it.
///
/// Times are fractions of the motion, from 0 to 1. All normals point from the first shape to the
/// second.
///
#[cfg_attr(
    doc,
    doc = "![At `safe` a gap is left, and at `touching` none][cast]\n\n"
)]
#[cfg_attr(doc, doc = include_str!("../../../docs/pictures.md"))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CastHit<V> {
    /// The state at the start: the shapes are apart, touch or overlap.
    pub status: CastStatus,
    /// A time at which the shapes do not overlap. Before this time, any overlap is within the
    /// tolerance for shapes that slide along each other: see
    /// [`cast_motion`](crate::query::cast_motion). The only exception is an overlap at the start
    /// that the options allow. The time is 0 for shapes that touch or overlap at the start.
    pub safe: f64,
    /// A time at which the shapes touch, within the tolerance of
    /// [`intersects`](crate::query::intersects). The time is 0 for shapes that touch or overlap at
    /// the start.
    pub touching: f64,
    /// The contact at the time `touching`. For shapes that overlap at the start, the contact is the
    /// result of [`contact`](crate::query::contact()).
    pub contact: Contact<V>,
    /// The unit normal of a face of the second shape, from the first shape to the second. Of all
    /// faces at the contact point, this face opposes the motion most. For shapes that overlap at
    /// the start, the face normal is the contact normal.
    ///
    /// At an edge or a corner, many contact normals are correct. A floor test needs the normal of a
    /// face. Inside a face, on a round shape, and on a half-space, the face normal equals the
    /// contact normal. If several parts of a collider meet at the contact, the faces of all these
    /// parts are considered.
    pub face_normal: V,
    /// The index of the touching part of the first shape: a part of a compound, a facet of a
    /// surface, or 0 for a convex shape.
    pub part: u32,
    /// The index of the touching part of the second shape, like [`part`](Self#structfield.part).
    pub other_part: u32,
}

/// The state of two shapes at the start of a cast that hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastStatus {
    /// The shapes are apart at the start, and touch later.
    Hit,
    /// The shapes touch at the start, and the motion makes them overlap. An overlap counts as
    /// touching if the rounding of positions to f32 can cause the overlap. The limit is 1.2e-7 of
    /// the coordinates, and at most a thousandth of the size of the pair.
    Touching,
    /// The shapes overlap at the start.
    Overlapping,
}

impl<V: Space> CastHit<V> {
    /// Returns the same touch in 3D. The z coordinates of a 2D touch are 0.
    pub(crate) fn to_vec3(self) -> CastHit<Vec3> {
        CastHit {
            status: self.status,
            safe: self.safe,
            touching: self.touching,
            contact: self.contact.to_vec3(),
            face_normal: self.face_normal.to_vec3(),
            part: self.part,
            other_part: self.other_part,
        }
    }
}

/// The first touch of two moving shapes in f64: a [`CastHit`] whose points are relative to the
/// translations of the shapes at the time `touching`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CastHit64<D> {
    pub status: CastStatus,
    pub safe: f64,
    pub touching: f64,
    pub contact: Contact64<D>,
    pub face_normal: D,
}

impl<D: DVector> CastHit64<D> {
    /// Returns the same touch with the two shapes exchanged.
    pub fn flipped(&self) -> Self {
        Self {
            contact: self.contact.flipped(),
            face_normal: -self.face_normal,
            ..*self
        }
    }

    /// Returns the hit of shapes that touch or overlap at the start, given their contact at the
    /// start.
    pub fn at_start(status: CastStatus, contact: Contact64<D>, face_normal: D) -> Self {
        Self {
            status,
            safe: 0.0,
            touching: 0.0,
            contact,
            face_normal,
        }
    }

    /// Returns the same touch in world coordinates. `parts` are the indices of the touching parts.
    /// `origins_at` returns the translations of the two shapes at a time.
    #[inline(always)]
    pub fn in_world<V: Space<DVec = D>>(
        &self,
        (part, other_part): (u32, u32),
        origins_at: impl FnOnce(f64) -> [D; 2],
    ) -> CastHit<V> {
        CastHit {
            status: self.status,
            safe: self.safe,
            touching: self.touching,
            contact: Contact::in_world(&self.contact, origins_at(self.touching)),
            face_normal: V::from_f64(self.face_normal),
            part,
            other_part,
        }
    }
}

/// Options of [`cast_shape`](crate::query::cast_shape) and
/// [`cast_motion`](crate::query::cast_motion).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct CastOptions {
    /// If `true`, shapes that overlap at the start may separate. Such shapes are a hit only if the
    /// motion increases the penetration depth, or if the shapes touch again later. The default is
    /// `false`.
    pub leave_overlaps: bool,
}
