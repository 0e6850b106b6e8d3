//! Shapes as plain data, for the feature `serialize`.
//!
//! The data contains only the values that define a shape. Derived data (the search structure of a
//! hull, the tree of a compound) is rebuilt by the usual constructors. So a loaded collider equals
//! the saved collider bit for bit, and invalid data causes the usual [`ShapeError`].
//!
//! A shape is saved as the collider stores it. A regular polygon is saved as a hull, a height field
//! as a mesh, and nested margins as their sum. A hull is saved as its vertices. Loading does not
//! compute the hull of these vertices again, because rounding could drop a vertex. The pose of a
//! compound's part is saved in `f64`, because nested compounds multiply poses.
//!
//! No data is recursive: an extrusion is a 3D shape made of a 2D shape. So deeply nested data is an
//! error in every format, and cannot overflow the stack.

use std::sync::Arc;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error as _},
    ser::Error as _,
};

use crate::{
    math::{Vec2, Vec3},
    shape::{
        Cap, Cell, CellGrid, CellSurface, ColliderShape, Compound, CompoundParts, ConvexHull,
        Dimension, MeshSurface, SaveError, Shape, ShapeError, Support, Surface,
        conversions::primitives::cap, elements::facet::FacetIndices,
    },
    space::{DVector, Pose, Space},
};

/// The maximum error of the dot products of a rotation's columns. This bound allows for the product
/// of a few rotations in `f64`, and for a decimal format that loses the last digit. A rotation
/// rounded to `f32` has an error of 1e-7 and is rejected, because contacts would have the same
/// error.
const ORTHONORMAL: f64 = 1e-12;

/// A dimension whose vectors and matrices `glam` can serialize. (Bevy's reflection enables this
/// feature of `glam`.)
pub trait SerializeSpace:
    Dimension<
        DVec: DVector<Matrix: Serialize + DeserializeOwned> + Serialize + DeserializeOwned,
        CellPosition: Serialize + DeserializeOwned,
    > + Serialize
    + DeserializeOwned
{
    /// The vertex indices of a facet.
    type Facet: Serialize + DeserializeOwned;

    /// Returns the vertex indices of a facet in this dimension.
    fn facet(indices: FacetIndices) -> Self::Facet;

    /// Returns the vertex indices of a facet, padded to three.
    fn indices(facet: Self::Facet) -> FacetIndices;
}

impl SerializeSpace for Vec2 {
    type Facet = [u32; 2];

    fn facet([start, end, _]: FacetIndices) -> [u32; 2] {
        [start, end]
    }

    fn indices([start, end]: [u32; 2]) -> FacetIndices {
        [start, end, end]
    }
}

impl SerializeSpace for Vec3 {
    type Facet = [u32; 3];

    fn facet(indices: FacetIndices) -> [u32; 3] {
        indices
    }

    fn indices(facet: [u32; 3]) -> FacetIndices {
        facet
    }
}

/// A [`ColliderShape`] as data.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
enum BodyData<V: SerializeSpace> {
    /// One convex shape.
    Convex(#[serde(with = "rounded")] Shape<V>),
    /// Convex parts with a margin around each part.
    Compound {
        parts: Vec<PartData<V>>,
        margin: f32,
    },
    /// A polyline, a mesh or a height field.
    Surface {
        vertices: Vec<V>,
        facets: Vec<V::Facet>,
        one_sided: bool,
        margin: f32,
    },
    /// A union of cells.
    Cells {
        cell_size: V,
        #[serde(default)]
        shapes: Vec<ConvexHull<V>>,
        runs: Vec<RunData<V>>,
        margin: f32,
    },
    /// The union of convex parts.
    Joined {
        parts: Vec<PartData<V>>,
        margin: f32,
    },
}

/// A [`CellGrid`] as data.
#[derive(Serialize, Deserialize)]
#[serde(rename = "CellGrid", bound = "", deny_unknown_fields)]
struct GridData<V: SerializeSpace> {
    cell_size: V,
    #[serde(default)]
    shapes: Vec<ConvexHull<V>>,
    runs: Vec<RunData<V>>,
}

/// Equal cells whose positions differ only in x, in ascending order.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename = "Run", bound = "", deny_unknown_fields)]
pub struct RunData<V: SerializeSpace> {
    start: V::CellPosition,
    /// The number of cells. The type limits the cells that little data can contain.
    count: u8,
    cell: Cell,
}

/// A part of a compound and its pose, x -> `rotation * x + translation`.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Part", bound = "", deny_unknown_fields)]
struct PartData<V: SerializeSpace> {
    translation: V::DVec,
    /// The matrix, column by column.
    rotation: <V::DVec as DVector>::Matrix,
    #[serde(with = "rounded")]
    shape: Shape<V>,
}

impl<V: SerializeSpace> From<ColliderShape<V>> for BodyData<V> {
    fn from(body: ColliderShape<V>) -> Self {
        let compound = match body {
            ColliderShape::Convex(shape) => return Self::Convex(shape),
            ColliderShape::Compound(compound) => compound,
        };
        match compound.parts() {
            (CompoundParts::Shapes(shapes), margin) => {
                let parts = shapes.iter().map(PartData::new).collect();
                Self::Compound { parts, margin }
            }
            (CompoundParts::Surface(surface), margin)
                if let Some(joined) = surface.joined_parts() =>
            {
                let parts = joined.shapes().iter().map(PartData::new).collect();
                Self::Joined { parts, margin }
            }
            (CompoundParts::Surface(surface), margin) if let Some(grid) = surface.grid() => {
                let grid = GridData::from(grid);
                Self::Cells {
                    cell_size: grid.cell_size,
                    shapes: grid.shapes,
                    runs: grid.runs,
                    margin,
                }
            }
            (CompoundParts::Surface(surface), margin) => Self::Surface {
                vertices: surface.vertices().to_vec(),
                facets: surface.facets().iter().copied().map(V::facet).collect(),
                one_sided: compound.is_one_sided(),
                margin,
            },
        }
    }
}

impl<V: SerializeSpace> TryFrom<BodyData<V>> for ColliderShape<V> {
    type Error = ShapeError;

