//! Draws the shapes on the left, and their Minkowski difference on the right.

use core::f64::consts::TAU;

use bevy::{math::DVec2, prelude::*};
use headbutt::{
    Support,
    query::steps::{EpaStep, GjkStep, Step, Vertex},
};

use crate::{
    A, B, Figure, Only, Progress,
    demo::{BLUE, FAINT, GRAY, GREEN, INK, ORANGE, RED},
    steps::{MOTION, Mode},
};

pub const PLANE: Color = Color::srgb(0.62, 0.83, 0.45);

/// The part of the screen for the Minkowski difference.
const REGION: Rect = Rect {
    min: Vec2::new(0.6, -3.9),
    max: Vec2::new(8.3, 2.3),
};

/// A map from the space of the Minkowski difference to [`REGION`].
struct View {
    scale: f32,
    offset: Vec2,
}

impl View {
    /// Returns a view that shows the origin and all points.
    fn fitting(points: impl Iterator<Item = DVec2>) -> Self {
        let (mut min, mut max) = (Vec2::ZERO, Vec2::ZERO);
        for point in points {
            (min, max) = (min.min(point.as_vec2()), max.max(point.as_vec2()));
        }
        let scale = (REGION.size() / (max - min)).min_element().min(1.0);
        let offset = REGION.center() - scale * 0.5 * (min + max);
        Self { scale, offset }
    }

    fn at(&self, point: DVec2) -> Vec2 {
        self.offset + self.scale * point.as_vec2()
    }
}

/// Draws the shapes, the support points, and in a cast the path of B.
pub fn world(a: Only<A>, b: Only<B>, progress: Res<Progress>, mut gizmos: Gizmos) {
    gizmos.line_2d(Vec2::new(0.0, -4.2), Vec2::new(0.0, 3.0), GRAY);
    outline(*a, Vec2::ZERO, BLUE, &mut gizmos);
    outline(*b, Vec2::ZERO, ORANGE, &mut gizmos);
    let Some(step) = progress.steps.get(progress.index) else {
        return;
    };
    let vertex = match step {
        Step::Gjk(step) => &step.vertex,
        Step::Epa(step) => &step.vertex,
        Step::Cast { interval, gjk } => {
            let start = b.1.translation.truncate();
            gizmos
                .arrow_2d(start, start + MOTION, FAINT)
                .with_tip_length(0.2);
            for (time, color) in interval.iter().zip([GREEN, RED]).filter(|it| *it.0 <= 1.0) {
                outline(*b, MOTION * *time as f32, color, &mut gizmos);
            }
            &gjk.vertex
        }
    };
    arrow(vertex.first.as_vec2(), vertex.direction, &mut gizmos);
    arrow(vertex.second.as_vec2(), -vertex.direction, &mut gizmos);
}

/// Draws the Minkowski difference, and the current step in it.
pub fn difference(a: Only<A>, b: Only<B>, progress: Res<Progress>, mut gizmos: Gizmos) {
    let radius = a.0.0.radius() + b.0.0.radius();
    let core = || directions().map(|side| support(*a, side) - support(*b, -side));
    let rounded = || {
        core()
            .zip(directions())
            .map(|(point, side)| point + radius * side)
    };
    let path = match progress.mode {
        Mode::Cast => MOTION.as_dvec2(),
        Mode::Distance | Mode::Contact => DVec2::ZERO,
    };
    let view = View::fitting(rounded().chain([path]));
    let origin = view.at(DVec2::ZERO);
    for (start, end) in [(REGION.min, REGION.max), (REGION.max, REGION.min)] {
        gizmos.line_2d(origin, Vec2::new(start.x, origin.y), GRAY);
        gizmos.line_2d(origin, Vec2::new(origin.x, end.y), GRAY);
    }
    gizmos.linestrip_2d(core().map(|point| view.at(point)), INK.with_alpha(0.5));
    gizmos.linestrip_2d(rounded().map(|point| view.at(point)), INK.with_alpha(0.2));
    dot(origin, INK, &mut gizmos);
    match progress.steps.get(progress.index) {
        None => {}
        Some(Step::Gjk(step)) => gjk(step, &view, &mut gizmos),
        Some(Step::Epa(step)) => epa(step, &view, &mut gizmos),
        Some(Step::Cast {
            interval,
            gjk: step,
        }) => {
            gizmos
                .arrow_2d(origin, view.at(path), FAINT)
                .with_tip_length(0.2);
            gjk(step, &view, &mut gizmos);
            dot(view.at(step.target), GREEN, &mut gizmos);
            dot(view.at(path * interval[1].min(1.0)), RED, &mut gizmos);
        }
    }
}

