//! Pictures without a window: the cameras draw into an image, one tick per frame, and the image is
//! written to a file. Taking pictures needs no display, only a driver for Vulkan, such as a
//! software driver.
//!
//! For each picture, time stands still until no render pipeline is missing and two captures in a
//! row are equal. So a picture does not depend on the speed of the machine.

use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Duration,
};

use bevy::{
    camera::{ImageRenderTarget, NormalizedRenderTarget, RenderTarget},
    picking::input::PointerInputSettings,
    prelude::*,
    render::{
        RenderApp, RenderPlugin,
        pipelined_rendering::PipelinedRenderingPlugin,
        render_resource::{PipelineCache, TextureFormat, TextureUsages},
        view::screenshot::{Screenshot, ScreenshotCaptured},
    },
    time::TimeUpdateStrategy,
    ui::IsDefaultUiCamera,
    window::ExitCondition,
    winit::WinitPlugin,
};

use super::{SIZE, options::Options, script, window};

/// The maximum number of captures for one picture.
const MAX_CAPTURES: u32 = 100;

/// The maximum number of updates until no pipeline is missing, or until a capture is ready.
const MAX_UPDATES: u32 = 2000;

/// The image that the cameras draw into.
#[derive(Resource)]
pub struct Target(Handle<Image>);

impl Target {
    /// Returns the image as the target of a pointer.
    pub fn normalized(&self) -> NormalizedRenderTarget {
        NormalizedRenderTarget::Image(ImageRenderTarget::from(self.0.clone()))
    }
}

/// The ticks of the pictures, and the files to write.
struct Pictures {
    file: PathBuf,
    last: u32,
    every: u32,
}

impl Pictures {
    /// Returns the file of the picture at a tick, or `None` if the tick has no picture.
    fn file_at(&self, tick: u32) -> Option<String> {
        let has_picture = tick == self.last || tick.is_multiple_of(self.every);
        let number = format!("{:04}", tick / self.every);
        has_picture.then(|| self.file.to_string_lossy().replace('#', &number))
    }
}

/// `true` if the cameras draw. A software renderer takes up to a second per frame, so the cameras
/// draw only in the ticks with a picture.
#[derive(Resource, Default)]
struct Draws(bool);

/// The last capture, if it has not been read yet.
#[derive(Resource, Default)]
struct Captured(Option<Image>);

/// Adds Bevy's default plugins, which open no window here, and the runner that takes the pictures.
pub fn build(app: &mut App, title: &str, file: &Path, options: &Options) {
    let mut window = window(title);
    window.exit_condition = ExitCondition::DontExit;
    app.add_plugins(
        DefaultPlugins
            .set(window)
            .set(RenderPlugin {
                synchronous_pipeline_compilation: true,
                ..default()
            })
            // Each update must draw its own results, and the runner reads the state of the
            // renderer.
            .disable::<PipelinedRenderingPlugin>()
            .disable::<WinitPlugin>()
            .disable::<bevy::log::LogPlugin>(),
    );
    let mut image = Image::new_target_texture(SIZE.x, SIZE.y, TextureFormat::Rgba8UnormSrgb, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    let image = app.world_mut().resource_mut::<Assets<Image>>().add(image);
    let pictures = Pictures {
        file: file.to_owned(),
        last: options.ticks,
        every: options.every,
    };
    app.insert_resource(Target(image))
        .insert_resource(options.script.clone())
        .init_resource::<Captured>()
        .init_resource::<Draws>()
        .insert_resource(PointerInputSettings {
            is_mouse_enabled: false,
            ..default()
        })
        .add_observer(draw_into_image)
        .add_systems(First, open_cameras)
        .add_systems(Last, close_cameras)
        .set_runner(move |app| run(app, &pictures));
}

fn draw_into_image(add: On<Add, Camera>, target: Res<Target>, mut commands: Commands) {
    commands.entity(add.entity).insert((
        RenderTarget::Image(ImageRenderTarget::from(target.0.clone())),
        IsDefaultUiCamera,
    ));
}

/// Turns on all cameras, because picking ignores cameras that are off.
fn open_cameras(mut cameras: Query<&mut Camera>) {
    cameras
        .iter_mut()
        .for_each(|mut camera| camera.is_active = true);
}

/// Turns off all cameras before Bevy draws, unless a picture is taken.
fn close_cameras(mut cameras: Query<&mut Camera>, draws: Res<Draws>) {
    cameras
        .iter_mut()
        .for_each(|mut camera| camera.is_active = draws.0);
}

/// Runs the ticks, one per update, and takes the pictures.
fn run(mut app: App, pictures: &Pictures) -> AppExit {
    app.finish();
    app.cleanup();
    let timestep = app.world().resource::<Time<Fixed>>().timestep();
    for tick in 1..=pictures.last {
        let result = app.world_mut().run_system_cached(script::play);
        result.expect("a window, which `build` adds");
        set_time_step(&mut app, timestep);
        app.insert_resource(Draws(false));
        app.update();
        if let Some(exit) = app.should_exit() {
            return exit;
        }
        if let Some(file) = pictures.file_at(tick)
            && let Err(error) = take(&mut app, &file)
        {
            eprintln!("{file}: {error}");
            return AppExit::error();
        }
    }
    AppExit::Success
}

/// Sets the time that passes from one update to the next.
fn set_time_step(app: &mut App, duration: Duration) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(duration));
}

/// Writes a picture of the current tick. Time stands still until everything is drawn.
fn take(app: &mut App, file: &str) -> Result<(), Box<dyn Error>> {
    set_time_step(app, Duration::ZERO);
    app.insert_resource(Draws(true));
    let mut previous = None;
    for _ in 0..MAX_CAPTURES {
        let picture = capture(app).ok_or("not all is drawn after many updates")?;
        if previous.as_ref() == Some(&picture) {
            picture.try_into_dynamic()?.to_rgb8().save(file)?;
            return Ok(());
        }
        previous = Some(picture);
    }
    Err("the picture changes while time stands still".into())
}

/// Draws until no pipeline is missing, and returns the image, or `None` after too many updates.
///
/// Bevy loads shaders on other threads, and omits everything whose shader is not loaded yet.
fn capture(app: &mut App) -> Option<Image> {
    (0..MAX_UPDATES).find(|_| {
        app.update();
        let pipelines = app.sub_app(RenderApp).world().resource::<PipelineCache>();
        pipelines.waiting_pipelines().next().is_none()
    })?;
    let screenshot = Screenshot::image(app.world().resource::<Target>().0.clone());
    let keep = |capture: On<ScreenshotCaptured>, mut captured: ResMut<Captured>| {
        captured.0 = Some(capture.image.clone());
    };
    app.world_mut().spawn(screenshot).observe(keep);
    (0..MAX_UPDATES).find_map(|_| {
        app.update();
        app.world_mut().resource_mut::<Captured>().0.take()
    })
}
