//! Rays against colliders.
//!
//! A ray is mapped into the frame of a collider, in which all lengths along the ray keep their
//! values. In this frame, the tree of a compound finds the parts near the ray. If a scale flattens
//! a collider, there is no such frame: all of its parts are tested in the world.

#[cfg(test)]
mod tests;

use crate::{
    placed::{PlacedBody, PlacedCollider},
    query::{LocalHit, LocalRay, RaySide, WorldRay, WorldRayHit, ray_at_shape},
    shape::{
        Compound, CompoundParts, FacetLine, Line, ScaledShape, Shape, ShapeInfo, Surface,
        WorldPose, facet_contains, facet_normal,
    },
    space::{DVector, Space},
    tolerance::TOUCHING,
};

/// Returns the first hit of a ray in the world on a collider. If several parts are equally near,
/// the part with the smallest index is hit.
pub(crate) fn ray_at_collider<V: Space>(
    placed: &PlacedCollider<V>,
    ray: &WorldRay<V::DVec>,
) -> Option<WorldRayHit<V::DVec>> {
    let mut first: Option<WorldRayHit<V::DVec>> = None;
    visit_ray_at_collider(placed, ray, &mut |hit| {
        let is_later =
            first.is_some_and(|first| (first.distance, first.part) < (hit.distance, hit.part));
        if !is_later {
            first = Some(hit);
        }
        first.map_or(hit.distance, |first| first.distance)
    });
    first
}

/// Calls `visit` with the first hit of a ray on each part of a collider, in any order. `visit`
/// returns the new maximum distance, and is not called for hits beyond this distance. A negative
/// distance ends the visits.
pub(crate) fn visit_ray_at_collider<V: Space>(
    placed: &PlacedCollider<V>,
    ray: &WorldRay<V::DVec>,
    visit: &mut dyn FnMut(WorldRayHit<V::DVec>) -> f64,
) {
    let pose = &placed.world_pose;
    match (placed.body(), pose.inverse_linear()) {
        (PlacedBody::Convex(shape), Some(inverse)) => {
            let local = ray.mapped(inverse, pose.translation);
            let hit = local.first_hit(shape, 0.0, &rounding_of(ray, inverse));
            if let Some(hit) = hit.and_then(|hit| in_world(ray, inverse, &hit, 0)) {
                visit(hit);
            }
        }
        (PlacedBody::Convex(shape), None) => {
            if let Some(hit) = at_flattened(shape, 0.0, pose, ray) {
                visit(hit);
            }
        }
        (PlacedBody::Compound(compound, _), Some(inverse)) => {
            let mut local = ray.mapped(inverse, pose.translation);
            let line = local.line;
            let rounding = rounding_of(ray, inverse);
            let parts = PartRays::new(compound, &line, &rounding);
            compound.along(&line, ray.max, |part| {
                let hit = parts.first_hit(&local, part);
                if let Some(hit) = hit.and_then(|hit| in_world(ray, inverse, &hit, part)) {
                    local.max = visit(hit);
                }
                local.max
            });
        }
        (PlacedBody::Compound(compound, _), None) => {
            let mut ray = *ray;
            for index in 0..compound.len() {
                if let Some(hit) = at_flattened_part(compound, index, pose, &ray) {
                    ray.max = visit(WorldRayHit { part: index, ..hit });
                }
            }
        }
    }
}

/// Converts a hit in the frame of a collider to the world: normals are mapped by the inverse
/// transpose.
fn in_world<D: DVector>(
    ray: &WorldRay<D>,
    inverse: D::Matrix,
    hit: &LocalHit<D>,
    part: u32,
) -> Option<WorldRayHit<D>> {
    ray.hit_of_local(hit, D::transpose(inverse) * hit.normal, part)
}

/// Returns [`WorldRay::rounding_along`] as a function of normals in the frame of a collider.
fn rounding_of<D: DVector>(ray: &WorldRay<D>, inverse: D::Matrix) -> impl Fn(D) -> f64 {
    move |normal| ray.rounding_along(D::transpose(inverse) * normal)
}

/// A ray against the parts of a compound, in the frame of the compound.
struct PartRays<'a, V: Space> {
    compound: &'a Compound<V>,
    margin: f32,
    /// The t at which the line is nearest to the center. `facets` has the line from this point,
    /// where its coordinates are small.
    shift: f64,
    facets: FacetLine<V::DVec>,
    /// The function [`rounding_of`] for the ray in the frame of the compound.
    rounding: &'a dyn Fn(V::DVec) -> f64,
}

impl<'a, V: Space> PartRays<'a, V> {
    fn new(
        compound: &'a Compound<V>,
        line: &Line<V::DVec>,
        rounding: &'a dyn Fn(V::DVec) -> f64,
    ) -> Self {
        let (shift, line) = line.centered(compound.center());
        Self {
            compound,
            margin: compound.parts().1,
            shift,
            facets: FacetLine::new(&line),
            rounding,
        }
    }