/// Draws the simplex, its nearest point to the target, and the support point.
fn gjk(step: &GjkStep<DVec2>, view: &View, gizmos: &mut Gizmos) {
    let corners = || step.simplex.iter().map(|vertex| view.at(vertex.point));
    gizmos.linestrip_2d(corners().chain(corners().next()), BLUE);
    corners().for_each(|corner| dot(corner, BLUE, gizmos));
    gizmos.line_2d(view.at(step.target), view.at(step.nearest), RED);
    dot(view.at(step.nearest), RED, gizmos);
    support_point(&step.vertex, view, gizmos);
}

/// Draws the polytope with its nearest edge, and the support point.
fn epa(step: &EpaStep<DVec2>, view: &View, gizmos: &mut Gizmos) {
    let corners: Vec<Vec2> = step
        .vertices
        .iter()
        .map(|vertex| view.at(vertex.point))
        .collect();
    for edge in step.facets.iter().chain(&step.nearest) {
        let [start, end, _] = edge.vertices.map(|index| corners[usize::from(index)]);
        let is_nearest = step
            .nearest
            .is_some_and(|nearest| nearest.index == edge.index);
        gizmos.line_2d(start, end, if is_nearest { RED } else { BLUE });
    }
    for corner in corners {
        dot(corner, BLUE, gizmos);
    }
    if let Some(edge) = &step.nearest {
        gizmos.line_2d(
            view.at(DVec2::ZERO),
            view.at(edge.normal * edge.distance),
            RED,
        );
    }
    support_point(&step.vertex, view, gizmos);
}

/// Draws a support point with its direction and its plane.
fn support_point(vertex: &Vertex<DVec2>, view: &View, gizmos: &mut Gizmos) {
    let point = view.at(vertex.point);
    let along = 0.8 * vertex.direction.normalize().as_vec2().perp();
    gizmos.line_2d(point - along, point + along, PLANE);
    arrow(point, vertex.direction, gizmos);
}

fn arrow(point: Vec2, direction: DVec2, gizmos: &mut Gizmos) {
    gizmos.arrow_2d(point, point + 0.8 * direction.normalize().as_vec2(), GREEN);
    dot(point, GREEN, gizmos);
}

fn dot(point: Vec2, color: Color, gizmos: &mut Gizmos) {
    for radius in [0.02, 0.045, 0.07] {
        gizmos.circle_2d(point, radius, color);
    }
}

fn outline(shape: (&Figure, &Transform), moved: Vec2, color: Color, gizmos: &mut Gizmos) {
    let radius = shape.0.0.radius();
    let point = |side| (support(shape, side) + radius * side).as_vec2() + moved;
    gizmos.linestrip_2d(directions().map(point), color);
}

fn directions() -> impl Iterator<Item = DVec2> {
    (0..=360).map(|degree| DVec2::from_angle(f64::from(degree) / 360.0 * TAU))
}

/// Returns a support point of a shape's core in the world.
fn support((figure, pose): (&Figure, &Transform), direction: DVec2) -> DVec2 {
    let axis = pose.right().truncate().as_dvec2();
    let inner = DVec2::new(axis.x, -axis.y).rotate(direction);
    axis.rotate(figure.0.support(inner)) + pose.translation.truncate().as_dvec2()
}
