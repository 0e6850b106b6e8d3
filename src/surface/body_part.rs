//! A part of a body, and the facets near it.

use core::ops::Range;

use crate::{
    placed::Part,
    shape::{BoundaryPoint, Bounds, Facet, Support, balls_in},
    space::{DVector, Space},
};

/// The neighborhood of a part: the intersection of the two balls of [`balls_in`], grown by a
/// margin.
pub struct Neighborhood<D> {
    pub balls: [(D, f64); 2],
}

impl<D: DVector> Neighborhood<D> {
    /// Returns the neighborhood of a part, with centers relative to `origin`. `margin` is added to
    /// each radius.
    pub fn new<V: Space<DVec = D>>(part: &Part<V>, origin: D, margin: f64) -> Self {
        let pose = part.world_pose.pose();
        let balls = balls_in(&part.scaled_shape()).map(|(center, radius)| {
            let center = pose.rotation * center + pose.translation;
            (center - origin, radius + margin)
        });
        Self { balls }
    }

    /// Returns the vertices of a facet that are in the neighborhood. In 3D, also returns the point
    /// of each edge that is nearest to the first ball's center. Leaves out this point if it is a
    /// vertex or outside the neighborhood.
    pub fn boundary_points<'a>(
        &'a self,
        facet: &'a Facet<D>,
    ) -> impl Iterator<Item = BoundaryPoint<D>> + 'a {
        let [(middle, _), _] = self.balls;
        let contains = move |point: D| self.includes(|center| (point - center).length());
        facet.boundary_points().filter_map(move |point| {
            let nearest = facet.nearest_on_edge(&point, middle);
            let is_end = !point.is_vertex() && facet.edge_ends(&point).contains(&nearest);
            (contains(nearest) && !is_end).then(|| point.moved_to(nearest))
        })
    }

    /// Returns `true` if an object overlaps each of the two balls. `distance` returns the object's
    /// distance from a point.
    pub fn includes(&self, distance: impl Fn(D) -> f64) -> bool {
        let mut balls = self.balls.iter();
        balls.all(|(center, radius)| distance(*center) <= *radius)
    }

    /// Returns the box around the first ball.
    pub fn bounds(&self, origin: D) -> Bounds<D> {
        let [(center, radius), _] = self.balls;
        let half_size = D::ONE * radius;
        Bounds {
            min: origin + center - half_size,
            max: origin + center + half_size,
        }
    }
}

/// A facet near a part of a body.
#[derive(Clone, Debug)]
pub struct NearFacet<D: DVector> {
    pub index: u32,
    pub facet: Facet<D>,
    /// `true` if the surface is one-sided and the body's center is behind the facet.
    pub is_hidden: bool,
}

/// A part of a body, with its neighborhood and the facets in the neighborhood.
pub struct BodyPart<'a, V: Space> {
    pub index: u32,
    pub part: Part<'a, V>,
    /// The translation of the surface.
    pub origin: V::DVec,
    /// The radius of the facets.
    pub margin: f64,
    pub neighborhood: Neighborhood<V::DVec>,
    /// The range of the facets near the part in [`PushOutLists::near`](super::PushOutLists::near).
    pub near: Range<usize>,
}

impl<V: Space> BodyPart<'_, V> {
    /// Returns the core's lowest point along a normal, relative to the surface's translation.
    pub fn lowest(&self, normal: V::DVec) -> V::DVec {
        let pose = self.part.world_pose.pose();
        let lowest = self.part.scaled_shape().lowest(pose.rotation, normal);
        lowest + pose.translation - self.origin
    }

    /// Returns the sum of the radii of the part and the facets.
    pub fn radius(&self) -> f64 {
        self.part.scaled_shape().radius() + self.margin
    }
}
