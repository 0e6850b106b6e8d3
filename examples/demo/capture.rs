//! Pictures without a window: the cameras draw into an image, one tick per frame, and the image is
//! written to a file. Needs no display, only a driver for Vulkan (a software one will do).

use std::path::{Path, PathBuf};

use bevy::{
    camera::{ImageRenderTarget, NormalizedRenderTarget, RenderTarget},
    picking::input::PointerInputSettings,
    prelude::*,
    render::{
        RenderPlugin,
        render_resource::{TextureFormat, TextureUsages},
        view::screenshot::{Screenshot, ScreenshotCaptured, save_to_disk},
    },
    time::TimeUpdateStrategy,
    ui::IsDefaultUiCamera,
    window::ExitCondition,
    winit::WinitPlugin,
};

use super::{SIZE, options::Options, script, window};

/// The image that the cameras draw into.
#[derive(Resource)]
pub struct Target(Handle<Image>);

impl Target {
    /// Returns the image as a place where a pointer can be.
    pub fn normalized(&self) -> NormalizedRenderTarget {
        NormalizedRenderTarget::Image(ImageRenderTarget::from(self.0.clone()))
    }
}

/// When to take pictures, and into which files.
#[derive(Resource)]
struct Pictures {
    file: PathBuf,
    last: u32,
    every: u32,
    /// The ticks so far.
    tick: u32,
    /// The pictures that are not in their files yet.
    pending: u32,
}

impl Pictures {
    /// Returns the file of the picture at a tick.
    fn file_at(&self, tick: u32) -> String {
        let number = format!("{:04}", tick / self.every);
        self.file.to_string_lossy().replace('#', &number)
    }
}

/// Adds all of Bevy but the window, and what takes the pictures.
pub fn build(app: &mut App, title: &str, file: &Path, options: &Options) {
    let mut window = window(title);
    window.exit_condition = ExitCondition::DontExit;
    app.add_plugins(
        DefaultPlugins
            .set(window)
            // Without it, the first frames lack what is still being compiled.
            .set(RenderPlugin {
                synchronous_pipeline_compilation: true,
                ..default()
            })
            .disable::<WinitPlugin>()
            .disable::<bevy::log::LogPlugin>(),
    );
    let mut image = Image::new_target_texture(SIZE.x, SIZE.y, TextureFormat::Rgba8UnormSrgb, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    let image = app.world_mut().resource_mut::<Assets<Image>>().add(image);
    let tick = app.world().resource::<Time<Fixed>>().timestep();
    app.insert_resource(Target(image))
        .insert_resource(options.script.clone())
        .insert_resource(TimeUpdateStrategy::ManualDuration(tick))
        .insert_resource(PointerInputSettings {
            is_mouse_enabled: false,
            ..default()
        })
        .insert_resource(Pictures {
            file: file.to_owned(),
            last: options.ticks,
            every: options.every,
            tick: 0,
            pending: 0,
        })
        .add_observer(draw_into_image)
        .add_systems(First, script::play)
        .add_systems(Last, take);
    app.set_runner(|mut app| {
        app.finish();
        app.cleanup();
        loop {
            app.update();
            if let Some(exit) = app.should_exit() {
                return exit;
            }
        }
    });
}

fn draw_into_image(add: On<Add, Camera>, target: Res<Target>, mut commands: Commands) {
    commands.entity(add.entity).insert((
        RenderTarget::Image(ImageRenderTarget::from(target.0.clone())),
        IsDefaultUiCamera,
    ));
}

/// Takes a picture if its tick has come. Ends the app when the last one is in its file.
fn take(
    mut pictures: ResMut<Pictures>,
    target: Res<Target>,
    mut commands: Commands,
    mut exit: MessageWriter<AppExit>,
) {
    pictures.tick += 1;
    let tick = pictures.tick;
    if tick > pictures.last && pictures.pending == 0 {
        let file = pictures.file_at(pictures.last);
        exit.write(if Path::new(&file).exists() {
            AppExit::Success
        } else {
            eprintln!("{file} cannot be written");
            AppExit::error()
        });
    }
    if tick == pictures.last || (tick < pictures.last && tick.is_multiple_of(pictures.every)) {
        let file = pictures.file_at(tick);
        pictures.pending += 1;
        commands
            .spawn(Screenshot::image(target.0.clone()))
            .observe(save_to_disk(file))
            .observe(
                |_: On<ScreenshotCaptured>, mut pictures: ResMut<Pictures>| {
                    pictures.pending -= 1;
                },
            );
    }
}
