//! headbutt: the plugin with its defaults, and a `Collider` on each entity. Unlike the other
//! engines, headbutt sends a message for each touching pair in each tick. *headbutt-quiet* sends
//! only starts and ends, like the other engines.

use bevy::prelude::*;
use headbutt::prelude::*;

use crate::{
    engines::{Engine, number},
    exact::pair,
    form::Form,
};

pub fn engine(flat: bool) -> Engine {
    Engine {
        name: "headbutt",
        plugins: |app, _| {
            app.add_plugins(HeadbuttPlugin::in_schedule(PostUpdate));
        },
        equip: if flat {
            |entity, thing| {
                entity.insert(collider(&thing.form, true));
            }
        } else {
            |entity, thing| {
                entity.insert(collider(&thing.form, false));
            }
        },
        pairs: |world| {
            let state = world.resource::<headbutt::Collisions>();
            state
                .iter()
                .map(|hit| pair(number(world, hit.entity), number(world, hit.other)))
                .collect()
        },
        contacts: true,
    }
}

/// headbutt without `Ongoing` messages.
pub fn quiet(flat: bool) -> Engine {
    Engine {
        name: "headbutt-quiet",
        plugins: |app, _| {
            let plugin = HeadbuttPlugin::in_schedule(PostUpdate);
            app.add_plugins(plugin.with_ongoing(OngoingEvents::Never));
        },
        ..engine(flat)
    }
}

fn collider(form: &Form, flat: bool) -> Collider {
    form.collider(flat)
}
