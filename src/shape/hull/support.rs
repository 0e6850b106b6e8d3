//! The support function of a hull.

use crate::{
    shape::{
        elements::{
            core::{Core, VertexBounds},
            points::{farthest, farthest_of, vertex_bounds},
        },
        hull::{ConvexHull, FarthestSearch, support_scan::MAX_SCANNED},
        support::{MatrixOf, Shape, Support},
    },
    space::Space,
};

impl<V: Space> Support for ConvexHull<V> {
    type Vector = V;

    fn support(&self, direction: V::DVec) -> V::DVec {
        let found = match &self.search {
            FarthestSearch::Blocks(blocks) => blocks.farthest(direction),
            FarthestSearch::Table(table) => {
                let indices = table.candidates(direction);
                indices.map(|indices| farthest_of(&self.points, indices, direction))
            }
            FarthestSearch::Scan => None,
        };
        found.unwrap_or_else(|| farthest(&self.points, direction))
    }

    fn core(&self) -> Core<'_, V::DVec> {
        let edges = self.edges.as_ref();
        edges.map_or(Core::Opaque, |edges| Core::Polygon(edges.polygon()))
    }

    fn to_shape(&self) -> Option<Shape<V>> {
        Some(Shape::Hull(self.clone()))
    }

    fn vertex_bounds(&self, linear: MatrixOf<Self>) -> Option<VertexBounds<V::DVec>> {
        (self.points.len() <= MAX_SCANNED).then(|| vertex_bounds(&self.points, linear))
    }
}
