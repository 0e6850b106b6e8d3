//! Casts: the first touch of two moving shapes.
//!
//! | file | contents |
//! |---|---|
//! | `motion.rs` | [`Motion`], the argument of a cast |
//! | `linear.rs` | linear casts, of points, segments and boxes in closed form |
//! | `linear_gjk.rs` | linear casts of any two convex shapes |
//! | `ball.rs` | casts of a ball and a rotating box, in closed form |
//! | `core_box.rs` | boxes around cores, and the size of a pair |
//! | `body.rs`, `moving_pair.rs` | a shape and a pair, with the separation, as functions of time |
//! | `axis.rs` | the axes of a separation, and bounds of its rates |
//! | `solve.rs` | the first touch as a certified interval of time |
//! | `face_normal.rs` | the face that opposes the motion most |

mod axis;
mod ball;
mod body;
mod core_box;
mod face_normal;
mod linear;
mod linear_gjk;
mod motion;
mod moving_pair;
mod solve;

use crate::{
    math::Vec3,
    query::{
        results::{Contact, Contact64},
        trace::Trace,
    },
    shape::{DVecOf, Support},
    space::{DVector, Pose, Space},
};
use ball::solve_ball;
use linear::{is_linear, solve_linear, trace_linear};
pub use motion::Motion;
pub(crate) use motion::Motion64;
use moving_pair::MovingPair;
use solve::solve;

/// The outcome of [`cast_shape`] and [`cast_motion`].
///
/// Times are fractions of the motion, from 0 to 1. All normals point from the first shape to the
/// second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Cast<V> {
    /// The shapes do not touch during the motion, or only slide along each other's surface without
    /// overlapping. Also the result for invalid shapes, poses and motions.
    #[default]
    Miss,
    /// The first touch.
    Hit {
        /// At this time the shapes do not overlap. Before that time, they overlap by no more than
        /// the grazing tolerance, or than the overlap at the start that the options allow.
        safe: f64,
        /// At this time the shapes touch, within the tolerance of
        /// [`intersects`](super::intersects).
        touching: f64,
        /// The contact at the time `touching`.
        contact: Contact<V>,
        /// See [`face_normal`](Cast::face_normal).
        face_normal: V,
    },
    /// The shapes touch at the start, and the motion makes them overlap. An overlap that the
    /// rounding of positions to f32 can cause counts as touching: up to 1.2e-7 of the coordinates,
    /// and at most a thousandth of the size of the pair.
    Touching {
        /// The contact at the start.
        contact: Contact<V>,
        /// See [`face_normal`](Cast::face_normal).
        face_normal: V,
    },
    /// The shapes overlap at the start. The contact is that of [`contact`](super::contact()).
    Overlapping(Contact<V>),
}

impl<V: Space> Cast<V> {
    /// Returns `true` except for [`Cast::Miss`].
    pub fn is_hit(&self) -> bool {
        !matches!(self, Self::Miss)
    }

    /// Returns the time until which the shapes do not overlap: 1 for a miss, 0 for shapes that
    /// touch or overlap at the start.
    pub fn safe_time(&self) -> f64 {
        match self {
            Self::Miss => 1.0,
            Self::Hit { safe, .. } => *safe,
            Self::Touching { .. } | Self::Overlapping(_) => 0.0,
        }
    }

    /// Returns the time of the first touch: 0 for shapes that touch or overlap at the start, `None`
    /// for a miss.
    pub fn touching_time(&self) -> Option<f64> {
        match self {
            Self::Miss => None,
            Self::Hit { touching, .. } => Some(*touching),
            Self::Touching { .. } | Self::Overlapping(_) => Some(0.0),
        }
    }

    /// Returns the contact, or `None` for a miss.
    pub fn contact(&self) -> Option<&Contact<V>> {
        match self {
            Self::Miss => None,
            Self::Hit { contact, .. } | Self::Touching { contact, .. } => Some(contact),
            Self::Overlapping(contact) => Some(contact),
        }
    }

    /// Returns the unit normal of a face of the second shape, from the first shape to the second:
    /// of all faces at the contact point, the one that opposes the motion most. For shapes that
    /// overlap at the start, it is the contact normal. `None` for a miss.
    ///
    /// At an edge or a corner, many contact normals are correct. A floor test asks for a face.
    /// Inside a face, on a round shape, and on a half-space, both normals are equal. If several
    /// parts of a collider meet at the contact, the faces of all of them count.
    pub fn face_normal(&self) -> Option<V> {
        match self {
            Self::Miss => None,
            Self::Hit { face_normal, .. } | Self::Touching { face_normal, .. } => {
                Some(*face_normal)
            }
            Self::Overlapping(contact) => Some(contact.normal),
        }
    }
}

/// The pose of a shape at the start, and its motion.
type Moving<D> = (Pose<D>, Motion64<D>);

/// Options of [`cast_shape`] and [`cast_motion`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CastOptions {
    /// If `true`, shapes that overlap at the start may leave each other: they are a hit only if the
    /// motion increases the penetration depth, or if they touch again later. `false` by default.
    pub leave_overlaps: bool,
}

/// The outcome of a cast in f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cast64<D> {
    Miss,
    /// The points of the contact are relative to the translations at the time `touching`.
    Hit {
        safe: f64,
        touching: f64,
        contact: Contact64<D>,
        face_normal: D,
    },
    Touching {
        contact: Contact64<D>,
        face_normal: D,
    },
    Overlapping(Contact64<D>),
}

