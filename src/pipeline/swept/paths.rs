//! The paths of colliders from the previous tick to this tick, while any collider is swept.
//!
//! [`sync`](super::sync) finds the paths of all changed proxies after it has updated them. The
//! broad phase uses boxes around the paths. All other stages, and spatial queries, use the boxes of
//! the poses. The report stage stores the poses for the next tick.
//!
//! The box around a long diagonal path is far larger than the path: its size grows with the square
//! or the cube of the length. So the path is cut into pieces, and the broad phase uses a box
//! around each of them.

use core::ops::Range;

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use smallvec::SmallVec;

use crate::{
    buffer::{Buffer, Peak},
    collision::{Collisions, PreviousPoses},
    pipeline::{
        broad_phase::candidates::SlotPair,
        proxies::{Proxies, ProxySlot, arena::ProxyArena},
        proxy::Proxy,
        swept::teleported::Teleported,
    },
    query::Motion64,
    shape::{Aabb, Bounds, Support, WorldPose},
    space::{DVector, Space},
};

/// The path of a proxy in this tick.
#[derive(Clone, Copy, Debug)]
pub struct Path<D: DVector> {
    pub translation: D,
    /// A bound on the angle of the rotation.
    pub max_angle: f64,
    /// The linear map of the previous tick.
    linear: D::Matrix,
    /// `None` for a half-space.
    region: Option<TurningRegion<D>>,
    /// `true` if the path has several pieces.
    is_cut: bool,
}

/// The motion along a path.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<D: DVector> {
    /// The pose in the previous tick, with the scale of this tick.
    pub start: WorldPose<D>,
    pub motion: Motion64<D>,
}

/// The region that a proxy covers while it rotates, in its position at the end of its path: the
/// intersection of a box and a ball.
#[derive(Clone, Copy, Debug)]
pub struct TurningRegion<D> {
    bounds: Bounds<D>,
    center: D,
    radius: f64,
    translation: D,
}

impl<D: DVector> TurningRegion<D> {
    /// A proxy without a path.
    pub fn at_rest(aabb: &Aabb) -> Self {
        let (center, radius) = aabb.ball();
        Self {
            bounds: aabb.bounds(),
            center,
            radius,
            translation: D::ZERO,
        }
    }

    /// A proxy that rotates about `pivot`. `aabb` is its box at the end of the path.
    fn new(aabb: &Aabb, path: &Path<D>, pivot: D) -> Self {
        let mut region = Self::at_rest(aabb);
        region.translation = path.translation;
        if path.max_angle > 0.0 {
            region.bounds = region.bounds.around_rotation(pivot, path.max_angle);
            region.radius += (region.center - pivot).length() * path.max_angle;
        }
        region
    }

    /// Returns a box around the path.
    fn path_box(&self) -> Aabb {
        let bounds = self.bounds.around_translation(-self.translation);
        Aabb::around(&bounds, f64::INFINITY)
    }

    /// Returns a box around each piece of the path, from its end. Along the second longest axis of
    /// the path, a piece is about as long as the moving box and a typical box together. So a path
    /// along one axis has one piece: the box around it is no larger than the path.
    fn piece_boxes(self, typical_size: f64) -> impl ExactSizeIterator<Item = Aabb> {
        let mut lengths = self.translation.components().map(f64::abs);
        lengths.sort_unstable_by(f64::total_cmp);
        let [_, second, _] = lengths;
        let size = (self.bounds.max - self.bounds.min).extent() + typical_size;
        // A point at the origin has no size.
        let size = size.max(f64::MIN_POSITIVE);
        let count = (second / size).floor().clamp(1.0, MAX_PIECES);
        let step = self.translation * (-1.0 / count);
        (0..count as u32).map(move |index| {
            let [min, max] = [self.bounds.min, self.bounds.max];
            let offset = step * f64::from(index);
            let (min, max) = (min + offset, max + offset);
            let bounds = Bounds { min, max }.around_translation(step);
            Aabb::around(&bounds, f64::INFINITY)
        })
    }

