//! Rays against colliders.
//!
//! Spatial queries call [`ray_at_collider`] for the first hit, and [`visit_ray_at_collider`] for
//! the hits on all parts. [`query::cast_ray`](crate::query::cast_ray) calls
//! [`ray_at_shape_in_pose`].
//!
//! A ray is mapped into the frame of a collider. The parameter of a point on the ray is the point's
//! distance from the origin of the ray, measured in the world. The map does not change this
//! parameter. In this frame, the tree of a compound finds the parts near the ray, and
//! `shape/cells/cell_path.rs` the faces of solid cells. If a scale flattens a collider, the inverse
//! map does not exist, so all parts are tested in the world.

#[cfg(test)]
mod tests;

use crate::{
    placed::{PlacedBody, PlacedCollider},
    query::{LocalHit, LocalRay, RaySide, WorldRay, WorldRayHit, ray_at_shape},
    shape::{
        ColliderShape, Compound, CompoundParts, FacetLine, Line, ScaledShape, Shape, ShapeInfo,
        SolidElement, Surface, WorldPose, facet_contains, facet_normal,
    },
    space::{DVector, Space},
    tolerance::{ROUNDING, TANGENTIAL, TOUCHING},
};

/// A ray that begins at an edge leaves a union of cells if a point ahead of the origin is outside.
/// The distance from the origin to this point is this multiple of the tolerance of the origin.
const PROBE: f64 = 4.0;

/// Returns the first hit of a ray in the world on a collider. If several parts are equally near,
/// the part with the smallest index is hit.
pub(crate) fn ray_at_collider<V: Space>(
    placed: &PlacedCollider<V>,
    ray: &WorldRay<V::DVec>,
) -> Option<WorldRayHit<V::DVec>> {
    let mut first = None;
    visit_ray_at_collider(placed, ray, |hit| keep_first(&mut first, hit));
    first
}

/// Returns the first hit of a ray in the world on a shape in a pose: see [`ray_at_collider`].
/// Returns `None` if the shape touches nothing in this pose.
pub(crate) fn ray_at_shape_in_pose<V: Space>(
    shape: &ColliderShape<V>,
    pose: &WorldPose<V::DVec>,
    ray: &WorldRay<V::DVec>,
) -> Option<WorldRayHit<V::DVec>> {
    let ColliderShape::Compound(compound) = shape else {
        return ray_at_collider(&PlacedCollider::touching(shape, *pose)?, ray);
    };
    // A compound is placed only to check whether it is valid, because a ray does not need the
    // placed compound. A small surface is always valid, and placing it would take as long as a
    // short ray.
    if !PlacedCollider::is_small(compound, pose) {
        PlacedCollider::touching(shape, *pose)?;
    }
    let mut first = None;
    visit_ray_at_compound(compound, pose, ray, |hit| keep_first(&mut first, hit));
    first
}

/// Replaces `first` by a hit, unless `first` is nearer, or equally near on an earlier part. Returns
/// the distance of the first hit.
#[inline]
fn keep_first<D: DVector>(first: &mut Option<WorldRayHit<D>>, hit: WorldRayHit<D>) -> f64 {
    if let Some(first) = first
        && (first.distance, first.part) < (hit.distance, hit.part)
    {
        return first.distance;
    }
    let distance = hit.distance;
    *first = Some(hit);
    distance
}

/// Calls `visit` with the first hit of a ray on each part of a collider, in any order. `visit`
/// returns the new maximum distance, and is not called for hits beyond this distance. A negative
/// distance ends the visits.
pub(crate) fn visit_ray_at_collider<V: Space>(
    placed: &PlacedCollider<V>,
    ray: &WorldRay<V::DVec>,
    mut visit: impl FnMut(WorldRayHit<V::DVec>) -> f64,
) {
    let pose = &placed.world_pose;
    let shape = match placed.body() {
        PlacedBody::Compound(compound, _) => {
            return visit_ray_at_compound(compound, pose, ray, |hit| {
                let part = placed.own_part(hit.part);
                visit(WorldRayHit { part, ..hit })
            });
        }
        PlacedBody::Convex(shape) => shape,
    };
    let hit = match pose.inverse_linear() {
        Some(inverse) => {
            let local = ray.mapped(inverse, pose.translation);
            let hit = local.first_hit(shape, 0.0, &rounding_of(ray, inverse));
            hit.and_then(|hit| in_world(ray, inverse, &hit, 0))
        }
        None => at_flattened(shape, 0.0, pose, ray),
    };
    if let Some(hit) = hit {
        visit(hit);
    }
}

