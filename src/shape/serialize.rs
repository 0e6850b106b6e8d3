//! What collides as plain data, for the feature `serialize`: the numbers of each kind of shape, and nothing that follows
//! from them.
//!
//! Nothing is stored twice: a shape *is* its numbers, and all else is made of them again, by the functions that make it at
//! first (the search of a hull, the tree of a compound), so that a collider which was loaded is the
//! one which was saved, to the bit. The same functions refuse what is no shape, with the same [`ShapeError`].
//!
//! A shape is saved as it has become, and not as it was given: a regular polygon as the hull of its corners, a height field as
//! a mesh, margins as their sum. Of two things that matters. Of a hull it is the vertices: to drop points anew could drop one
//! more, by rounding. Of a part in a compound it is the pose, in f64, because a compound in a compound has moved its parts by
//! then.
//!
//! No type here contains itself, so that data nested a million deep is an error, in formats without a limit of their own
//! as well, and not the end of the stack.

use std::sync::Arc;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    math::{Vec2, Vec3},
    shape::{
        ColliderShape, Compound, ConvexHull, Dimension, Parts, Shape, ShapeError, Surface,
        primitives::cap, surface::FacetIndices,
    },
    space::{DVector, Pose},
};

/// The products of two columns of a rotation are those of the axes, to this: the rounding of f64 in some products of
/// rotations, and of a decimal format that loses the last digit. (A rotation in f32 digits is off by 1e-7, and is none: a
/// solver that takes it for one is off by as much.)
const ORTHONORMAL: f64 = 1e-12;

/// Why a collider cannot be saved.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum NoData {
    #[error("a collider of a custom shape cannot be saved, because its support function is code")]
    Custom,
    #[error("a collider that has become inert by an error cannot be saved: {0}")]
    Rejected(ShapeError),
}

/// A dimension, by how it is written: vectors and matrices as `glam` writes them, which Bevy's reflection turns on.
pub trait Plain:
    Dimension<DVec: DVector<Matrix: Serialize + DeserializeOwned> + Serialize + DeserializeOwned>
    + Serialize
    + DeserializeOwned
{
    /// The numbers of a facet's vertices.
    type Facet: Serialize + DeserializeOwned;

    /// A shape of the plane and how deep it is extruded; in the plane itself nothing.
    type Extrusion: Serialize + DeserializeOwned;

    /// The vertices that count.
    fn facet(numbers: FacetIndices) -> Self::Facet;

    /// The vertices, and others that do not count.
    fn numbers(facet: Self::Facet) -> FacetIndices;

    /// An extrusion as data.
    fn extrusion(base: &Shape<Vec2>, half_depth: f32) -> Result<Convex<Self>, NoData>;

    /// The shape that an extrusion is.
    fn extruded(extrusion: Self::Extrusion) -> Result<Shape<Self>, ShapeError>;
}

/// What there is none of.
#[derive(Serialize, Deserialize)]
pub enum Never {}

impl Plain for Vec2 {
    type Facet = [u32; 2];
    type Extrusion = Never;

    fn facet([start, end, _]: FacetIndices) -> [u32; 2] {
        [start, end]
    }

    fn numbers([start, end]: [u32; 2]) -> FacetIndices {
        [start, end, end]
    }

    /// There is no z: the shape as it is.
    fn extrusion(base: &Shape<Vec2>, _: f32) -> Result<Convex<Self>, NoData> {
        Convex::of(base)
    }

    fn extruded(extrusion: Never) -> Result<Shape<Self>, ShapeError> {
        match extrusion {}
    }
}

/// A shape of the plane, extruded along z to both sides.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extrusion {
    base: Convex<Vec2>,
    half_depth: f32,
}

impl Plain for Vec3 {
    type Facet = [u32; 3];
    type Extrusion = Extrusion;

    fn facet(numbers: FacetIndices) -> [u32; 3] {
        numbers
    }

    fn numbers(facet: [u32; 3]) -> FacetIndices {
        facet
    }

    fn extrusion(base: &Shape<Vec2>, half_depth: f32) -> Result<Convex<Self>, NoData> {
        let base = Convex::of(base)?;
        let extrusion = Kind::Extrusion(Extrusion { base, half_depth });
        Ok(Convex::bare(extrusion))
    }