impl<D: DVector> Cast64<D> {
    /// See [`Cast::touching_time`].
    pub fn touching_time(&self) -> Option<f64> {
        match self {
            Self::Miss => None,
            Self::Hit { touching, .. } => Some(*touching),
            Self::Touching { .. } | Self::Overlapping(_) => Some(0.0),
        }
    }

    /// Returns the same outcome with another contact, given its time.
    pub fn map_contact(self, map: impl Fn(f64, &Contact64<D>) -> Contact64<D>) -> Self {
        match self {
            Self::Miss => Self::Miss,
            Self::Hit {
                safe,
                touching,
                contact,
                face_normal,
            } => Self::Hit {
                safe,
                touching,
                contact: map(touching, &contact),
                face_normal,
            },
            Self::Touching {
                contact,
                face_normal,
            } => Self::Touching {
                contact: map(0.0, &contact),
                face_normal,
            },
            Self::Overlapping(contact) => Self::Overlapping(map(0.0, &contact)),
        }
    }

    /// Returns the outcome in the world. `origins_at` returns the translations of both shapes at a
    /// time.
    pub fn in_world<V: Space<DVec = D>>(&self, origins_at: impl Fn(f64) -> [D; 2]) -> Cast<V> {
        let at = |time, contact| Contact::in_world(contact, origins_at(time));
        match self {
            Self::Miss => Cast::Miss,
            Self::Hit {
                safe,
                touching,
                contact,
                face_normal,
            } => Cast::Hit {
                safe: *safe,
                touching: *touching,
                contact: at(*touching, contact),
                face_normal: V::from_f64(*face_normal),
            },
            Self::Touching {
                contact,
                face_normal,
            } => Cast::Touching {
                contact: at(0.0, contact),
                face_normal: V::from_f64(*face_normal),
            },
            Self::Overlapping(contact) => Cast::Overlapping(at(0.0, contact)),
        }
    }
}

impl<V: Space> Cast<V> {
    /// Returns the outcome in 3D. In 2D, z is 0.
    pub(crate) fn to_vec3(self) -> Cast<Vec3> {
        match self {
            Self::Miss => Cast::Miss,
            Self::Hit {
                safe,
                touching,
                contact,
                face_normal,
            } => Cast::Hit {
                safe,
                touching,
                contact: contact.to_vec3(),
                face_normal: face_normal.to_vec3(),
            },
            Self::Touching {
                contact,
                face_normal,
            } => Cast::Touching {
                contact: contact.to_vec3(),
                face_normal: face_normal.to_vec3(),
            },
            Self::Overlapping(contact) => Cast::Overlapping(contact.to_vec3()),
        }
    }
}

/// Returns the first touch of two shapes.
pub(super) fn cast_motion_of_shapes<A, B>(
    a: &A,
    motion_a: Motion<A::Vector>,
    b: &B,
    motion_b: Motion<A::Vector>,
    options: CastOptions,
) -> Cast<A::Vector>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    cast_in_world(motion_a, motion_b, |moving_a, moving_b| {
        cast_moving(a, moving_a, b, moving_b, options)
    })
}

/// Returns the first touch of two shapes under linear motion, and records the steps of GJK.
/// [`cast_moving`] solves casts that GJK leaves open.
pub(super) fn trace_cast<A, B>(
    a: &A,
    motion_a: Motion<A::Vector>,
    b: &B,
    motion_b: Motion<A::Vector>,
    trace: &mut impl Trace<DVecOf<A>>,
) -> Cast<A::Vector>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    cast_in_world(motion_a, motion_b, |moving_a, moving_b| {
        trace_linear(a, moving_a, b, moving_b, trace)
            .unwrap_or_else(|| cast_moving(a, moving_a, b, moving_b, CastOptions::default()))
    })
}

/// Returns an outcome in the world. `solve` takes the pose at the start and the motion of each
/// shape. If one of them is invalid, the cast is a miss.
fn cast_in_world<V: Space>(
    motion_a: Motion<V>,
    motion_b: Motion<V>,
    solve: impl FnOnce(Moving<V::DVec>, Moving<V::DVec>) -> Cast64<V::DVec>,
) -> Cast<V> {
    let (Some(motion_a), Some(motion_b)) = (motion_a.valid(), motion_b.valid()) else {
        return Cast::Miss;
    };
    solve(motion_a, motion_b).in_world(|time| {
        [motion_a, motion_b].map(|(pose, motion)| pose.translation + motion.translation * time)
    })
}

/// Returns the first touch of two shapes in f64, each with its pose at the start and its motion.
pub(crate) fn cast_moving<A, B>(
    a: &A,
    (pose_a, motion_a): (Pose<DVecOf<A>>, Motion64<DVecOf<A>>),
    b: &B,
    (pose_b, motion_b): (Pose<DVecOf<A>>, Motion64<DVecOf<A>>),
    options: CastOptions,
) -> Cast64<DVecOf<A>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let closed_form = if is_linear(a, &motion_a) && is_linear(b, &motion_b) {
        solve_linear(a, (pose_a, motion_a), b, (pose_b, motion_b))
    } else {
        solve_ball(a, (pose_a, motion_a), b, (pose_b, motion_b))
    };
    if let Some(cast) = closed_form {
        return cast;
    }
    MovingPair::new(a, (pose_a, motion_a), b, (pose_b, motion_b))
        .map_or(Cast64::Miss, |pair| solve(&pair, options))
}
