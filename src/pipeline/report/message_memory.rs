//! The memory of the messages. Bevy keeps them in two lists, which grow, and which it never
//! shrinks.
//!
//! Bevy gives no access to the two lists. So they are replaced by a copy with the same message ids,
//! by which readers remember their position. The next id can only be set by reflection.

use bevy::{ecs::message::Messages, reflect::GetPath, tasks::AsyncComputeTaskPool};

use crate::{
    buffer::{Peak, Reclaim, is_excessive},
    collision::CollisionEvent,
};

/// How much room the lists of messages have.
#[derive(Default)]
pub struct MessageRoom {
    /// The greatest number of messages since the lists were made.
    held: usize,
    peak: Peak,
}

impl MessageRoom {
    /// Makes the lists anew, if they have room for more than they need.
    pub fn reclaim(&mut self, messages: &mut Messages<CollisionEvent>, reclaim: &Reclaim) {
        self.held = self.held.max(messages.len());
        self.peak.note(messages.len());
        if reclaim.is_idle()
            && is_excessive(self.held, self.peak.get())
            && let Some(made) = made_anew(messages)
        {
            let old = core::mem::replace(messages, made);
            self.held = messages.len();
            // These lists cannot be freed in steps. If there is a thread for such work, the tick
            // does not wait for it.
            if let Some(pool) = AsyncComputeTaskPool::try_get() {
                pool.spawn(async move { drop(old) }).detach();
            }
        }
        if reclaim.ends_window() {
            self.peak.end_window();
        }
    }
}

/// Returns the same messages with the same numbers in new lists; `None` if Bevy renamed these
/// fields.
fn made_anew(messages: &Messages<CollisionEvent>) -> Option<Messages<CollisionEvent>> {
    let mut made = Messages::default();
    for count in [
        "message_count",
        "messages_a.start_message_count",
        "messages_b.start_message_count",
    ] {
        *made.path_mut::<usize>(count).ok()? = messages.oldest_message_count();
    }
    let older = messages.len() - messages.iter_current_update_messages().len();
    let mut cursor = messages.get_cursor();
    let mut all = cursor.read(messages).copied();
    made.extend(all.by_ref().take(older));
    made.update();
    made.extend(all);
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        collision::{CollisionPhase, Surface},
        math::Vec3,
    };
    use bevy::{ecs::message::MessageCursor, prelude::*};

    /// With this depth, by which it is known.
    fn message(depth: f32) -> CollisionEvent {
        let surface = Surface {
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
        }
    }

    fn read(
        cursor: &mut MessageCursor<CollisionEvent>,
        messages: &Messages<CollisionEvent>,
    ) -> Vec<(usize, f32)> {
        let all = cursor.read_with_id(messages);
        all.map(|(it, id)| (id.id, it.depth)).collect()
    }

    /// Readers have read all, half or nothing of each of the two lists.
    #[test]
    fn readers_read_on_where_they_were_in_messages_made_anew() {
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
            let made = made_anew(&new);
            assert!(made.is_some());
            new = made.unwrap_or_default();
            assert_eq!(new.len(), old.len());
            assert_eq!(new.oldest_message_count(), old.oldest_message_count());
            let [current_old, current_new] =
                [&old, &new].map(|it| it.iter_current_update_messages().len());
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
                let of = |it: &Messages<CollisionEvent>| it.get_message(id).map(|it| it.0.depth);
                assert_eq!(of(&new), of(&old));
            }
            old.update();
            new.update();
        }
        assert!(next > 50);
    }
}