    fn try_from(data: BodyData<V>) -> Result<Self, ShapeError> {
        let compound = match data {
            BodyData::Convex(shape) => return Ok(Self::Convex(shape)),
            BodyData::Compound { parts, margin } => {
                let parts = parts.into_iter().map(PartData::part);
                Compound::new(
                    CompoundParts::Shapes(parts.collect::<Result<_, _>>()?),
                    margin,
                )?
            }
            BodyData::Surface {
                vertices,
                facets,
                one_sided,
                margin,
            } => {
                let facets = facets.into_iter().map(V::indices).collect();
                let mesh = MeshSurface::new(vertices.into(), facets)?;
                let parts = CompoundParts::Surface(Surface::Mesh(mesh));
                let compound = Compound::new(parts, margin)?;
                if one_sided {
                    compound.one_sided()
                } else {
                    compound
                }
            }
            BodyData::Cells {
                cell_size,
                shapes,
                runs,
                margin,
            } => {
                let grid = grid_of(cell_size, shapes, &runs)?;
                let cells = CellSurface::new(&grid)?;
                let cells = cells.ok_or(ShapeError::NoFacets("cell that is not empty"))?;
                Compound::of_cells(cells, margin)?
            }
            BodyData::Joined { parts, margin } => {
                let parts = parts.into_iter().map(PartData::part);
                Compound::of_parts(parts.collect::<Result<_, _>>()?, margin)?
            }
        };
        Ok(Self::Compound(compound))
    }
}

impl<V: SerializeSpace> From<&CellGrid<V>> for GridData<V> {
    fn from(grid: &CellGrid<V>) -> Self {
        Self {
            cell_size: grid.cell_size(),
            shapes: grid.shapes().cloned().collect(),
            runs: runs_of(grid.iter()),
        }
    }
}

/// Joins cells to runs.
pub fn runs_of<V: SerializeSpace>(
    cells: impl IntoIterator<Item = (V::CellPosition, Cell)>,
) -> Vec<RunData<V>> {
    let mut runs: Vec<RunData<V>> = Vec::new();
    for (position, cell) in cells {
        if let Some(run) = runs.last_mut()
            && run.cell == cell
            && run.position(run.count) == Some(position)
            && let Some(count) = run.count.checked_add(1)
        {
            run.count = count;
            continue;
        }
        let (start, count) = (position, 1);
        runs.push(RunData { start, count, cell });
    }
    runs
}

/// Converts data to a grid.
fn grid_of<V: SerializeSpace>(
    cell_size: V,
    shapes: Vec<ConvexHull<V>>,
    runs: &[RunData<V>],
) -> Result<CellGrid<V>, ShapeError> {
    let mut grid = if shapes.is_empty() {
        CellGrid::new(cell_size)
    } else {
        CellGrid::with_shapes(cell_size, shapes)?
    };
    runs.iter().try_for_each(|run| run.add_to(&mut grid))?;
    Ok(grid)
}

impl<V: SerializeSpace> Serialize for CellGrid<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A grid that is too large could not be loaded.
        self.check_len(0).map_err(S::Error::custom)?;
        GridData::from(self).serialize(serializer)
    }
}

impl<'de, V: SerializeSpace> Deserialize<'de> for CellGrid<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let data = GridData::deserialize(deserializer)?;
        grid_of(data.cell_size, data.shapes, &data.runs).map_err(D::Error::custom)
    }
}

