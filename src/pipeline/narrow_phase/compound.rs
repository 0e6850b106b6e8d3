//! Contacts of colliders of several parts: those of all parts that touch, and the deepest, which stands for the pair.

use crate::{
    buffer::{Buffer, Reclaim},
    collision::{CollisionEvent, CollisionPhase, Surface},
    pipeline::{
        narrow_phase::surface::{Lists, Meeting, Touch},
        proxy::{BoundingRegion, Proxy},
    },
    query::{Counter, LocalContact, Pair, length_to_f32, local_contact},
    space::{Pose, Space},
};

/// Lists that are of use for one pair only.
pub struct Scratch<V: Space> {
    /// The numbers of the parts that may touch.
    near: Buffer<(u32, u32)>,
    touches: Buffer<Touch<V::DVec>>,
    lists: Lists<V>,
    /// Of support points.
    pub counter: Counter,
}

impl<V: Space> Default for Scratch<V> {
    fn default() -> Self {
        Self {
            near: Buffer::default(),
            touches: Buffer::default(),
            lists: Lists::default(),
            counter: Counter::default(),
        }
    }
}

impl<V: Space> Scratch<V> {
    /// Shrinks the buffers.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.near.clear();
        self.near.reclaim(reclaim);
        self.touches.clear();
        self.touches.reclaim(reclaim);
        self.lists.reclaim(reclaim);
    }
}

/// The deepest contact of two proxies, one of which has several parts. Where more than one part touches, all are added to `parts`.
pub fn deepest_of_parts<V: Space>(
    (a, b): (&Proxy<V>, &Proxy<V>),
    extent_of_b: &BoundingRegion<V::DVec>,
    Scratch {
        near,
        touches,
        lists,
        counter,
    }: &mut Scratch<V>,
    parts: &mut Vec<CollisionEvent>,
) -> Option<CollisionEvent> {
    near.clear();
    let meeting = Meeting::new(a, b, counter);
    let is_found = meeting.as_ref().is_some_and(|it| it.add_near_ball(near));
    if !is_found {
        a.parts_near(extent_of_b, b.place.translation, |number| {
            if let Some(part) = a.part(number) {
                b.parts_near(&part.extent, part.place.translation, |other| {
                    near.push((number, other));
                });
            }
        });
        near.sort_unstable();
    }
    near.note();
    let first = parts.len();
    let deepest = match meeting {
        Some(meeting) => meeting.find(near, touches, lists, parts)?,
        None => {
            parts.extend(near.iter().filter_map(|it| meet((a, b), *it, counter)));
            let found = parts.get(first..).unwrap_or_default().iter();
            // Of equals the first.
            let deeper = |best: CollisionEvent, it: CollisionEvent| {
                if it.depth > best.depth { it } else { best }
            };
            found.copied().reduce(deeper)?
        }
    };
    if parts.len() == first + 1 {
        parts.truncate(first);
    }
    Some(deepest)
}

/// The contact of a part of each, neither of which is one of a surface.
fn meet<V: Space>(
    (a, b): (&Proxy<V>, &Proxy<V>),
    numbers: (u32, u32),
    counter: &Counter,
) -> Option<CollisionEvent> {
    let (part_a, part_b) = (a.part(numbers.0)?, b.part(numbers.1)?);
    if part_a.extent.is_apart_from(&part_b.extent) {
        return None;
    }
    let (pose_a, pose_b) = (part_a.place.pose(), part_b.place.pose());
    let (shape_a, shape_b) = (part_a.image(), part_b.image());
    let pair = Pair::new(&shape_a, pose_a, &shape_b, pose_b).counted_by(counter);
    let contact = local_contact(pair)?;
    let sides = [(a, numbers.0, pose_a), (b, numbers.1, pose_b)];
    Some(event(sides[0], sides[1], &contact))
}

/// A contact of parts, of which the numbers and poses are given, as an event.
#[inline]
pub fn event<V: Space>(
    (a, part_a, pose_a): (&Proxy<V>, u32, Pose<V::DVec>),
    (b, part_b, pose_b): (&Proxy<V>, u32, Pose<V::DVec>),
    contact: &LocalContact<V::DVec>,
) -> CollisionEvent {
    let surface = |proxy: &Proxy<V>, part: u32, pose: Pose<V::DVec>, offset: V::DVec| Surface {
        part,
        translation: V::from_f64(proxy.place.translation).to_vec3(),
        offset: V::from_f64(offset + (pose.translation - proxy.place.translation)).to_vec3(),
    };
    CollisionEvent {
        entity: a.entity,
        other: b.entity,
        phase: CollisionPhase::Ongoing,
        normal: V::from_f64(contact.normal).to_vec3(),
        depth: length_to_f32(contact.depth),
        surface: surface(a, part_a, pose_a, contact.offset_a),
        other_surface: surface(b, part_b, pose_b, contact.offset_b),
    }
}
