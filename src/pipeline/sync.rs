//! First stage: what collides in this tick, and where it is.

use std::borrow::Cow;

use bevy::{
    ecs::entity::{EntityHashMap, EntityHashSet},
    prelude::*,
};

use super::place::{Affine, Placement, affine_of, place};
use crate::{
    collider::Collider,
    layers::CollisionLayers,
    math::{Vec2, Vec3},
    query::tolerance::TOUCHING,
    shape::{
        AnyBody, Body, Bounds, HalfSpace, Image, Map, Shape, ShapeError, Support, Surroundings,
    },
    space::{Pose, Space, Wide},
};

/// A collider as the stages after this one see it.
#[derive(Clone, Debug)]
pub struct Proxy<V: Space> {
    pub entity: Entity,
    pub layers: CollisionLayers,
    pub pose: Pose<V::Wide>,
    /// Where it is in the world, with room for what counts as touching.
    pub extent: Extent<V::Wide>,
    pub body: Body<V>,
    map: Map<V::Wide>,
}

/// A convex part of a proxy, where it is.
pub struct Part<'a, V: Space> {
    /// 0 for what has but one.
    pub number: u32,
    /// Where it is in the world.
    pub extent: Extent<V::Wide>,
    pub pose: Pose<V::Wide>,
    shape: Cow<'a, Shape<V>>,
    map: Map<V::Wide>,
}

impl<V: Space> Part<'_, V> {
    /// The shape, scaled, in the frame of `pose`.
    pub fn image(&self) -> Image<'_, Shape<V>> {
        Image::new(&self.shape, self.map)
    }
}

/// Where in the world a proxy can be met.
#[derive(Clone, Copy, Debug)]
pub enum Extent<W> {
    /// In a box around the shape.
    Box(Bounds<W>),
    /// In a half-space, told along the world's axes, but from the translation of the pose: exact far from the origin.
    HalfSpace(HalfSpace<W>),
}

impl<W: Wide> Extent<W> {
    /// The middle of the box; of a half-space a point at its border.
    pub fn centre(&self, origin: W) -> W {
        match self {
            Self::Box(bounds) => (bounds.min + bounds.max) * 0.5,
            Self::HalfSpace(half_space) => origin + half_space.normal * half_space.offset,
        }
    }

    /// Whether two boxes have no point in common.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Box(a), Self::Box(b)) => !a.overlaps(b),
            _ => false,
        }
    }

    /// The box, if it is one.
    pub fn bounds(&self) -> Option<&Bounds<W>> {
        match self {
            Self::Box(bounds) => Some(bounds),
            Self::HalfSpace(_) => None,
        }
    }

    /// The half-space, if it is one.
    pub fn half_space(&self) -> Option<&HalfSpace<W>> {
        match self {
            Self::Box(_) => None,
            Self::HalfSpace(half_space) => Some(half_space),
        }
    }
}

impl<V: Space> Proxy<V> {
    /// Calls `visit` with the number of each part that may have a point within an extent, in the world.
    pub fn parts_near(&self, extent: &Extent<V::Wide>, mut visit: impl FnMut(u32)) {
        let Body::Compound(compound) = &self.body else {
            return visit(0);
        };
        // A flattened compound has no frame to look from, and a half-space no end.
        let (Some(inverse), Some(bounds)) = (V::Wide::inverse(self.linear()), extent.bounds())
        else {
            return (0..compound.len()).for_each(visit);
        };
        let local = bounds.mapped(inverse, -(inverse * self.pose.translation));
        compound.near(&local, visit);
    }

