//! A part of a body, and the facets near it.

use core::ops::Range;

use crate::{
    pipeline::proxy::Part,
    shape::{BoundaryPoint, Bounds, Facet, Support, balls_in},
    space::{DVector, Space},
};

/// The neighbourhood of a part of a body: the intersection of two balls, no larger than what the
/// part can touch. See [`balls_in`].
pub struct Reach<D> {
    pub balls: [(D, f64); 2],
}

impl<D: DVector> Reach<D> {
    /// The balls of a part, relative to `origin`, grown by `margin`.
    pub fn of<V: Space<DVec = D>>(part: &Part<V>, origin: D, margin: f64) -> Self {
        let pose = part.world_pose.pose();
        let balls = balls_in(&part.scaled_shape()).map(|(centre, radius)| {
            let centre = pose.rotation * centre + pose.translation;
            (centre - origin, radius + margin)
        });
        Self { balls }
    }

    /// The corners of a facet that are in both balls, and the points of its edges nearest to the
    /// first ball's centre that are, if they are no corners.
    pub fn rims<'a>(&'a self, facet: &'a Facet<D>) -> impl Iterator<Item = BoundaryPoint<D>> + 'a {
        let [(middle, _), _] = self.balls;
        let has = move |point: D| self.includes(|centre| (point - centre).length());
        let rims = facet.boundary_points();
        rims.filter_map(move |rim| {
            let nearest = facet.nearest_on_edge(&rim, middle);
            let is_end = !rim.is_vertex() && facet.edge_ends(&rim).contains(&nearest);
            (has(nearest) && !is_end).then(|| rim.moved_to(nearest))
        })
    }

    /// Returns `true` if something is in both balls, by its distance from their centres.
    pub fn includes(&self, distance: impl Fn(D) -> f64) -> bool {
        let mut balls = self.balls.iter();
        balls.all(|(centre, radius)| distance(*centre) <= *radius)
    }

    /// A box around the first ball.
    pub fn bounds(&self, origin: D) -> Bounds<D> {
        let [(centre, radius), _] = self.balls;
        let reach = D::ONE * radius;
        Bounds {
            min: origin + centre - reach,
            max: origin + centre + reach,
        }
    }
}

/// A facet near a part of a body.
#[derive(Clone, Debug)]
pub struct NearFacet<D: DVector> {
    pub number: u32,
    pub facet: Facet<D>,
    /// `true` if the surface is one-sided and the centre is behind the facet.
    pub is_hidden: bool,
}

/// A part of a body, and what is near it.
pub struct BodyPart<'a, V: Space> {
    pub number: u32,
    pub part: Part<'a, V>,
    /// The translation of the surface.
    pub origin: V::DVec,
    /// The radius of the facets.
    pub margin: f64,
    pub reach: Reach<V::DVec>,
    /// The range of its facets in the list of near facets.
    pub near: Range<usize>,
}

impl<V: Space> BodyPart<'_, V> {
    /// The point of the core that is lowest along a normal, from the translation of the surface.
    pub fn lowest(&self, normal: V::DVec) -> V::DVec {
        let pose = self.part.world_pose.pose();
        let inner = -(V::DVec::transpose(pose.rotation) * normal);
        pose.rotation * self.part.scaled_shape().support(inner) + pose.translation - self.origin
    }

    /// The sum of the radii of the part and the facets.
    pub fn radius(&self) -> f64 {
        self.part.scaled_shape().radius() + self.margin
    }
}
