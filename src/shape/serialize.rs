//! Shapes as plain data, for the feature `serialize`.
//!
//! The data contains only the values that define a shape. Derived data (the search structure of a
//! hull, the tree of a compound) is rebuilt by the usual constructors. So a loaded collider equals
//! the saved one bit for bit, and invalid data returns the usual [`ShapeError`].
//!
//! A shape is saved as it is after construction: a regular polygon as a hull, a height field as a
//! mesh, nested margins as their sum. A hull is saved as its vertices, and loading does not reduce
//! them again, because rounding could drop one more. The pose of a compound's part is saved in
//! `f64`, because nested compounds multiply poses.
//!
//! No type here is recursive. So deeply nested data is an error in every format, and cannot
//! overflow the stack.

use std::sync::Arc;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    math::{Vec2, Vec3},
    shape::{
        Cap, ColliderShape, Compound, ConvexHull, Dimension, Parts, Shape, ShapeError, Surface,
        primitives::cap, surface::FacetIndices,
    },
    space::{DVector, Pose},
};

/// Maximum error of the dot products of a rotation's columns. It allows for some products of
/// rotations in `f64`, and for a decimal format that loses the last digit. A rotation rounded to
/// `f32` has an error of 1e-7 and is rejected, because contacts would have the same error.
const ORTHONORMAL: f64 = 1e-12;

/// An error from saving a collider.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum SaveError {
    #[error("a collider with a custom shape cannot be saved, because its support function is code")]
    Custom,
    #[error("a collider that is inert because of an error cannot be saved: {0}")]
    Rejected(ShapeError),
}

/// A dimension whose vectors and matrices are serialized by `glam`. (Bevy's reflection enables this
/// feature of `glam`.)
pub trait SerializeSpace:
    Dimension<DVec: DVector<Matrix: Serialize + DeserializeOwned> + Serialize + DeserializeOwned>
    + Serialize
    + DeserializeOwned
{
    /// The vertex indices of a facet.
    type Facet: Serialize + DeserializeOwned;

    /// An extrusion of a 2D shape, which only 3D has.
    type Extrusion: Serialize + DeserializeOwned;

    /// Returns the vertex indices of a facet in this dimension.
    fn facet(indices: FacetIndices) -> Self::Facet;

    /// Returns the vertex indices of a facet, padded to three.
    fn indices(facet: Self::Facet) -> FacetIndices;

    /// Converts an extrusion to data.
    fn extrusion(base: &Shape<Vec2>, half_depth: f32) -> Result<Convex<Self>, SaveError>;

    /// Converts data to an extrusion.
    fn extruded(extrusion: Self::Extrusion) -> Result<Shape<Self>, ShapeError>;
}

/// A type without values.
#[derive(Serialize, Deserialize)]
pub enum Never {}

impl SerializeSpace for Vec2 {
    type Facet = [u32; 2];
    type Extrusion = Never;

    fn facet([start, end, _]: FacetIndices) -> [u32; 2] {
        [start, end]
    }

    fn indices([start, end]: [u32; 2]) -> FacetIndices {
        [start, end, end]
    }

    /// In 2D, converts the base itself.
    fn extrusion(base: &Shape<Vec2>, _: f32) -> Result<Convex<Self>, SaveError> {
        Convex::of(base)
    }

    fn extruded(extrusion: Never) -> Result<Shape<Self>, ShapeError> {
        match extrusion {}
    }
}

/// A 2D shape, extruded along z to both sides.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extrusion {
    base: Convex<Vec2>,
    half_depth: f32,
}

impl SerializeSpace for Vec3 {
    type Facet = [u32; 3];
    type Extrusion = Extrusion;

    fn facet(indices: FacetIndices) -> [u32; 3] {
        indices
    }

    fn indices(facet: [u32; 3]) -> FacetIndices {
        facet
    }

    fn extrusion(base: &Shape<Vec2>, half_depth: f32) -> Result<Convex<Self>, SaveError> {
        let base = Convex::of(base)?;
        let extrusion = Kind::Extrusion(Extrusion { base, half_depth });
        Ok(Convex::without_margin(extrusion))
    }

    fn extruded(Extrusion { base, half_depth }: Extrusion) -> Result<Shape<Self>, ShapeError> {
        let base = Arc::new(base.shape()?);
        Shape::Extrusion { base, half_depth }.checked()
    }
}