/// Does the same as [`visit_ray_at_collider`] for a compound in a pose.
fn visit_ray_at_compound<V: Space>(
    compound: &Compound<V>,
    pose: &WorldPose<V::DVec>,
    ray: &WorldRay<V::DVec>,
    mut visit: impl FnMut(WorldRayHit<V::DVec>) -> f64,
) {
    match pose.inverse_linear() {
        Some(inverse) => {
            let mut local = ray.mapped(inverse, pose.translation);
            let rounding = rounding_of(ray, inverse);
            match start_in_solid(compound, &local, &rounding) {
                Some(Start::Inside(hit, part, element)) if compound.owns_element(element) => {
                    if let Some(hit) = in_world(ray, inverse, &hit, part) {
                        visit(hit);
                    }
                    return;
                }
                // Another member of the ground has the hit.
                Some(Start::Inside(..)) => {}
                Some(Start::Leaving(origin)) => local.line.origin = origin,
                None => {}
            }
            let centered = compound.centered(&local.line);
            let (shift, line) = match &centered {
                Some((shift, line)) => (*shift, line),
                None => (0.0, &local.line),
            };
            let mut max = ray.max;
            let mut add = |max: &mut f64, hit: Option<LocalHit<_>>, part| {
                if let Some(hit) = hit.and_then(|hit| in_world(ray, inverse, &hit, part)) {
                    *max = visit(hit);
                }
                *max
            };
            let rule = FacetRule::of(compound, ray.hollow);
            match compound.parts() {
                (CompoundParts::Surface(surface), 0.0) => {
                    let facets = FacetLine::new(line);
                    compound.along(line, shift, ray.max, ray.hollow, |index, corners| {
                        let corners = corners.or_else(|| surface.corners(index));
                        let hit = corners.and_then(|corners| {
                            let corners = corners.map(V::to_f64);
                            let corners = corners.get(..V::DVec::DIMENSION).unwrap_or_default();
                            let t = facets.crossing(corners)? + shift;
                            if !compound.owns(index) {
                                return None;
                            }
                            let rule = rule.at(surface, index);
                            at_facet(corners, t, &local.line, max, rule, &rounding)
                                .filter(|_| t >= 0.0 || enters(compound, &local.line, &rounding))
                        });
                        add(&mut max, hit, index)
                    });
                }
                _ => compound.along(line, shift, ray.max, ray.hollow, |index, _| {
                    let hit = at_part(compound, index, &LocalRay { max, ..local }, &rounding);
                    let hit = hit.filter(|_| compound.owns(index));
                    add(&mut max, hit, index)
                }),
            }
        }
        None => {
            let mut ray = *ray;
            for index in 0..compound.len() {
                if let Some(hit) = at_flattened_part(compound, index, pose, &ray) {
                    ray.max = visit(WorldRayHit { part: index, ..hit });
                }
            }
        }
    }
}

/// The rule for the hits of a ray on facets.
#[derive(Clone, Copy)]
enum FacetRule {
    TwoSided,
    OneSided,
    /// The facets are the faces of a solid. A hollow ray hits the backs of the faces.
    Solid {
        hollow: bool,
    },
}

impl FacetRule {
    fn of<V: Space>(compound: &Compound<V>, hollow: bool) -> Self {
        if solid_of(compound).is_some() {
            Self::Solid { hollow }
        } else if compound.is_one_sided() {
            Self::OneSided
        } else {
            Self::TwoSided
        }
    }

    /// Returns the rule for one facet. A ledge is not a face of a solid, so only its outer side is
    /// hit.
    fn at<V: Space>(self, surface: &Surface<V>, facet: u32) -> Self {
        match self {
            Self::Solid { hollow: true } if is_ledge(surface, facet) => Self::OneSided,
            rule => rule,
        }
    }

    fn skips_backs(self) -> bool {
        matches!(self, Self::OneSided | Self::Solid { hollow: false })
    }
}

/// Returns the surface if its facets are the faces of a solid.
fn solid_of<V: Space>(compound: &Compound<V>) -> Option<&Surface<V>> {
    compound.surface().filter(|surface| surface.is_solid())
}

fn is_ledge<V: Space>(surface: &Surface<V>, facet: u32) -> bool {
    let cells = surface.cells();
    cells.is_some_and(|cells| cells.ledge(facet).is_some())
}