    fn extruded(Extrusion { base, half_depth }: Extrusion) -> Result<Shape<Self>, ShapeError> {
        let base = Arc::new(base.shape()?);
        Shape::Extrusion { base, half_depth }.checked()
    }
}

/// A [`ColliderShape`] as data.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub enum BodyData<V: Plain> {
    /// One convex shape.
    Convex(Convex<V>),
    /// Several, with a margin around each.
    Compound { parts: Vec<Part<V>>, margin: f32 },
    /// A polyline, a mesh, and also a height field, whose triangles they are.
    Surface {
        vertices: Vec<V>,
        facets: Vec<V::Facet>,
        one_sided: bool,
        margin: f32,
    },
}

/// A part of a compound, and where it is: x is mapped to `rotation * x + translation`.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Part<V: Plain> {
    translation: V::DVec,
    /// Column by column.
    rotation: <V::DVec as DVector>::Matrix,
    shape: Convex<V>,
}

/// A convex [`Shape`] as data: what it is without its margin, and that, 0 for none.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Convex<V: Plain> {
    kind: Kind<V>,
    margin: f32,
}

/// The kinds of [`Shape`], by the same names.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
enum Kind<V: Plain> {
    Ball {
        radius: f32,
    },
    Capsule {
        half_length: f32,
        radius: f32,
    },
    Box {
        half_size: V,
    },
    Diamond {
        half_diagonals: V,
    },
    Ellipsoid {
        half_size: V,
    },
    Frustum {
        half_height: f32,
        radius_top: f32,
        radius_bottom: f32,
    },
    Cap {
        radius: f32,
        half_angle: f32,
        pointed: bool,
    },
    Segment([V; 2]),
    Triangle([V; 3]),
    Tetrahedron([V; 4]),
    Hull(Vec<V>),
    HalfSpace {
        normal: V,
    },
    Extrusion(V::Extrusion),
}

impl<V: Plain> BodyData<V> {
    /// A body as data.
    pub fn of(body: &ColliderShape<V>) -> Result<Self, NoData> {
        let compound = match body {
            ColliderShape::Convex(shape) => return Convex::of(shape).map(Self::Convex),
            ColliderShape::Compound(compound) => compound,
        };
        Ok(match compound.parts() {
            (Parts::Shapes(shapes), margin) => {
                let part = |(pose, shape): &(Pose<V::DVec>, Shape<V>)| {
                    Ok(Part {
                        translation: pose.translation,
                        rotation: pose.rotation,
                        shape: Convex::of(shape)?,
                    })
                };
                let parts = shapes.iter().map(part).collect::<Result<_, _>>()?;
                Self::Compound { parts, margin }
            }
            (Parts::Surface(mesh), margin) => Self::Surface {
                vertices: mesh.vertices().to_vec(),
                facets: mesh.facets().iter().copied().map(V::facet).collect(),
                one_sided: compound.is_one_sided(),
                margin,
            },
        })
    }

    /// The body, or why it is none.
    pub fn body(self) -> Result<ColliderShape<V>, ShapeError> {
        let (parts, margin) = match self {
            Self::Convex(convex) => return convex.shape().map(ColliderShape::Convex),
            Self::Compound { parts, margin } => {
                let parts = parts.into_iter().map(Part::placed);
                (Parts::Shapes(parts.collect::<Result<_, _>>()?), margin)
            }
            Self::Surface {
                vertices,
                facets,
                one_sided,
                margin,
            } => {
                let facets = facets.into_iter().map(V::numbers).collect();
                let surface = Surface::new(vertices.into(), facets)?;
                let mut surface = Compound::new(Parts::Surface(surface), margin)?;
                if one_sided {
                    surface = surface.one_sided();
                }
                return Ok(ColliderShape::Compound(Arc::new(surface)));
            }
        };
        let compound = Compound::new(parts, margin)?;
        Ok(ColliderShape::Compound(Arc::new(compound)))
    }
}

