//! Shrinks the lists of Bevy's messages. Bevy never shrinks them itself.
//!
//! Bevy gives no access to the capacity of its two lists. So the lists are replaced by copies. The
//! copies keep the message ids, because readers remember their positions by id. The next id can be
//! set only by reflection.

use bevy::{ecs::message::Messages, reflect::GetPath, tasks::AsyncComputeTaskPool};

use crate::{
    buffer::{Peak, Reclaim, is_excessive},
    collision::CollisionEvent,
};

/// An estimate of the capacity of the message lists.
#[derive(Default)]
pub struct MessageMemory {
    /// The greatest number of messages since the lists were created.
    held: usize,
    peak: Peak,
}

impl MessageMemory {
    /// Replaces the lists if their capacity is excessive.
    pub fn reclaim(&mut self, messages: &mut Messages<CollisionEvent>, reclaim: &Reclaim) {
        self.held = self.held.max(messages.len());
        self.peak.note(messages.len());
        if reclaim.is_idle()
            && is_excessive(self.held, self.peak.get())
            && let Some(copy) = shrunk_copy(messages)
        {
            let old = core::mem::replace(messages, copy);
            self.held = messages.len();
            // These lists cannot be freed in steps. Another thread frees them, if there is one.
            if let Some(pool) = AsyncComputeTaskPool::try_get() {
                pool.spawn(async move { drop(old) }).detach();
            }
        }
        if reclaim.ends_window() {
            self.peak.end_window();
        }
    }
}

/// Returns the same messages with the same ids in new lists, or `None` if Bevy renamed the fields.
fn shrunk_copy(messages: &Messages<CollisionEvent>) -> Option<Messages<CollisionEvent>> {
    let mut copy = Messages::default();
    for count in [
        "message_count",
        "messages_a.start_message_count",
        "messages_b.start_message_count",
    ] {
        *copy.path_mut::<usize>(count).ok()? = messages.oldest_message_count();
    }
    let older = messages.len() - messages.iter_current_update_messages().len();
    let mut cursor = messages.get_cursor();
    let mut all = cursor.read(messages).copied();
    copy.extend(all.by_ref().take(older));
    copy.update();
    copy.extend(all);
    Some(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        collision::{CollisionPhase, SurfacePoint},
        math::Vec3,
    };
    use bevy::{ecs::message::MessageCursor, prelude::*};

    /// Returns a message that is identified by its depth.
    fn message(depth: f32) -> CollisionEvent {
        let surface = SurfacePoint {
            part: 0,
            translation: Vec3::ZERO,
            offset: Vec3::ZERO,
        };
        CollisionEvent {
            entity: Entity::PLACEHOLDER,
            other: Entity::PLACEHOLDER,
            phase: CollisionPhase::Ongoing,
            normal: Vec3::X,
            depth,
            surface,
            other_surface: surface,
            are_sensors: [false; 2],
            time: 1.0,
        }
    }

    fn read(
        cursor: &mut MessageCursor<CollisionEvent>,
        messages: &Messages<CollisionEvent>,
    ) -> Vec<(usize, f32)> {
        let all = cursor.read_with_id(messages);
        all.map(|(message, id)| (id.id, message.depth)).collect()
    }

    /// Some readers have read all of a list, some half and some nothing.
    #[test]
    fn readers_keep_their_positions_in_a_copy() {
        let [mut old, mut new] = [(); 2].map(|()| Messages::<CollisionEvent>::default());
        let mut cursors = vec![old.get_cursor()];
        let mut next = 0;
        for frame in 0..30 {
            for _ in 0..frame * 7 % 5 {
                for messages in [&mut old, &mut new] {
                    messages.write(message(next as f32));
                }
                next += 1;
                if next % 2 == 0 {
                    cursors.push(old.get_cursor_current());
                }
            }
            let copy = shrunk_copy(&new);
            assert!(copy.is_some());
            new = copy.unwrap_or_default();
            assert_eq!(new.len(), old.len());
            assert_eq!(new.oldest_message_count(), old.oldest_message_count());
            let [current_old, current_new] =
                [&old, &new].map(|messages| messages.iter_current_update_messages().len());
            assert_eq!(current_new, current_old);
            for cursor in &mut cursors {
                let found = read(&mut cursor.clone(), &new);
                if frame % 3 == 0 {
                    assert_eq!(found, read(cursor, &old));
                } else {
                    assert_eq!(found, read(&mut cursor.clone(), &old));
                }
            }
            for id in 0..next + 2 {
                let depth = |messages: &Messages<CollisionEvent>| {
                    messages.get_message(id).map(|(message, _)| message.depth)
                };
                assert_eq!(depth(&new), depth(&old));
            }
            old.update();
            new.update();
        }
        assert!(next > 50);
    }
}