/// The start of a ray inside a union.
enum Start<D: DVector> {
    /// The hit at distance 0, and the index of a facet: the facet at the origin that the ray
    /// enters, or else the nearest facet. The element contains the origin.
    Inside(LocalHit<D>, u32, SolidElement),
    /// Rounding has placed the origin inside, but the ray leaves the union. The value is the origin
    /// moved out to the facets. From the old origin, a ray along a floor would pass below the walls
    /// that stand on the floor.
    Leaving(D),
}

/// Returns the start of a ray that begins inside a union. Returns `None` for other rays,
/// and for a hollow ray.
///
/// If an origin is meant to be on a facet, rounding may place the origin inside. If such a ray
/// points inward, it hits the facet. Otherwise, it leaves the union.
fn start_in_solid<V: Space>(
    compound: &Compound<V>,
    ray: &LocalRay<V::DVec>,
    rounding: &dyn Fn(V::DVec) -> f64,
) -> Option<Start<V::DVec>> {
    let surface = solid_of(compound).filter(|_| !ray.hollow)?;
    let Line { origin, direction } = ray.line;
    // Rounding the vertices to `f32` moves a face. So an origin between a face and the solid behind
    // it also counts as inside.
    let element = surface.element_around(origin, true)?;
    let far = surface.extent_around(origin);
    let reach = reach_of_origin(surface, origin, rounding);
    let mut entered: Option<(u32, V::DVec)> = None;
    let mut left: Option<V::DVec> = None;
    compound.near_point(origin, reach, |index| {
        let vertices = surface.facet_vertices(index).unwrap_or_default();
        if let Some(normal) = facet_normal(&vertices)
            && facet_contains(&vertices, origin, tolerance_at(&vertices, rounding))
            && !is_ledge(surface, index)
        {
            if !is_inward(normal, direction) {
                let moved = left.unwrap_or(origin);
                let unit = normal.unit().unwrap_or(V::DVec::ZERO);
                let start = vertices.first().copied().unwrap_or(moved);
                let depth = unit.dot(start - moved).max(0.0) + ROUNDING * far;
                left = Some(moved + unit * depth);
            } else if entered.is_none_or(|(other, _)| index < other) {
                entered = Some((index, normal));
            }
        }
    });
    // At an edge, the ray may leave across one facet, although it enters another facet.
    if let Some(origin) = left
        && (entered.is_none() || !enters(compound, &ray.line, rounding))
    {
        return Some(Start::Leaving(origin));
    }
    if entered.is_none() && surface.element_around(origin, false).is_none() {
        return None;
    }
    let (side, (index, normal)) = match entered {
        Some(entered) => (RaySide::Front, entered),
        None => (
            RaySide::Inside,
            (compound.nearest_facet(origin)?, V::DVec::ZERO),
        ),
    };
    let t = 0.0;
    Some(Start::Inside(LocalHit { t, normal, side }, index, element))
}

/// Returns the maximum distance from a ray's origin to a facet on which the origin counts as lying.
fn reach_of_origin<V: Space>(
    surface: &Surface<V>,
    origin: V::DVec,
    rounding: &dyn Fn(V::DVec) -> f64,
) -> f64 {
    let axes = (0..V::DVec::DIMENSION).map(V::DVec::axis);
    let touching = TOUCHING * surface.extent_around(origin);
    axes.fold(touching, |sum, axis| sum + rounding(axis))
}

/// Returns `true` unless a ray that begins on the faces of a union leaves the union: the
/// point ahead of the origin is outside.
fn enters<V: Space>(
    compound: &Compound<V>,
    line: &Line<V::DVec>,
    rounding: &dyn Fn(V::DVec) -> f64,
) -> bool {
    let Line { origin, direction } = *line;
    solid_of(compound).is_none_or(|surface| {
        let reach = reach_of_origin(surface, origin, rounding);
        let ahead = origin + direction * (PROBE * reach / direction.length());
        surface.element_around(ahead, false).is_some()
    })
}

/// Returns a function of a vector: the distance from a facet along the vector within which a point
/// counts as on the facet, times the length of the vector. `vertices` are the facet's vertices, and
/// `rounding` is the function [`rounding_of`] for the ray.
#[inline(always)]
fn tolerance_at<D: DVector>(vertices: &[D], rounding: impl Fn(D) -> f64) -> impl Fn(D) -> f64 {
    let extents = vertices.iter().map(|vertex| vertex.extent());
    let touching = TOUCHING * extents.fold(0.0, f64::max);
    move |vector| touching * vector.length() + rounding(vector)
}