    /// Returns the first hit on a part.
    fn first_hit(&self, ray: &LocalRay<V::DVec>, index: u32) -> Option<LocalHit<V::DVec>> {
        let one_sided = self.compound.is_one_sided();
        match self.compound.parts().0 {
            CompoundParts::Surface(surface) if self.margin == 0.0 => {
                let t = surface.crossing(index, &self.facets)? + self.shift;
                let vertices = surface.facet_vertices(index)?;
                at_facet(&vertices, t, ray, one_sided, self.rounding)
            }
            CompoundParts::Surface(surface) => self.at_thick_facet(surface, index, ray),
            CompoundParts::Shapes(shapes) => {
                let (pose, shape) = shapes.get(index as usize)?;
                let inverse = V::DVec::transpose(pose.rotation);
                let line = Line {
                    origin: inverse * (ray.line.origin - pose.translation),
                    direction: inverse * ray.line.direction,
                };
                let rounding = |normal| (self.rounding)(pose.rotation * normal);
                let hit = LocalRay { line, ..*ray }.first_hit(shape, self.margin, &rounding)?;
                let normal = pose.rotation * hit.normal;
                Some(LocalHit { normal, ..hit })
            }
        }
    }

    /// Returns the hit on a facet with a margin around it.
    fn at_thick_facet(
        &self,
        surface: &Surface<V>,
        index: u32,
        ray: &LocalRay<V::DVec>,
    ) -> Option<LocalHit<V::DVec>> {
        let normal = facet_normal(&surface.facet_vertices(index)?)?;
        let is_from_behind = normal.dot(ray.line.direction) >= 0.0;
        if self.compound.is_one_sided() && is_from_behind {
            return None;
        }
        let hit = ray.first_hit(&surface.facet(index)?, self.margin, self.rounding)?;
        let side = match hit.side {
            RaySide::Front if is_from_behind => RaySide::Back,
            side => side,
        };
        Some(LocalHit { side, ..hit })
    }
}

/// Returns the hit on a facet that the ray's line crosses at `t`.
///
/// A ray enters and leaves a facet like the surface of a solid shape. A ray that begins on the
/// facet hits it if the ray leads inward, but not if it leads outward.
fn at_facet<D: DVector>(
    vertices: &[D],
    t: f64,
    ray: &LocalRay<D>,
    one_sided: bool,
    rounding: &dyn Fn(D) -> f64,
) -> Option<LocalHit<D>> {
    let normal = facet_normal(vertices)?;
    let rate = normal.dot(ray.line.direction);
    let side = if rate < 0.0 {
        RaySide::Front
    } else {
        RaySide::Back
    };
    let is_passed = one_sided && side == RaySide::Back;
    if is_passed || rate == 0.0 || !(0.0..=ray.max).contains(&t) {
        return None;
    }
    let extents = vertices.iter().map(|vertex| vertex.extent());
    let touching = TOUCHING * extents.fold(0.0, f64::max);
    let tolerance = |vector: D| touching * vector.length() + rounding(vector);
    let leaves = side == RaySide::Back
        && t * rate <= tolerance(normal)
        && facet_contains(vertices, ray.line.origin, tolerance);
    (!leaves).then_some(LocalHit { t, normal, side })
}

/// Returns the hit on a part of a compound that is flattened by its scale.
fn at_flattened_part<V: Space>(
    compound: &Compound<V>,
    index: u32,
    pose: &WorldPose<V::DVec>,
    ray: &WorldRay<V::DVec>,
) -> Option<WorldRayHit<V::DVec>> {
    let (parts, margin) = compound.parts();
    if let CompoundParts::Surface(surface) = parts
        && margin == 0.0
    {
        let (linear, identity) = (pose.linear(), V::DVec::IDENTITY);
        let mut vertices = surface.facet_vertices(index)?;
        for vertex in &mut vertices {
            *vertex = linear * *vertex;
        }
        let local = ray.mapped(identity, pose.translation);
        let (shift, line) = local.line.centered(V::DVec::ZERO);
        let t = FacetLine::new(&line).crossing(&vertices)? + shift;
        let rounding = rounding_of(ray, identity);
        let hit = at_facet(&vertices, t, &local, compound.is_one_sided(), &rounding)?;
        return in_world(ray, identity, &hit, index);
    }
    let (part_pose, shape) = compound.part(index)?;
    at_flattened(&*shape, margin, &pose.of_part(&part_pose), ray)
}

/// Returns the hit on a shape that is flattened by its scale.
fn at_flattened<V: Space>(
    shape: &Shape<V>,
    margin: f32,
    pose: &WorldPose<V::DVec>,
    ray: &WorldRay<V::DVec>,
) -> Option<WorldRayHit<V::DVec>> {
    let info = ShapeInfo::of(shape).with_margin(margin.into());
    let scaled = ScaledShape::new(shape, &info, pose.scale());
    ray_at_shape(&scaled, &pose.pose(), ray)
}
