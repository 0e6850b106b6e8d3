//! The checked shape of a collider. Saved colliders contain this type.

#[cfg(feature = "serialize")]
use crate::shape::CellSurface;
use crate::{
    math::{Vec2, Vec3},
    shape::{CellGrid, Compound, ShapeError, support::Shape},
    space::Space,
};

/// The checked shape of a collider, in either dimension, or the reason why there is no shape.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "Collider")
)]
pub enum AnyColliderShape {
    /// The default collider, which touches nothing.
    #[default]
    Inert,
    D2(ColliderShape<Vec2>),
    D3(ColliderShape<Vec3>),
    /// The error of an invalid shape. A collider with an error touches nothing.
    #[cfg_attr(
        feature = "serialize",
        serde(serialize_with = "super::error::SaveError::refuse", skip_deserializing)
    )]
    Rejected(ShapeError),
    /// A grid without cells, which touches nothing.
    NoCells(EmptyGrid),
}

/// A [`CellGrid`] without cells, in either dimension. The grid keeps the size of a cell.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum EmptyGrid {
    D2(#[cfg_attr(feature = "serialize", serde(deserialize_with = "empty_grid"))] CellGrid<Vec2>),
    D3(#[cfg_attr(feature = "serialize", serde(deserialize_with = "empty_grid"))] CellGrid<Vec3>),
}

/// Reads a grid without cells. Returns an error if the grid has cells, or if the size of a cell is
/// invalid.
#[cfg(feature = "serialize")]
fn empty_grid<'de, V: Space, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<CellGrid<V>, D::Error>
where
    CellGrid<V>: serde::Deserialize<'de>,
{
    let grid: CellGrid<V> = serde::Deserialize::deserialize(deserializer)?;
    let checked = if grid.is_empty() {
        // Checks the size of a cell.
        CellSurface::new(&grid).map(|_| grid)
    } else {
        Err(ShapeError::NotEmpty)
    };
    checked.map_err(serde::de::Error::custom)
}

/// The checked shape of a collider.
#[derive(Clone, Debug)]
pub enum ColliderShape<V: Space> {
    Convex(Shape<V>),
    Compound(Compound<V>),
}

impl<V: Space> ColliderShape<V> {
    /// Returns `true` for a surface, which consists of facets.
    pub fn is_surface(&self) -> bool {
        match self {
            Self::Convex(_) => false,
            Self::Compound(compound) => compound.surface().is_some(),
        }
    }

    /// Returns the shape with an additional margin, or an error if the margin is invalid.
    pub fn rounded(self, margin: f32) -> Result<Self, ShapeError> {
        Ok(match self {
            Self::Convex(shape) => Self::Convex(shape.rounded(margin)?),
            Self::Compound(compound) => Self::Compound(compound.rounded(margin)?),
        })
    }

    /// Joins the parts of a compound. Returns any other shape unchanged.
    pub fn joined(self) -> Result<Self, ShapeError> {
        Ok(match self {
            Self::Convex(_) => self,
            Self::Compound(compound) => Self::Compound(compound.joined()?),
        })
    }

    /// Makes only the outer sides of a surface collide. Returns any other shape unchanged.
    pub fn one_sided(self) -> Self {
        match self {
            Self::Compound(compound) if compound.surface().is_some() => {
                Self::Compound(compound.one_sided())
            }
            _ => self,
        }
    }
}

/// A dimension whose shapes a [`Collider`](crate::Collider) can hold: `Vec2` or `Vec3`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither `Vec2` nor `Vec3`",
    note = "pass points by value: `.iter().copied()` turns references into values"
)]
pub trait Dimension: Space {
    /// Wraps a shape of this dimension.
    #[doc(hidden)]
    fn any(body: ColliderShape<Self>) -> AnyColliderShape;

    /// Returns the shape if it is of this dimension.
    #[doc(hidden)]
    fn body_of(body: &AnyColliderShape) -> Option<&ColliderShape<Self>>;

    /// Wraps a grid of this dimension without cells.
    #[doc(hidden)]
    fn empty_grid(grid: CellGrid<Self>) -> EmptyGrid;

    /// Returns the grid without cells if it is of this dimension.
    #[doc(hidden)]
    fn empty_grid_of(body: &AnyColliderShape) -> Option<&CellGrid<Self>>;
}

macro_rules! dimensions {
    ($($vector:ty: $dimension:ident),*) => {$(
        impl Dimension for $vector {
            fn any(body: ColliderShape<Self>) -> AnyColliderShape {
                AnyColliderShape::$dimension(body)
            }

            fn body_of(body: &AnyColliderShape) -> Option<&ColliderShape<Self>> {
                match body {
                    AnyColliderShape::$dimension(body) => Some(body),
                    _ => None,
                }
            }

            fn empty_grid(grid: CellGrid<Self>) -> EmptyGrid {
                EmptyGrid::$dimension(grid)
            }

            fn empty_grid_of(body: &AnyColliderShape) -> Option<&CellGrid<Self>> {
                match body {
                    AnyColliderShape::NoCells(EmptyGrid::$dimension(grid)) => Some(grid),
                    _ => None,
                }
            }
        }
    )*};
}

dimensions!(Vec2: D2, Vec3: D3);