    /// A part by its number.
    pub fn part(&self, number: u32) -> Option<Part<'_, V>> {
        match &self.body {
            Body::Convex(shape) => Some(Part {
                number,
                extent: self.extent,
                pose: self.pose,
                shape: Cow::Borrowed(shape),
                map: self.map,
            }),
            Body::Compound(compound) => {
                let (place, shape) = compound.part(number)?;
                // M (R x + t) = (M R) x + M t: a factor stays one, and any other map takes the rotation in.
                let (map, pose) = match self.map {
                    Map::Uniform(factor) => {
                        let scaled = Pose {
                            translation: place.translation * factor,
                            ..place
                        };
                        (self.map, self.pose.after(&scaled))
                    }
                    Map::Linear(matrix) => {
                        let moved = Pose {
                            rotation: V::Wide::IDENTITY,
                            translation: matrix * place.translation,
                        };
                        (
                            Map::Linear(matrix * place.rotation),
                            self.pose.after(&moved),
                        )
                    }
                };
                Some(Part {
                    number,
                    extent: Extent::Box(Bounds::around(&Image::new(&*shape, map), &pose)),
                    pose,
                    shape,
                    map,
                })
            }
        }
    }

    /// For a facet of a surface: what it borders on, and whether only its outer side collides. In the world's axes, from the
    /// translation of the proxy.
    pub fn surroundings(&self, number: u32) -> Option<(Surroundings<V::Wide>, bool)> {
        let Body::Compound(compound) = &self.body else {
            return None;
        };
        let linear = self.linear();
        let mirrored = V::Wide::is_mirrored(linear);
        compound.surroundings(number, |point| linear * point, mirrored)
    }

    /// Whether a normal leans towards any facet around a corner of a facet, in the world's axes: see
    /// [`Mesh::leans`](crate::shape::Mesh::leans).
    pub fn leans(&self, facet: u32, corner: usize, normal: V::Wide) -> bool {
        let Body::Compound(compound) = &self.body else {
            return false;
        };
        let linear = self.linear();
        compound.leans(facet, corner, normal, |point| linear * point)
    }

    /// The linear part of the map from the body's frame to the world.
    fn linear(&self) -> <V::Wide as Wide>::Matrix {
        match self.map {
            Map::Uniform(factor) => self.pose.rotation * factor,
            Map::Linear(matrix) => self.pose.rotation * matrix,
        }
    }
}

/// All colliders that take part in this tick.
#[derive(Resource, Default)]
pub struct Proxies {
    pub plane: Vec<Proxy<Vec2>>,
    pub solid: Vec<Proxy<Vec3>>,
    index: EntityHashMap<ProxyIndex>,
}

/// Where in [`Proxies`] an entity is.
#[derive(Clone, Copy, Debug)]
enum ProxyIndex {
    Plane(usize),
    Solid(usize),
}

/// Two proxies of the same space.
pub enum ProxyPair<'a> {
    Plane(&'a Proxy<Vec2>, &'a Proxy<Vec2>),
    Solid(&'a Proxy<Vec3>, &'a Proxy<Vec3>),
}

impl Proxies {
    /// Whether the entity takes part in this tick.
    pub fn contains(&self, entity: Entity) -> bool {
        self.index.contains_key(&entity)
    }

    /// The proxies of two entities, or `None` if one of them takes no part or they live in different spaces.
    pub fn pair(&self, entity: Entity, other: Entity) -> Option<ProxyPair<'_>> {
        match (self.index.get(&entity)?, self.index.get(&other)?) {
            (ProxyIndex::Plane(a), ProxyIndex::Plane(b)) => {
                Some(ProxyPair::Plane(self.plane.get(*a)?, self.plane.get(*b)?))
            }
            (ProxyIndex::Solid(a), ProxyIndex::Solid(b)) => {
                Some(ProxyPair::Solid(self.solid.get(*a)?, self.solid.get(*b)?))
            }
            _ => None,
        }
    }

    /// Adds the proxy of a collider, unless it touches nothing by choice.
    fn add(
        &mut self,
        entity: Entity,
        collider: &Collider,
        layers: CollisionLayers,
        affine: Option<Affine>,
    ) -> Result<(), Fault> {
        let Some(body) = collider.body().map_err(Fault::Shape)? else {
            return Ok(());
        };
        let affine = affine.ok_or(Fault::NoPose)?;
        let index = match body {
            AnyBody::Plane(body) => {
                self.plane.push(proxy(entity, body, layers, &affine)?);
                ProxyIndex::Plane(self.plane.len() - 1)
            }
            AnyBody::Solid(body) => {
                self.solid.push(proxy(entity, body, layers, &affine)?);
                ProxyIndex::Solid(self.solid.len() - 1)
            }
        };
        self.index.insert(entity, index);
        Ok(())
    }
}

