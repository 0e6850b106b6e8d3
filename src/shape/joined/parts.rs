//! Convex parts that are one solid. `compounds/surface.rs` calls [`JoinedParts::new`] for each
//! joined compound. `placed/solid.rs` calls [`JoinedParts::part_around`] for the center of a body.

use crate::{
    shape::{
        Shape, ShapeError,
        boxes::{bounds::Bounds, box_search::Overlapping, wide_tree::WideTree},
        elements::{facet::WELD, part_face::PartFace},
        hull::ConvexHull,
        joined::{part_faces::PartFaces, union_faces::UnionFaces},
        world_pose::WorldPose,
    },
    space::{Pose, Space},
};

/// The tree finds a part for points that are at most this number of welds away from the part.
pub const MAX_TOLERANCE: f64 = 2.0;

/// Convex parts without margins, each with its pose.
pub type PosedShapes<V> = Box<[PosedShape<V>]>;

/// A convex part without a margin, with its pose.
pub type PosedShape<V> = (Pose<<V as Space>::DVec>, Shape<V>);

/// The parts of a union, and the part of each exposed facet.
pub struct JoinedParts<V: Space> {
    shapes: PosedShapes<V>,
    faces: Vec<PartFaces<V::DVec>>,
    tree: WideTree,
    of_facets: Vec<u32>,
}

impl<V: Space> JoinedParts<V> {
    /// Joins parts, and returns the exposed faces of their union.
    pub fn new(shapes: PosedShapes<V>) -> Result<(Self, UnionFaces<V>), ShapeError> {
        let faces = shapes
            .iter()
            .map(|(pose, shape)| PartFaces::new(shape, pose.rotation, pose.translation));
        let faces: Vec<PartFaces<V::DVec>> = faces.collect::<Result<_, _>>()?;
        let boxes = faces.iter().map(|part| {
            part.bounds()
                .grown(MAX_TOLERANCE * part.weld)
                .round_outward()
        });
        let tree = WideTree::new((0..).zip(boxes));
        let mut exposed = UnionFaces::new(&faces, &tree);
        let parts = Self {
            shapes,
            faces,
            tree,
            of_facets: core::mem::take(&mut exposed.parts),
        };
        Ok((parts, exposed))
    }

    /// Returns the parts without margins, each with its pose.
    pub fn shapes(&self) -> &[(Pose<V::DVec>, Shape<V>)] {
        &self.shapes
    }

    /// Returns the index of the part that has a facet.
    pub fn part_of_facet(&self, facet: u32) -> Option<u32> {
        self.of_facets.get(facet as usize).copied()
    }

    /// Returns the first part that contains a point. A point within `tolerance` welds of a part
    /// counts as inside. The tolerance is at most [`MAX_TOLERANCE`].
    pub fn part_around(&self, point: V::DVec, tolerance: f64) -> Option<u32> {
        let mut first: Option<u32> = None;
        let point_box = Overlapping::new(Bounds::at(point).round_outward());
        self.tree.visit(&point_box, 0.0, |index| {
            let contains = |part: &PartFaces<_>| part.contains(point, tolerance * part.weld);
            if self.faces.get(index as usize).is_some_and(contains) {
                first = Some(first.map_or(index, |first| first.min(index)));
            }
            0.0
        });
        first
    }

    /// Returns the greatest extent of a vertex of a part.
    pub fn extent(&self, part: u32) -> f64 {
        let part = self.faces.get(part as usize);
        part.map_or(0.0, |part| part.weld / WELD)
    }

    /// Returns the faces of a part.
    pub fn faces(&self, part: u32) -> &[PartFace<V::DVec>] {
        let part = self.faces.get(part as usize);
        part.map_or(&[], |part| &part.faces)
    }
}

/// Returns a convex shape in a pose as a part without a scale and without a margin. Also returns
/// the scaled margin of the shape plus `margin`.
pub fn posed_part<V: Space>(
    shape: &Shape<V>,
    margin: f32,
    pose: &WorldPose<V::DVec>,
) -> Result<(PosedShape<V>, f32), ShapeError> {
    let (shape, own_margin) = shape.without_margin();
    let margin = margin + own_margin;
    let factor = pose.factor().or((margin == 0.0).then_some(1.0));
    let margin = margin * factor.ok_or(ShapeError::PartMargins)? as f32;
    if pose.factor() == Some(1.0) {
        return Ok(((pose.pose(), shape.clone()), margin));
    }
    let corners = shape.vertices().ok_or(ShapeError::PartNotPolyhedral)?;
    let scaled = corners
        .into_iter()
        .map(|corner| V::from_f64(pose.linear() * corner));
    let hull = Shape::Hull(ConvexHull::new(scaled)?);
    let unscaled = Pose {
        translation: pose.translation,
        ..Pose::IDENTITY
    };
    Ok(((unscaled, hull), margin))
}
