//! Scripted input, which replaces the keyboard and the mouse, tick by tick.

use std::str::FromStr;

use bevy::{
    input::{
        ButtonState,
        keyboard::{Key, KeyboardInput},
        mouse::MouseButtonInput,
    },
    picking::pointer::{Location, PointerAction, PointerButton, PointerId, PointerInput},
    prelude::*,
    reflect::{
        FromReflect,
        enums::{DynamicEnum, DynamicVariant},
    },
    window::PrimaryWindow,
};

use super::capture::Target;

/// The steps of the input in the order of their ticks.
#[derive(Resource, Clone, Default)]
pub struct Script(Vec<(u32, Action)>);

#[derive(Clone, Copy)]
enum Action {
    Key(KeyCode, ButtonState),
    Cursor(Vec2),
    Mouse(ButtonState),
}

/// Reads `TICK ACTION; TICK ACTION; ...`. An action is `down KEY`, `up KEY`, `cursor X Y` (in
/// pixels from the top left corner), `press` or `release` (of the left mouse button). Keys have the
/// names of Bevy's [`KeyCode`].
impl FromStr for Script {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let steps = text
            .split(';')
            .map(str::trim)
            .filter(|step| !step.is_empty());
        let read = |step: &str| read(step).ok_or_else(|| format!("`{step}` is no step of input"));
        Ok(Self(steps.map(read).collect::<Result<_, _>>()?))
    }
}

fn read(step: &str) -> Option<(u32, Action)> {
    let words: Vec<&str> = step.split_whitespace().collect();
    let (tick, action) = words.split_first()?;
    let action = match *action {
        ["down", key] => Action::Key(key_code(key)?, ButtonState::Pressed),
        ["up", key] => Action::Key(key_code(key)?, ButtonState::Released),
        ["cursor", x, y] => Action::Cursor(Vec2::new(x.parse().ok()?, y.parse().ok()?)),
        ["press"] => Action::Mouse(ButtonState::Pressed),
        ["release"] => Action::Mouse(ButtonState::Released),
        _ => return None,
    };
    Some((tick.parse().ok()?, action))
}

/// Returns the key with this name in [`KeyCode`]. Bevy's reflection knows the names.
fn key_code(name: &str) -> Option<KeyCode> {
    KeyCode::from_reflect(&DynamicEnum::new(name, DynamicVariant::Unit))
}

/// Sends the input of a tick in place of the window.
///
/// Bevy's picking expects the pointer in the target of the camera. This target is an image, so the
/// function sends a pointer in that image.
pub fn play(
    script: Res<Script>,
    target: Res<Target>,
    mut tick: Local<u32>,
    window: Single<(Entity, &mut Window), With<PrimaryWindow>>,
    mut keys: MessageWriter<KeyboardInput>,
    mut buttons: MessageWriter<MouseButtonInput>,
    mut pointers: MessageWriter<PointerInput>,
) {
    let (window, mut screen) = window.into_inner();
    let now = script.0.iter().filter(|(at, _)| *at == *tick);
    for (_, action) in now {
        let before = screen.cursor_position().unwrap_or_default();
        let pointer_action = match *action {
            Action::Key(key_code, state) => {
                keys.write(KeyboardInput {
                    key_code,
                    logical_key: Key::Unidentified(bevy::input::keyboard::NativeKey::Unidentified),
                    state,
                    text: None,
                    repeat: false,
                    window,
                });
                continue;
            }
            Action::Cursor(position) => {
                screen.set_cursor_position(Some(position));
                PointerAction::Move {
                    delta: position - before,
                }
            }
            Action::Mouse(state) => {
                let button = MouseButton::Left;
                buttons.write(MouseButtonInput {
                    button,
                    state,
                    window,
                });
                match state {
                    ButtonState::Pressed => PointerAction::Press(PointerButton::Primary),
                    ButtonState::Released => PointerAction::Release(PointerButton::Primary),
                }
            }
        };
        let location = Location {
            target: target.normalized(),
            position: screen.cursor_position().unwrap_or_default(),
        };
        pointers.write(PointerInput::new(
            PointerId::Mouse,
            location,
            pointer_action,
        ));
    }
    *tick += 1;
}
