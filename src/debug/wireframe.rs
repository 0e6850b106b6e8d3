//! The lines of each kind of collider, in the collider's own frame.
//!
//! In 2D, one outline describes any convex shape. In 3D, polyhedra are drawn by their edges, and
//! cylinders and cones by their rims and sides. All other shapes are drawn by their outlines along
//! the three axes, such as three great circles of a ball. Each line is on the surface, up to the
//! tolerance of an outline.

use core::f32::consts::TAU;
use std::collections::HashSet;

use crate::{
    Collider, CompoundView, ConvexView, Rounded, Shape, ShapeView, Support, SurfaceView,
    debug::{
        ground::GroundGrid,
        lines::{LineSegment, box_edges},
        silhouette::{ProjectionPlane, silhouette},
    },
    math::{DVec3, Vec2, Vec3},
    shape::Dimension,
    space::{QueryPose, Space},
};

/// The number of sides of a rim, and the number of lines between two rims.
const RIM: u16 = 32;
const SIDES: u16 = 8;

/// An outline has a corner at a point if the outline turns there by more than this angle, in
/// radians. At a point of a curve, the outline turns by a smaller angle.
const MAX_TURN: f32 = 0.3;

impl Collider {
    /// Returns the lines that [`HeadbuttDebugPlugin`](crate::HeadbuttDebugPlugin) draws for this
    /// collider. The lines are in the collider's own frame, without the scale and the pose of an
    /// entity. Lines of 2D shapes are in the plane z = 0. Requires the feature `debug-plugin`.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// fn draw(mut gizmos: Gizmos, colliders: Query<(&Collider, &GlobalTransform)>) {
    ///     for (collider, pose) in &colliders {
    ///         for line in collider.wireframe() {
    ///             let [start, end] = line.map(|point| pose.transform_point(point));
    ///             gizmos.line(start, end, Color::WHITE);
    ///         }
    ///     }
    /// }
    ///
    /// assert_eq!(Collider::cuboid(1.0, 2.0, 3.0).wireframe().len(), 12);
    /// ```
    ///
    /// * Vertices and edges are drawn exactly. Curves are drawn as chords between exact points, so
    ///   that a circle has 32 sides.
    /// * A half-space is drawn as a grid of cells of size 1 around the origin.
    /// * A rounded mesh is drawn without its margin.
    /// * An inert collider has no lines.
    pub fn wireframe(&self) -> Vec<[Vec3; 2]> {
        if let Some(shape) = self.shape_2d() {
            of_shape(shape, of_convex_2d, rounded_segments)
        } else if let Some(shape) = self.shape_3d() {
            of_shape(shape, of_convex_3d, |_| None)
        } else {
            Vec::new()
        }
    }
}

fn of_shape<V: Dimension>(
    shape: ShapeView<V>,
    of_convex: fn(ConvexView<V>) -> Vec<LineSegment>,
    rounded: fn(&SurfaceView<V>) -> Option<Vec<LineSegment>>,
) -> Vec<LineSegment> {
    match shape {
        ShapeView::Convex(shape) => of_convex(shape),
        ShapeView::Compound(compound) => of_compound(compound, of_convex),
        ShapeView::Surface(surface) => rounded(&surface).unwrap_or_else(|| facet_edges(&surface)),
    }
}

fn of_compound<V: Dimension>(
    compound: CompoundView<V>,
    of_convex: fn(ConvexView<V>) -> Vec<LineSegment>,
) -> Vec<LineSegment> {
    let lines = compound.parts().filter_map(|(pose, part)| {
        let pose = Into::<QueryPose<V>>::into(pose).0?;
        let place = |point| {
            let inner = V::projected(point).to_f64();
            V::from_f64(pose.rotation * inner + pose.translation).to_vec3()
        };
        Some(
            of_convex(part)
                .into_iter()
                .map(|line| line.map(place))
                .collect::<Vec<_>>(),
        )
    });
    lines.flatten().collect()
}

/// Returns the edges of all facets, each edge once.
fn facet_edges<V: Dimension>(surface: &SurfaceView<V>) -> Vec<LineSegment> {
    let ends = surface.facets().flat_map(|facet| {
        let nexts = facet.iter().cycle().skip(1);
        facet.iter().zip(nexts).map(|(a, b)| [*a.min(b), *a.max(b)])
    });
    let mut known = HashSet::new();
    let edges = ends.filter(|ends| known.insert(*ends));
    let point = |index: u32| Some(surface.vertices().get(index as usize)?.to_vec3());
    edges
        .filter_map(|[start, end]| Some([point(start)?, point(end)?]))
        .collect()
}

/// Returns the outlines of the segments of a polyline with a margin, or `None` without a margin.
fn rounded_segments(surface: &SurfaceView<Vec2>) -> Option<Vec<LineSegment>> {
    let margin = surface.margin();
    let segments = surface.facets().filter_map(|facet| {
        let ends = facet
            .iter()
            .map(|index| surface.vertices().get(*index as usize).copied());
        let ends: Vec<Vec2> = ends.collect::<Option<_>>()?;
        Some(outline(&Rounded::new(ends.as_slice(), margin), false))
    });
    (margin > 0.0).then(|| segments.flatten().collect())
}

fn of_convex_2d(shape: ConvexView<Vec2>) -> Vec<LineSegment> {
    if let Some(grid) = GroundGrid::unit(&shape) {
        return grid.lines();
    }
    outline(&shape, is_polytope(&shape))
}

