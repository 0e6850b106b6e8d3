//! Ticks without a window or a clock, for tests and tools. Tests call [`run_ticks`] instead of
//! `App::run`.

use bevy::{
    prelude::*,
    time::{Real, TimeUpdateStrategy},
};

/// Runs `ticks` fixed ticks of an app, for tests and programs without a window. Each tick is an
/// update of the app.
///
/// By default, [`App::update`] runs as many ticks as fit into the time since the last update, and
/// none in the first update. After a call of this function, each further update runs one tick.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// let mut app = App::new();
/// app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
/// app.world_mut().spawn(Collider::circle(1.0));
/// app.world_mut().spawn((Collider::circle(1.0), Transform::from_xyz(1.5, 0.0, 0.0)));
/// headbutt::run_ticks(&mut app, 10);
/// assert_eq!(app.world().resource::<Collisions>().iter().count(), 1);
/// ```
///
/// A tick lasts for the timestep of [`Time<Fixed>`], by default 1/64 s. [`Time<Virtual>`] must run
/// at normal speed, and its `max_delta` must be at least the timestep. Otherwise, the number of
/// ticks differs. `MinimalPlugins` contains Bevy's `TimePlugin`. Without `TimePlugin`, this
/// function only updates the app `ticks` times.
pub fn run_ticks(app: &mut App, ticks: u32) {
    if let Some(fixed) = app.world().get_resource::<Time<Fixed>>() {
        let tick = TimeUpdateStrategy::ManualDuration(fixed.timestep());
        app.insert_resource(tick);
        let clock = app.world().get_resource::<Time<Real>>();
        // The first update only starts the clock, and runs no tick.
        if clock.is_some_and(|clock| clock.first_update().is_none()) {
            app.update();
        }
    }
    for _ in 0..ticks {
        app.update();
    }
}
