//! First stage: what collides in this tick, and where it is.

use bevy::{
    ecs::entity::{EntityHashMap, EntityHashSet},
    prelude::*,
};

use super::place::{Affine, Placement, affine_of, place};
use crate::{
    collider::Collider,
    layers::CollisionLayers,
    math::{Vec2, Vec3},
    query::tolerance::{OFFSET, ROUNDING, TOUCHING},
    shape::{AnyShape, HalfSpace, Image, Map, Shape, ShapeError, Support},
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
    shape: Shape<V>,
    map: Map<V::Wide>,
}

impl<V: Space> Proxy<V> {
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

impl<W> Extent<W> {
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

/// A box along the world's axes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<W> {
    pub min: W,
    pub max: W,
}

impl<W: Wide> Bounds<W> {
    /// The box around a shape in a pose, from supports alone.
    fn around<V: Space<Wide = W>>(shape: &impl Support<Vector = V>, pose: &Pose<W>) -> Self {
        let inverse = W::transpose(pose.rotation);
        let (min, max) = (0..W::DIMENSION).map(W::axis).fold(
            (pose.translation, pose.translation),
            |(min, max), axis| {
                let reach = |direction: W| {
                    let farthest = pose.rotation * shape.support(inverse * direction);
                    direction * (farthest.dot(direction) + shape.radius())
                };
                (min + reach(-axis), max + reach(axis))
            },
        );
        // Two shapes touch up to a gap of TOUCHING times the scale of the pair: each box takes its share, and twice that,
        // together with the rounding of a place far from the origin.
        let offset = (max - pose.translation).extent() + (min - pose.translation).extent();
        let share = (max - min).length().max(OFFSET * offset) * (2.0 * TOUCHING);
        let rounding = pose.translation.length() * ROUNDING;
        let margin = (0..W::DIMENSION).fold(W::ZERO, |sum, index| {
            sum + W::axis(index) * (share + rounding)
        });
        Self {
            min: min - margin,
            max: max + margin,
        }
    }

    /// Whether the two boxes have a point in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..W::DIMENSION).all(|index| {
            self.min.component(index) <= other.max.component(index)
                && other.min.component(index) <= self.max.component(index)
        })
    }

    /// Whether the box reaches into a half-space, which is told from a point `origin`.
    pub fn reaches(&self, half_space: &HalfSpace<W>, origin: W) -> bool {
        // The box's lowest corner.
        let corner = (0..W::DIMENSION).fold(-origin, |sum, index| {
            let upward = half_space.normal.component(index) >= 0.0;
            let side = if upward { self.min } else { self.max };
            sum + W::axis(index) * side.component(index)
        });
        // The pair has the part of its scale that comes from how far apart its origins are.
        half_space.height(corner) <= corner.extent() * (2.0 * TOUCHING * OFFSET)
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
        let Some(shape) = collider.shape().map_err(Fault::Shape)? else {
            return Ok(());
        };
        let affine = affine.ok_or(Fault::NoPose)?;
        let index = match shape {
            AnyShape::Plane(shape) => {
                self.plane.push(proxy(entity, shape, layers, &affine)?);
                ProxyIndex::Plane(self.plane.len() - 1)
            }
            AnyShape::Solid(shape) => {
                self.solid.push(proxy(entity, shape, layers, &affine)?);
                ProxyIndex::Solid(self.solid.len() - 1)
            }
        };
        self.index.insert(entity, index);
        Ok(())
    }
}

fn proxy<V: Space>(
    entity: Entity,
    shape: &Shape<V>,
    layers: CollisionLayers,
    affine: &Affine,
) -> Result<Proxy<V>, Fault> {
    let Placement { map, pose } = place::<V>(affine).ok_or(Fault::NotFinite)?;
    let image = Image::new(shape, map);
    let radius = shape.radius();
    if radius.is_nan() || radius < 0.0 {
        return Err(Fault::NoShape);
    }
    let (extent, ends) = if let Some(half_space) = image.half_space() {
        let turned = HalfSpace {
            normal: pose.rotation * half_space.normal,
            ..half_space
        };
        // The margin belongs to the scale of a pair.
        let raised = turned.raised(image.radius() * (1.0 + 2.0 * TOUCHING));
        let place = pose.translation;
        let nearest = place + raised.normal * raised.offset;
        (Extent::HalfSpace(raised), [place, nearest])
    } else if shape.half_space().is_some() {
        return Err(Fault::Flattened);
    } else {
        let bounds = Bounds::around(&image, &pose);
        (Extent::Box(bounds), [bounds.min, bounds.max])
    };
    // With room for the sums that a pair of such boxes makes: no depth and no distance is beyond f32.
    if !ends.iter().all(|end| V::narrow(*end * 8.0).is_finite()) {
        return Err(Fault::Unbounded);
    }
    Ok(Proxy {
        entity,
        layers,
        pose,
        extent,
        shape: shape.clone(),
        map,
    })
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