/// Returns the outline of a 2D shape.
fn outline(shape: &impl Support<Vector = Vec2>, is_polygon: bool) -> Vec<LineSegment> {
    let lines = silhouette(shape, &ProjectionPlane::of_axes(0, 1), is_polygon);
    let lines = lines.into_iter();
    lines.map(|line| line.map(Vec2::to_vec3)).collect()
}

fn of_convex_3d(shape: ConvexView<Vec3>) -> Vec<LineSegment> {
    let lines = match shape.shape() {
        Shape::HalfSpace { .. } => GroundGrid::unit(&shape).map(|grid| grid.lines()),
        _ if shape.margin() > 0.0 => None,
        Shape::Box { half_size } => Some(box_edges(-*half_size, *half_size)),
        Shape::Segment(points) => Some(vec![*points]),
        Shape::Triangle(points) => Some(all_pairs(points)),
        Shape::Tetrahedron(points) => Some(all_pairs(points)),
        Shape::Hull(hull) => hull.edges(),
        Shape::Extrusion { base, half_depth } => {
            Some(prism(of_convex_2d((&**base).into()), *half_depth))
        }
        Shape::Frustum {
            half_height,
            radius_top,
            radius_bottom,
        } => Some(frustum(*half_height, *radius_top, *radius_bottom)),
        _ => None,
    };
    lines.unwrap_or_else(|| silhouettes(&shape))
}

/// Returns `true` if the shape is the hull of its vertices.
fn is_polytope<V: Dimension>(shape: &ConvexView<V>) -> bool {
    let has_vertices = matches!(
        shape.shape(),
        Shape::Box { .. }
            | Shape::Diamond { .. }
            | Shape::Segment(_)
            | Shape::Triangle(_)
            | Shape::Tetrahedron(_)
            | Shape::Hull(_)
    );
    has_vertices && shape.margin() <= 0.0
}

/// Returns the outlines of a shape along the three axes. If a face or an edge is parallel to an
/// axis, the shape has two outlines along this axis: the rims of both ends.
fn silhouettes(shape: &ConvexView<Vec3>) -> Vec<LineSegment> {
    let is_polytope = is_polytope(shape);
    let outlines = [[0, 1, 2], [1, 2, 0], [2, 0, 1]].map(|[right, up, axis]| {
        let view = |sign| ProjectionPlane::<DVec3>::of_axes(right, up).tilted(axis, sign);
        let [mut near, far] = [1.0, -1.0].map(|sign| silhouette(shape, &view(sign), is_polytope));
        if !are_near(&near, &far) {
            near.extend(far);
        }
        near
    });
    outlines.into_iter().flatten().collect()
}

/// Points of outlines are equal if they differ by at most this fraction of the outline's size:
/// about eight rounding errors of f32.
const SAME_POINT: f32 = 1e-6;

/// Returns `true` if two outlines differ only by rounding.
fn are_near(a: &[LineSegment], b: &[LineSegment]) -> bool {
    let size = a
        .iter()
        .flatten()
        .fold(0.0, |size: f32, point| size.max(point.length()));
    let mut pairs = a.iter().flatten().zip(b.iter().flatten());
    a.len() == b.len() && pairs.all(|(a, b)| a.distance(*b) <= SAME_POINT * size)
}

fn all_pairs(points: &[Vec3]) -> Vec<LineSegment> {
    let later = |index: usize| points.iter().skip(index + 1);
    let pairs = points.iter().enumerate();
    pairs
        .flat_map(|(index, start)| later(index).map(|end| [*start, *end]))
        .collect()
}

/// Returns the lines of a 2D outline at both ends of an extrusion, and lines between the ends.
fn prism(base: Vec<LineSegment>, half_depth: f32) -> Vec<LineSegment> {
    let depth = Vec3::Z * half_depth;
    let step = (base.len() / 4).max(1);
    let mut lines = Vec::new();
    let befores = base.iter().cycle().skip(base.len().saturating_sub(1));
    for (index, ([start, end], [before, _])) in base.iter().zip(befores).enumerate() {
        let (start, end) = (*start, *end);
        lines.extend([[start - depth, end - depth], [start + depth, end + depth]]);
        // Lines along z are drawn at corners, and at a few points of a curve.
        let turn = (start - *before).angle_between(end - start);
        if turn > MAX_TURN || index % step == 0 {
            lines.push([start - depth, start + depth]);
        }
    }
    lines
}

/// Returns the rims and some sides of a cylinder, a cone or a conical frustum.
fn frustum(half_height: f32, radius_top: f32, radius_bottom: f32) -> Vec<LineSegment> {
    let ends = [(radius_top, half_height), (radius_bottom, -half_height)];
    let point = |number: u16, (radius, height): (f32, f32)| {
        let (sine, cosine) = (TAU * f32::from(number) / f32::from(RIM)).sin_cos();
        Vec3::new(radius * cosine, height, radius * sine)
    };
    let rims = ends.into_iter().filter(|(radius, _)| *radius > 0.0);
    let rims = rims.flat_map(|end| (0..RIM).map(move |i| [point(i, end), point(i + 1, end)]));
    let sides = (0..RIM).step_by(usize::from(RIM / SIDES));
    rims.chain(sides.map(|number| ends.map(|end| point(number, end))))
        .collect()
}