/// Returns `true` if a direction points into the solid behind a facet, and not along the facet.
fn is_inward<D: DVector>(normal: D, direction: D) -> bool {
    normal.dot(direction) < -TANGENTIAL * normal.length() * direction.length()
}

/// Converts a hit in the frame of a collider to the world: normals are mapped by the inverse
/// transpose.
#[inline(always)]
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

/// Returns the first hit on a part of a compound, in the frame of the compound. `rounding` is the
/// function [`rounding_of`] for the ray.
fn at_part<V: Space>(
    compound: &Compound<V>,
    index: u32,
    ray: &LocalRay<V::DVec>,
    rounding: &dyn Fn(V::DVec) -> f64,
) -> Option<LocalHit<V::DVec>> {
    let (parts, margin) = compound.parts();
    let shapes = match parts {
        CompoundParts::Surface(surface) => {
            let rule = FacetRule::of(compound, ray.hollow).at(surface, index);
            return at_thick_facet(surface, margin, index, ray, rule, rounding);
        }
        CompoundParts::Shapes(shapes) => shapes,
    };
    let (pose, shape) = shapes.get(index as usize)?;
    let inverse = V::DVec::transpose(pose.rotation);
    let line = Line {
        origin: inverse * (ray.line.origin - pose.translation),
        direction: inverse * ray.line.direction,
    };
    let rounding = |normal| rounding(pose.rotation * normal);
    let hit = LocalRay { line, ..*ray }.first_hit(shape, margin, &rounding)?;
    let normal = pose.rotation * hit.normal;
    Some(LocalHit { normal, ..hit })
}

/// Returns the hit on a facet with a margin around it.
fn at_thick_facet<V: Space>(
    surface: &Surface<V>,
    margin: f32,
    index: u32,
    ray: &LocalRay<V::DVec>,
    rule: FacetRule,
    rounding: &dyn Fn(V::DVec) -> f64,
) -> Option<LocalHit<V::DVec>> {
    let normal = facet_normal(&surface.facet_vertices(index)?)?;
    let is_from_behind = normal.dot(ray.line.direction) >= 0.0;
    if rule.skips_backs() && is_from_behind {
        return None;
    }
    let hit = ray.first_hit(&surface.facet(index)?, margin, rounding)?;
    let side = match hit.side {
        RaySide::Front if is_from_behind => RaySide::Back,
        side => side,
    };
    Some(LocalHit { side, ..hit })
}

/// Returns the hit on a facet that a ray crosses at `t`, if `t` is at most `max`. The line of the
/// ray begins at the ray's origin.
///
/// A facet counts as a face of a solid shape. So a ray that begins on the facet hits the facet if
/// the ray points inward, but not if the ray points outward.
#[inline(always)]
fn at_facet<D: DVector>(
    vertices: &[D],
    t: f64,
    line: &Line<D>,
    max: f64,
    rule: FacetRule,
    rounding: &dyn Fn(D) -> f64,
) -> Option<LocalHit<D>> {
    let normal = facet_normal(vertices)?;
    let rate = normal.dot(line.direction);
    let side = if rate < 0.0 {
        RaySide::Front
    } else {
        RaySide::Back
    };
    let is_passed = rule.skips_backs() && side == RaySide::Back;
    if is_passed || rate == 0.0 || t > max {
        return None;
    }
    let tolerance = tolerance_at(vertices, rounding);
    if let FacetRule::Solid { hollow } = rule
        && side == RaySide::Front
        && (t * rate).abs() <= tolerance(normal)
    {
        // The ray begins on the surface of a solid, although rounding may place the origin inside.
        let is_hit = !hollow && is_inward(normal, line.direction);
        return is_hit.then_some(LocalHit {
            t: t.max(0.0),
            normal,
            side,
        });
    }
    if t.is_nan() || t < 0.0 {
        return None;
    }
    let leaves = side == RaySide::Back
        && t * rate <= tolerance(normal)
        && facet_contains(vertices, line.origin, &tolerance);
    (!leaves).then_some(LocalHit { t, normal, side })
}

/// Returns the hit on a part of a compound that the scale flattens.
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
        let rule = FacetRule::of(compound, ray.hollow).at(surface, index);
        let hit = at_facet(&vertices, t, &local.line, local.max, rule, &rounding)?;
        return in_world(ray, identity, &hit, index);
    }
    let (part_pose, shape) = compound.part(index)?;
    at_flattened(&*shape, margin, &pose.of_part(&part_pose), ray)
}

/// Returns the hit on a shape that the scale flattens.
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