/// A [`ColliderShape`] as data.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub enum BodyData<V: SerializeSpace> {
    /// One convex shape.
    Convex(Convex<V>),
    /// Convex parts with a margin around each.
    Compound { parts: Vec<Part<V>>, margin: f32 },
    /// A polyline, a mesh or a height field.
    Surface {
        vertices: Vec<V>,
        facets: Vec<V::Facet>,
        one_sided: bool,
        margin: f32,
    },
}

/// A part of a compound and its pose, x -> `rotation * x + translation`.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Part<V: SerializeSpace> {
    translation: V::DVec,
    /// Column by column.
    rotation: <V::DVec as DVector>::Matrix,
    shape: Convex<V>,
}

/// A convex [`Shape`] as data: the shape without margin, and the margin.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Convex<V: SerializeSpace> {
    kind: Kind<V>,
    margin: f32,
}

/// The variants of [`Shape`] without a margin, under the same names.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
enum Kind<V: SerializeSpace> {
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

impl<V: SerializeSpace> BodyData<V> {
    /// Converts a shape to data.
    pub fn of(body: &ColliderShape<V>) -> Result<Self, SaveError> {
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
            (Parts::Surface(surface), margin) => Self::Surface {
                vertices: surface.vertices().to_vec(),
                facets: surface.facets().iter().copied().map(V::facet).collect(),
                one_sided: compound.is_one_sided(),
                margin,
            },
        })
    }

    /// Converts data to a shape.
    pub fn body(self) -> Result<ColliderShape<V>, ShapeError> {
        let compound = match self {
            Self::Convex(convex) => return convex.shape().map(ColliderShape::Convex),
            Self::Compound { parts, margin } => {
                let parts = parts.into_iter().map(Part::part);
                Compound::new(Parts::Shapes(parts.collect::<Result<_, _>>()?), margin)?
            }
            Self::Surface {
                vertices,
                facets,
                one_sided,
                margin,
            } => {
                let facets = facets.into_iter().map(V::indices).collect();
                let surface = Surface::new(vertices.into(), facets)?;
                let compound = Compound::new(Parts::Surface(surface), margin)?;
                if one_sided {
                    compound.one_sided()
                } else {
                    compound
                }
            }
        };
        Ok(ColliderShape::Compound(Arc::new(compound)))
    }
}

impl<V: SerializeSpace> Part<V> {
    /// Converts data to a part.
    fn part(self) -> Result<(Pose<V::DVec>, Shape<V>), ShapeError> {
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

impl<V: SerializeSpace> Convex<V> {
    /// Returns data without a margin.
    fn without_margin(kind: Kind<V>) -> Self {
        Self { kind, margin: 0.0 }
    }

    /// Converts a shape to data.
    fn of(shape: &Shape<V>) -> Result<Self, SaveError> {
        Ok(Self::without_margin(match *shape {
            Shape::Ball { radius } => Kind::Ball { radius },
            Shape::Capsule {
                half_length,
                radius,
            } => Kind::Capsule {
                half_length,
                radius,
            },
            Shape::Box { half_size } => Kind::Box { half_size },
            Shape::Diamond { half_diagonals } => Kind::Diamond { half_diagonals },
            Shape::Ellipsoid { half_size } => Kind::Ellipsoid { half_size },
            Shape::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            } => Kind::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            },
            Shape::Cap(Cap {
                radius,
                half_angle,
                pointed,
                ..
            }) => Kind::Cap {
                radius,
                half_angle,
                pointed,
            },
            Shape::Segment(vertices) => Kind::Segment(vertices),
            Shape::Triangle(vertices) => Kind::Triangle(vertices),
            Shape::Tetrahedron(vertices) => Kind::Tetrahedron(vertices),
            Shape::Hull(ref hull) => Kind::Hull(hull.points().to_vec()),
            Shape::HalfSpace { normal } => Kind::HalfSpace { normal },
            Shape::Extrusion {
                ref base,
                half_depth,
            } => return V::extrusion(base, half_depth),
            Shape::Rounded { ref shape, margin } => {
                // Margins are not nested: `Shape::rounded` adds them.
                let Self { kind, .. } = Self::of(shape)?;
                return Ok(Self { kind, margin });
            }
            Shape::Custom(_) => return Err(SaveError::Custom),
        }))
    }

    /// Converts data to a shape.
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

impl<V: SerializeSpace> Kind<V> {
    /// Converts data to a shape.
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