impl<V: SerializeSpace> RunData<V> {
    /// Returns the position of a cell, which is counted from the start.
    fn position(&self, index: u8) -> Option<V::CellPosition> {
        let [x, y, z] = V::position_to_array(self.start);
        Some(V::position_of([x.checked_add(index.into())?, y, z]))
    }

    /// Sets the cells of this run.
    pub fn add_to(&self, grid: &mut CellGrid<V>) -> Result<(), ShapeError> {
        let Some(last) = self.count.checked_sub(1) else {
            return Ok(());
        };
        let end = self.position(last).ok_or(ShapeError::CellOutOfRange)?;
        grid.fill(self.start, end, self.cell)
    }
}

impl<V: SerializeSpace> PartData<V> {
    fn new((pose, shape): &(Pose<V::DVec>, Shape<V>)) -> Self {
        Self {
            translation: pose.translation,
            rotation: pose.rotation,
            shape: shape.clone(),
        }
    }

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
        Ok((pose, shape))
    }
}

/// A [`Shape`] without a margin as data. Binary formats save the position of a variant, so a new
/// variant has to be the last variant.
#[derive(Serialize, Deserialize)]
#[serde(
    remote = "Shape",
    rename = "Shape",
    bound = "V: SerializeSpace",
    deny_unknown_fields
)]
enum ShapeData<V: Space> {
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
    Cap(Cap),
    Segment([V; 2]),
    Triangle([V; 3]),
    Tetrahedron([V; 4]),
    Hull(ConvexHull<V>),
    HalfSpace {
        normal: V,
    },
    Extrusion {
        #[serde(
            serialize_with = "rounded::serialize",
            deserialize_with = "base::<V, _>"
        )]
        base: Arc<Shape<Vec2>>,
        half_depth: f32,
    },
    #[serde(serialize_with = "refuse_custom", skip_deserializing)]
    Custom(Arc<dyn Support<Vector = V> + Send + Sync>),
    #[serde(skip)]
    Rounded {
        shape: Arc<Shape<V>>,
        margin: f32,
    },
}

/// Saves a [`Shape`] as the shape inside the margin (`kind`) and the margin. Loading checks both
/// values.
mod rounded {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(rename = "RoundedKind", bound = "", deny_unknown_fields)]
    struct RoundedKind<V: SerializeSpace> {
        #[serde(with = "ShapeData")]
        kind: Shape<V>,
        margin: f32,
    }

    pub fn serialize<V: SerializeSpace, S: Serializer>(
        shape: &Shape<V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let (kind, margin) = shape.without_margin();
        let kind = kind.clone();
        RoundedKind { kind, margin }.serialize(serializer)
    }

    pub fn deserialize<'de, V: SerializeSpace, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Shape<V>, D::Error> {
        let RoundedKind { kind, margin } = RoundedKind::deserialize(deserializer)?;
        let shape = match kind {
            Shape::Cap(of) => cap(of.radius, of.half_angle, of.pointed),
            shape => shape,
        };
        let shape = shape.checked().and_then(|shape| match margin {
            0.0 => Ok(shape),
            _ => shape.rounded(margin),
        });
        shape.map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Cap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// The values that define a [`Cap`].
        #[derive(Deserialize)]
        #[serde(rename = "Cap", deny_unknown_fields)]
        struct CapData {
            radius: f32,
            half_angle: f32,
            pointed: bool,
        }
        let data = CapData::deserialize(deserializer)?;
        Ok(Self::new(data.radius, data.half_angle, data.pointed))
    }
}

/// Reads the base of an extrusion. In 2D, extrusions are refused, so that no data is recursive.
fn base<'de, V: Space, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Arc<Shape<Vec2>>, D::Error> {
    if V::DVec::DIMENSION == 2 {
        return Err(D::Error::custom("2D has no extrusions"));
    }
    rounded::deserialize(deserializer).map(Arc::new)
}

/// Saves a hull as its vertices.
impl<V: SerializeSpace> Serialize for ConvexHull<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.points().serialize(serializer)
    }
}

impl<'de, V: SerializeSpace> Deserialize<'de> for ConvexHull<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_vertices(Vec::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<V: SerializeSpace> Serialize for ColliderShape<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        BodyData::from(self.clone()).serialize(serializer)
    }
}

impl<'de, V: SerializeSpace> Deserialize<'de> for ColliderShape<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let data = BodyData::deserialize(deserializer)?;
        data.try_into().map_err(D::Error::custom)
    }
}

/// Returns the serialization error for a custom shape.
fn refuse_custom<V: Space, S: Serializer>(
    _: &Arc<dyn Support<Vector = V> + Send + Sync>,
    _: S,
) -> Result<S::Ok, S::Error> {
    Err(S::Error::custom(SaveError::Custom))
}