    /// Returns `true` unless two regions stay apart during their translations.
    pub fn may_meet(&self, other: &Self) -> bool {
        // The test of the balls comes first, because it takes less time.
        let back = self.translation - other.translation;
        let offset = other.center - self.center;
        let length = back.length_squared();
        let time = if length > 0.0 {
            (-offset.dot(back) / length).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let distance = (offset + back * time).length_squared();
        distance <= (self.radius + other.radius).powi(2)
            && self.bounds.entry(&other.bounds, back) <= 1.0
    }
}

/// The maximum number of pieces of a path, which bounds the memory of long jumps.
const MAX_PIECES: f64 = 64.0;

/// The number of boxes that are sampled for [`typical_size`].
const SAMPLE: usize = 64;

/// Returns the size of a typical box: three quarters of the boxes in a sample are no larger.
fn typical_size(boxes: &[Aabb]) -> f64 {
    let sample = boxes.iter().step_by(boxes.len() / SAMPLE + 1);
    let sample = sample.filter(|aabb| !aabb.is_empty());
    let sizes = sample.map(|aabb| aabb.size().into_iter().fold(0.0, f32::max));
    let mut sizes: SmallVec<[f32; SAMPLE]> = sizes.collect();
    sizes.sort_unstable_by(f32::total_cmp);
    let typical = sizes.get(sizes.len() * 3 / 4);
    typical.copied().unwrap_or_default().into()
}

/// A piece of a path. The pieces of a path take the same time each.
#[derive(Clone, Copy, Debug)]
struct Piece {
    slot: u32,
    /// Counted from the end of the path.
    index: u32,
    /// The number of pieces of the path.
    count: u32,
}

/// The paths of one space. All lists are empty if no collider is swept.
#[derive(Clone, Default)]
pub struct Sweeps<V: Space> {
    /// The box around the path of each slot, then those around the pieces of cut paths.
    boxes: Vec<Aabb>,
    /// The pieces, in the order of their boxes. Those of a path follow one another.
    pieces: Vec<Piece>,
    /// For each slot, `true` if its proxy is swept.
    are_swept: Vec<bool>,
    /// The index of each slot's path, or [`NONE`].
    indices: Vec<u32>,
    paths: Buffer<(u32, Path<V::DVec>)>,
    /// The length of `boxes`.
    peak: Peak,
}

/// Stands for the index of a path if there is none.
const NONE: u32 = u32::MAX;

impl<V: Space> Sweeps<V> {
    /// Returns the box around the path of each slot, then those around the pieces of cut paths, or
    /// `None` if no collider is swept.
    pub fn boxes(&self) -> Option<&[Aabb]> {
        (!self.boxes.is_empty()).then_some(&self.boxes)
    }

    /// Returns the numbers of the boxes around pieces.
    pub fn pieces(&self) -> Range<u32> {
        let end = self.boxes.len() as u32;
        end - self.pieces.len() as u32..end
    }

    /// Returns the piece in the box with this number, or `None` for the box of a slot.
    fn piece(&self, number: u32) -> Option<&Piece> {
        let index = number.checked_sub(self.pieces().start)?;
        self.pieces.get(index as usize)
    }

    /// Returns the slots of two boxes, which may be those of pieces.
    pub fn slots_of(&self, (a, b): SlotPair) -> SlotPair {
        let slot_of = |number| self.piece(number).map_or(number, |piece| piece.slot);
        (slot_of(a), slot_of(b))
    }

    /// Returns `true` if two boxes are those of pieces of two paths, for times that overlap.
    pub fn are_simultaneous(&self, (a, b): SlotPair) -> bool {
        let pieces = self.piece(a).zip(self.piece(b));
        pieces.is_some_and(|(a, b)| {
            a.slot != b.slot
                && a.index * b.count <= (b.index + 1) * a.count
                && b.index * a.count <= (a.index + 1) * b.count
        })
    }