fn proxy<V: Space>(
    entity: Entity,
    body: &Body<V>,
    layers: CollisionLayers,
    affine: &Affine,
) -> Result<Proxy<V>, Fault> {
    let Placement { map, pose } = place::<V>(affine).ok_or(Fault::NotFinite)?;
    let (extent, radius) = match body {
        Body::Convex(shape) => (extent_of(shape, map, &pose)?, shape.radius()),
        Body::Compound(compound) => (
            Extent::Box(Bounds::around(&Image::new(&**compound, map), &pose)),
            compound.radius(),
        ),
    };
    if radius.is_nan() || radius < 0.0 {
        return Err(Fault::NoShape);
    }
    let ends = match &extent {
        Extent::Box(bounds) => [bounds.min, bounds.max],
        Extent::HalfSpace(it) => {
            let place = pose.translation;
            [place, place + it.normal * it.offset]
        }
    };
    // It has room for rounding, so that what is inside out by more is no farthest point.
    if let Extent::Box(bounds) = &extent
        && (0..V::Wide::DIMENSION).any(|it| (bounds.max - bounds.min).component(it) < 0.0)
    {
        return Err(Fault::InsideOut);
    }
    // With room for the sums that a pair of such boxes makes: no depth and no distance is beyond f32.
    if !ends.iter().all(|end| V::narrow(*end * 8.0).is_finite()) {
        return Err(Fault::Unbounded);
    }
    Ok(Proxy {
        entity,
        layers,
        pose,
        extent,
        body: body.clone(),
        map,
    })
}

/// Where in the world a convex shape can be met.
fn extent_of<V: Space>(
    shape: &Shape<V>,
    map: Map<V::Wide>,
    pose: &Pose<V::Wide>,
) -> Result<Extent<V::Wide>, Fault> {
    let image = Image::new(shape, map);
    if let Some(half_space) = image.half_space() {
        let turned = HalfSpace {
            normal: pose.rotation * half_space.normal,
            ..half_space
        };
        // The margin belongs to the scale of a pair.
        let raised = turned.raised(image.radius() * (1.0 + 2.0 * TOUCHING));
        Ok(Extent::HalfSpace(raised))
    } else if shape.half_space().is_some() {
        Err(Fault::Flattened)
    } else {
        Ok(Extent::Box(Bounds::around(&image, pose)))
    }
}

/// Why a collider takes no part.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Fault {
    #[error("{0}")]
    Shape(ShapeError),
    #[error("it has no Transform, or its ancestors are in a loop (or more than 4096)")]
    NoPose,
    #[error("its pose is not finite")]
    NotFinite,
    #[error("its radius is negative or no number")]
    NoShape,
    #[error("its support function answers points that are not the farthest")]
    InsideOut,
    #[error("its scale flattens the half-space")]
    Flattened,
    #[error("its bounds are not finite, or too large for f32")]
    Unbounded,
}

/// Fills [`Proxies`] from the colliders that Bevy's default query filters let through.
pub fn sync(
    world: &mut World,
    colliders: &mut QueryState<(Entity, &Collider, Option<&CollisionLayers>)>,
    // Those at fault in this tick, and in the last one: they have been warned of.
    (mut faulty, mut known): (Local<EntityHashSet>, Local<EntityHashSet>),
) {
    core::mem::swap(&mut *faulty, &mut *known);
    faulty.clear();
    world.resource_scope(|world, mut proxies: Mut<Proxies>| {
        let proxies = &mut *proxies;
        proxies.plane.clear();
        proxies.solid.clear();
        proxies.index.clear();
        for (entity, collider, layers) in colliders.iter(world) {
            let layers = layers.copied().unwrap_or_default();
            let added = proxies.add(entity, collider, layers, affine_of(world, entity));
            if let Err(fault) = added
                && faulty.insert(entity)
                && !known.contains(&entity)
            {
                warn_of(world, entity, fault);
            }
        }
    });
}

/// One warning for as long as the fault lasts.
fn warn_of(world: &World, entity: Entity, fault: Fault) {
    let name = world.get::<Name>(entity).map_or("", Name::as_str);
    log::warn!("the collider of entity {entity} {name:?} touches nothing: {fault}");
}