impl<V: Plain> Part<V> {
    /// The shape in its place.
    fn placed(self) -> Result<(Pose<V::DVec>, Shape<V>), ShapeError> {
        let Self {
            translation,
            rotation,
            shape,
        } = self;
        if !V::from_f64(translation).is_finite() {
            return Err(ShapeError::PoseNotFinite);
        }
        let column = |index| V::DVec::column(rotation, index);
        let mut pairs = (0..V::DVec::DIMENSION).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let is_rotation = pairs.all(|(i, j)| {
            let expected = if i == j { 1.0 } else { 0.0 };
            (column(i).dot(column(j)) - expected).abs() <= ORTHONORMAL
        });
        if !is_rotation || V::DVec::is_mirrored(rotation) {
            return Err(ShapeError::NotARotation);
        }
        let pose = Pose {
            rotation,
            translation,
        };
        Ok((pose, shape.shape()?))
    }
}

impl<V: Plain> Convex<V> {
    /// Without a margin.
    fn bare(kind: Kind<V>) -> Self {
        Self { kind, margin: 0.0 }
    }

    /// A shape as data.
    fn of(shape: &Shape<V>) -> Result<Self, NoData> {
        Ok(Self::bare(match shape {
            Shape::Ball { radius } => Kind::Ball { radius: *radius },
            Shape::Capsule {
                half_length,
                radius,
            } => Kind::Capsule {
                half_length: *half_length,
                radius: *radius,
            },
            Shape::Box { half_size } => Kind::Box {
                half_size: *half_size,
            },
            Shape::Diamond { half_diagonals } => Kind::Diamond {
                half_diagonals: *half_diagonals,
            },
            Shape::Ellipsoid { half_size } => Kind::Ellipsoid {
                half_size: *half_size,
            },
            Shape::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            } => Kind::Frustum {
                half_height: *half_height,
                radius_top: *radius_top,
                radius_bottom: *radius_bottom,
            },
            Shape::Cap(cap) => Kind::Cap {
                radius: cap.radius,
                half_angle: cap.half_angle,
                pointed: cap.pointed,
            },
            Shape::Segment(vertices) => Kind::Segment(*vertices),
            Shape::Triangle(vertices) => Kind::Triangle(*vertices),
            Shape::Tetrahedron(vertices) => Kind::Tetrahedron(*vertices),
            Shape::Hull(hull) => Kind::Hull(hull.points().to_vec()),
            Shape::HalfSpace { normal } => Kind::HalfSpace { normal: *normal },
            Shape::Extrusion { base, half_depth } => return V::extrusion(base, *half_depth),
            Shape::Rounded { shape, margin } => {
                // No margin is around another: `Shape::rounded` has made one of the two.
                let Self { kind, .. } = Self::of(shape)?;
                let margin = *margin;
                return Ok(Self { kind, margin });
            }
            Shape::Custom(_) => return Err(NoData::Custom),
        }))
    }

    /// The shape, or why it is none.
    fn shape(self) -> Result<Shape<V>, ShapeError> {
        let Self { kind, margin } = self;
        let shape = kind.shape()?;
        if margin == 0.0 {
            Ok(shape)
        } else {
            shape.rounded(margin)
        }
    }
}

impl<V: Plain> Kind<V> {
    /// The shape, or why it is none.
    fn shape(self) -> Result<Shape<V>, ShapeError> {
        match self {
            Self::Ball { radius } => Shape::Ball { radius },
            Self::Capsule {
                half_length,
                radius,
            } => Shape::Capsule {
                half_length,
                radius,
            },
            Self::Box { half_size } => Shape::Box { half_size },
            Self::Diamond { half_diagonals } => Shape::Diamond { half_diagonals },
            Self::Ellipsoid { half_size } => Shape::Ellipsoid { half_size },
            Self::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            } => Shape::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            },
            Self::Cap {
                radius,
                half_angle,
                pointed,
            } => cap(radius, half_angle, pointed),
            Self::Segment(vertices) => Shape::Segment(vertices),
            Self::Triangle(vertices) => Shape::Triangle(vertices),
            Self::Tetrahedron(vertices) => Shape::Tetrahedron(vertices),
            Self::Hull(vertices) => Shape::Hull(ConvexHull::from_vertices(vertices)?),
            Self::HalfSpace { normal } => Shape::HalfSpace { normal },
            Self::Extrusion(extrusion) => return V::extruded(extrusion),
        }
        .checked()
    }
}