    /// Returns `true` if one of two boxes is that of a piece, and the previous piece of the same
    /// path overlaps the other box, too. The pieces that overlap a box follow one another, because
    /// each coordinate rises or falls all along the path.
    pub fn is_repeated(&self, (a, b): SlotPair) -> bool {
        let box_of = |number: u32| self.boxes.get(number as usize);
        let is_repeated = |number, other| {
            self.piece(number).is_some_and(|piece| piece.index > 0)
                && box_of(number - 1)
                    .zip(box_of(other))
                    .is_some_and(|(previous, other)| previous.may_touch(other))
        };
        is_repeated(a, b) || is_repeated(b, a)
    }

    /// Returns `true` if the path of a slot is cut into pieces.
    pub fn is_cut(&self, slot: u32) -> bool {
        self.path_of(slot).is_some_and(|path| path.is_cut)
    }

    /// Returns `true` if the proxy in a slot is swept.
    pub fn is_swept(&self, slot: u32) -> bool {
        self.are_swept.get(slot as usize) == Some(&true)
    }

    /// Returns the region of a slot, or `None` for a half-space. `aabb` is the box of its pose.
    pub fn region_of(&self, slot: u32, aabb: Option<&Aabb>) -> Option<TurningRegion<V::DVec>> {
        match self.path_of(slot) {
            Some(path) => path.region,
            None => aabb.map(TurningRegion::at_rest),
        }
    }

    /// Returns the path of a slot, or `None` if its proxy did not move.
    pub fn path_of(&self, slot: u32) -> Option<&Path<V::DVec>> {
        let index = self.indices.get(slot as usize)?;
        self.paths.get(*index as usize).map(|(_, path)| path)
    }

    /// Updates the boxes and paths of all changed slots. `path_of` returns the path of a proxy.
    pub fn find(
        &mut self,
        arena: &ProxyArena<V>,
        path_of: impl Fn(&Proxy<V>) -> Option<Path<V::DVec>>,
    ) {
        let is_first = self.boxes.is_empty();
        let count = arena.slots().len();
        self.boxes.resize(count, Aabb::EMPTY);
        self.are_swept.resize(count, false);
        self.indices.resize(count, NONE);
        if is_first {
            arena.slots().for_each(|slot| self.update(arena, slot));
        } else {
            let changed = arena.changed().iter();
            changed.for_each(|slot| self.update(arena, *slot));
        }
        let typical_size = typical_size(arena.boxes());
        for slot in arena.changed() {
            if let Some(proxy) = arena.get(*slot)
                && let Some(path) = path_of(proxy)
            {
                self.add(*slot, path, proxy.world_pose.translation, typical_size);
            }
        }
    }

    /// Copies the box of a slot, and whether its proxy is swept.
    fn update(&mut self, arena: &ProxyArena<V>, slot: u32) {
        let index = slot as usize;
        if let Some(aabb) = self.boxes.get_mut(index)
            && let Some(is_swept) = self.are_swept.get_mut(index)
        {
            *aabb = arena.boxes().get(index).copied().unwrap_or(Aabb::EMPTY);
            *is_swept = arena.get(slot).is_some_and(|proxy| proxy.markers.is_swept);
        }
    }

    fn add(&mut self, slot: u32, mut path: Path<V::DVec>, pivot: V::DVec, typical_size: f64) {
        let number = self.paths.len() as u32;
        if let Some(index) = self.indices.get_mut(slot as usize)
            && let Some(aabb) = self.boxes.get_mut(slot as usize)
        {
            if !aabb.is_empty() {
                let region = TurningRegion::new(aabb, &path, pivot);
                *aabb = region.path_box();
                path.region = Some(region);
                let pieces = region.piece_boxes(typical_size);
                let count = pieces.len() as u32;
                path.is_cut = count > 1;
                if path.is_cut {
                    self.boxes.extend(pieces);
                    let piece = |index| Piece { slot, index, count };
                    self.pieces.extend((0..count).map(piece));
                }
            }
            *index = number;
            self.paths.push((slot, path));
        }
    }

    /// Drops the paths, and calls `visit` with the slots that had one. Frees unused memory.
    pub fn end_tick(&mut self, mut visit: impl FnMut(u32)) {
        let is_excessive = self.peak.end_tick(self.boxes.len());
        let slots = self.pieces().start as usize;
        self.boxes.truncate(slots);
        self.pieces.clear();
        for (slot, _) in self.paths.iter() {
            if let Some(index) = self.indices.get_mut(*slot as usize) {
                *index = NONE;
            }
            visit(*slot);
        }
        self.paths.clear();
        if is_excessive {
            *self = Self::default();
        }
    }

    /// Empties the lists by slot. [`end_tick`](Self::end_tick) has emptied the others.
    pub fn clear(&mut self) {
        self.boxes.clear();
        self.are_swept.clear();
        self.indices.clear();
    }
}

/// Finds the paths of this tick.
pub fn find_sweeps(world: &mut World, proxies: &mut Proxies, is_restart: bool) {
    let mut collisions = world.resource_mut::<Collisions>();
    // Marked as changed, the contacts would count as restored.
    let Collisions {
        poses_2d, poses_3d, ..
    } = collisions.bypass_change_detection();
    // A proxy at rest has a path as well if a teleport was taken back.
    for begun in [poses_2d.take_begun(), poses_3d.take_begun()] {
        begun
            .iter()
            .for_each(|entity| proxies.mark_changed(*entity));
    }
    let Proxies { d2, d3, .. } = proxies;
    if proxies.has_swept {
        d2.find_sweeps(|proxy| path_of(proxy, poses_2d).filter(|_| !is_restart));
        d3.find_sweeps(|proxy| path_of(proxy, poses_3d).filter(|_| !is_restart));
    } else {
        d2.clear_sweeps();
        d3.clear_sweeps();
    }
}

/// Removes [`Teleported`] from all entities. Hooks and observers of the removal may change the
/// world freely.
pub fn remove_teleported(
    world: &mut World,
    teleported: &mut QueryState<Entity, (With<Teleported>, Allow<Disabled>)>,
) {
    let marked: SmallVec<[Entity; 32]> = teleported.iter(world).collect();
    for entity in marked {
        // An observer may have despawned it.
        if let Ok(mut entity) = world.get_entity_mut(entity) {
            entity.remove::<Teleported>();
        }
    }
}

/// Returns the path of a proxy since the previous tick, or `None` if it did not move.
pub fn path_of<V: Space>(
    proxy: &Proxy<V>,
    previous: &PreviousPoses<V::DVec>,
) -> Option<Path<V::DVec>> {
    let end = &proxy.world_pose;
    let previous = previous.get(proxy.entity)?;
    let translation = end.translation - previous.translation;
    let linear = previous.linear;
    let turns = end.linear() != linear && !is_ball(proxy);
    let max_angle = if turns {
        max_angle_between::<V::DVec>(linear, end)
    } else {
        0.0
    };
    let moves = translation != V::DVec::ZERO || max_angle > 0.0;
    moves.then_some(Path {
        translation,
        max_angle,
        linear,
        region: None,
        is_cut: false,
    })
}

/// Returns `true` for a ball, whose rotation does not matter.
fn is_ball<V: Space>(proxy: &Proxy<V>) -> bool {
    let shape = proxy.scaled_shape();
    shape.is_some_and(|shape| shape.core().is_point())
}

impl<D: DVector> Path<D> {
    /// Returns the motion of a proxy along this path, or `None` if it did not move.
    pub fn sweep<V: Space<DVec = D>>(&self, proxy: &Proxy<V>) -> Option<Sweep<D>> {
        let end = &proxy.world_pose;
        let rotation = if self.max_angle > 0.0 {
            rotation_between::<D>(self.linear, end)
        } else {
            D::IDENTITY
        };
        if self.translation == D::ZERO && rotation == D::IDENTITY {
            return None;
        }
        let mut motion = Motion64::linear(self.translation);
        motion.rotation = D::angle_between(D::IDENTITY, rotation);
        let start = end.before(rotation, self.translation);
        Some(Sweep { start, motion })
    }
}

/// Returns a bound on the angle of [`rotation_between`], which costs much more.
///
/// Let M be the linear map from the start to the end, and Q its orthogonal factor: the orthogonal
/// map nearest to M. So in the Frobenius norm, |Q - I| <= |Q - M| + |M - I| <= 2 |M - I|. For a
/// rotation by the angle θ, |Q - I| = 2 √2 sin(θ/2). And θ/2 <= tan(θ/2).
fn max_angle_between<D: DVector>(start: D::Matrix, end: &WorldPose<D>) -> f64 {
    let Some(inverse) = D::inverse(start) else {
        return 0.0;
    };
    let map = end.linear() * inverse;
    let columns = (0..D::DIMENSION).map(|index| D::column(map, index) - D::axis(index));
    let squared_sine = 0.5 * columns.map(DVector::length_squared).sum::<f64>();
    let tangent = (squared_sine / (1.0 - squared_sine)).sqrt();
    if squared_sine < 0.5 {
        2.0 * tangent
    } else {
        core::f64::consts::PI
    }
}

/// The maximum number of steps to find a rotation. Once the map is nearly orthogonal, each step
/// squares the error. Before, each step lengthens a short axis by a factor of 1.5. 64 steps suffice
/// for axes down to 1e-9 of the longest.
const MAX_STEPS: usize = 64;

/// The search for a rotation ends if a step changes the matrix by less than this: a few rounding
/// errors.
const CONVERGED: f64 = 1e-14;

/// The squared length of each axis of a rotation differs from 1 by less than this. A flat map has
/// no such axes.
const NEARLY_UNIT: f64 = 1e-12;

/// Returns the rotation that leads from a linear map to that of a pose: the orthogonal factor of
/// `end * start⁻¹` (its polar decomposition). The rest is a change of scale. Returns the identity
/// if there is no rotation, because an axis is flat or mirrored.
fn rotation_between<D: DVector>(start: D::Matrix, end: &WorldPose<D>) -> D::Matrix {
    let Some(inverse) = D::inverse(start) else {
        return D::IDENTITY;
    };
    let map = end.linear() * inverse;
    let columns = |matrix| (0..D::DIMENSION).map(move |index| D::column(matrix, index));
    let squared: f64 = columns(map).map(DVector::length_squared).sum();
    let mut matrix = map * (D::DIMENSION as f64 / squared).sqrt();
    for _ in 0..MAX_STEPS {
        let next = D::nearer_orthogonal(matrix);
        let steps = columns(next).zip(columns(matrix));
        let is_done = steps.map(|(a, b)| (a - b).extent()).sum::<f64>() < CONVERGED;
        matrix = next;
        if is_done {
            break;
        }
    }
    let is_rotation = columns(matrix).all(|axis| (axis.length_squared() - 1.0).abs() < NEARLY_UNIT)
        && !D::is_mirrored(matrix);
    if is_rotation { matrix } else { D::IDENTITY }
}

/// Stores the poses of this tick for the next one, if any collider is swept. `is_current` is
/// `false` if the app has written the contacts during this tick.
pub fn store_poses(collisions: &mut Collisions, proxies: &Proxies, is_current: bool) {
    let Collisions {
        poses_2d, poses_3d, ..
    } = collisions;
    if !is_current {
        poses_2d.clear();
        poses_3d.clear();
    } else if !proxies.has_swept || proxies.is_restored {
        poses_2d.clear_stored();
        poses_3d.clear_stored();
    }
    if proxies.has_swept {
        let slot_of = |entity| proxies.slot_of(entity);
        let is_in_2d = |entity| matches!(slot_of(entity), Some(ProxySlot::D2(_)));
        let is_in_3d = |entity| matches!(slot_of(entity), Some(ProxySlot::D3(_)));
        store(poses_2d, &proxies.d2, is_in_2d);
        store(poses_3d, &proxies.d3, is_in_3d);
    }
}

fn store<V: Space>(
    poses: &mut PreviousPoses<V::DVec>,
    arena: &ProxyArena<V>,
    is_proxy: impl Fn(Entity) -> bool,
) {
    let insert = |poses: &mut PreviousPoses<_>, slot| {
        if let Some(proxy) = arena.get(slot) {
            poses.insert(proxy.entity, proxy.world_pose.affine());
        }
    };
    if core::mem::replace(&mut poses.is_complete, true) {
        let changed = arena.changed().iter();
        changed.for_each(|slot| insert(poses, *slot));
    } else {
        arena.slots().for_each(|slot| insert(poses, slot));
    }
    if poses.len() > arena.count() {
        // The proxy of an entity that was spawned during this tick comes with the next one.
        poses.retain(is_proxy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        math::{DMat3, DVec3},
        space::Pose,
    };
    use rand::{Rng, SeedableRng, rngs::StdRng};

    fn vector(random: &mut StdRng) -> DVec3 {
        DVec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)))
    }

    /// The polar decomposition of R S⁻¹ is R, if S is positive and symmetric.
    #[test]
    fn the_bound_of_an_angle_is_at_least_the_angle_whatever_the_change_of_scale() {
        let mut random = StdRng::seed_from_u64(1);
        for _ in 0..10_000 {
            let size = 10_f64.powf(random.random_range(-6.0..0.49));
            let turn = vector(&mut random).normalize() * size;
            let end = WorldPose::from_pose(&Pose {
                rotation: DVec3::rotation(turn),
                translation: DVec3::ZERO,
            });
            let bound = max_angle_between::<DVec3>(DMat3::IDENTITY, &end);
            let is_tight = bound <= 5.0 * size;
            assert!(bound >= size && is_tight, "{bound} for {turn}");
            let scale = vector(&mut random) * 0.9 + 1.0;
            let bound = max_angle_between::<DVec3>(DMat3::from_diagonal(scale), &end);
            assert!(bound >= size, "{bound} for {turn} and {scale}");
        }
    }

    /// The distance of two balls is sampled at 1,000 times.
    #[test]
    fn regions_of_balls_may_meet_only_if_the_balls_nearly_touch_on_the_way() {
        let mut random = StdRng::seed_from_u64(2);
        let mut counts = [0, 0];
        for _ in 0..4_000 {
            let [a, b] = [(); 2].map(|()| {
                let radius = random.random_range(0.05..0.5);
                let (end, translation) = (vector(&mut random) * 1.5, vector(&mut random) * 3.0);
                (radius, end, translation)
            });
            let region = |(radius, end, translation): (f64, DVec3, DVec3)| {
                let (min, max) = (end - radius, end + radius);
                let path = Path {
                    translation,
                    max_angle: 0.0,
                    linear: DMat3::IDENTITY,
                    region: None,
                    is_cut: false,
                };
                let aabb = Aabb::around(&Bounds { min, max }, radius);
                TurningRegion::new(&aabb, &path, end)
            };
            let distance = (0..=1_000).map(|step| {
                let back = f64::from(step) / 1_000.0;
                (a.1 - a.2 * back).distance(b.1 - b.2 * back)
            });
            let gap = distance.fold(f64::INFINITY, f64::min) - a.0 - b.0;
            let may_meet = region(a).may_meet(&region(b));
            if gap <= 0.0 {
                assert!(may_meet, "{a:?} {b:?}");
                counts[0] += 1;
            } else if gap > 0.01 {
                assert!(!may_meet, "{a:?} {b:?}: {gap}");
                counts[1] += 1;
            }
        }
        assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
    }
}
