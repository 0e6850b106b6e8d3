//! The layers that decide which colliders interact, and their names. `PairRules` calls
//! [`CollisionLayers::interacts_with`] for each pair.

use core::fmt::{self, Debug};

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use bevy::reflect::{ReflectDeserialize, ReflectSerialize};

/// The layers that a collider is on, and the layers that it interacts with. Each bit is a layer.
///
/// Two colliders are tested only if each collider is on a layer that the other collider interacts
/// with. A collider without this component is on all layers, and interacts with all layers. A
/// change takes effect in the next tick, even if the colliders are at rest.
///
/// ```
/// use headbutt::prelude::*;
///
/// #[derive(Clone, Copy, Debug)]
/// enum Layer { Player, Enemy, Wall }
///
/// impl LayerMask for Layer {
///     fn mask(&self) -> u32 { 1 << *self as u32 }
/// }
///
/// let player = CollisionLayers::new(Layer::Player, [Layer::Enemy, Layer::Wall]);
/// let enemy = CollisionLayers::new(Layer::Enemy, [Layer::Player, Layer::Wall]);
/// assert!(player.interacts_with(enemy));
/// assert!(!enemy.interacts_with(enemy));
/// assert!(player.interacts_with(CollisionLayers::ALL));
/// assert!(!player.interacts_with(CollisionLayers::NONE));
/// ```
///
/// A mask of type `u32` also selects layers: `CollisionLayers::new(0b001, 0b110)`. [`LayerNames`]
/// gives the layers names in the texts of `explain`.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct CollisionLayers {
    /// The layers that this collider is on.
    pub memberships: u32,
    /// The layers that this collider interacts with.
    pub filters: u32,
}

impl CollisionLayers {
    /// All layers. A collider without [`CollisionLayers`] behaves in the same way.
    pub const ALL: Self = Self::from_bits(u32::MAX, u32::MAX);

    /// No layers. A collider with these layers touches nothing.
    pub const NONE: Self = Self::from_bits(0, 0);

    /// Creates the component from the layers that the collider is on, and the layers that it
    /// interacts with.
    pub fn new(memberships: impl LayerMask, filters: impl LayerMask) -> Self {
        Self::from_bits(memberships.mask(), filters.mask())
    }

    /// Creates the component from two bit masks. This function can also be used in a constant.
    pub const fn from_bits(memberships: u32, filters: u32) -> Self {
        Self {
            memberships,
            filters,
        }
    }

    /// Returns `true` if each collider is on a layer that the other collider interacts with.
    pub const fn interacts_with(self, other: Self) -> bool {
        self.memberships & other.filters != 0 && other.memberships & self.filters != 0
    }
}

impl Default for CollisionLayers {
    /// Returns [`ALL`](Self::ALL).
    fn default() -> Self {
        Self::ALL
    }
}

/// A layer, or several layers: a variant of an enum, an array of such variants, or a mask of `u32`.
///
/// An app implements the trait for its enum, as the example of [`CollisionLayers`] shows.
pub trait LayerMask {
    /// Returns a mask with a bit for each layer.
    fn mask(&self) -> u32;
}

impl LayerMask for u32 {
    fn mask(&self) -> u32 {
        *self
    }
}

impl<L: LayerMask> LayerMask for [L] {
    fn mask(&self) -> u32 {
        self.iter().fold(0, |mask, layer| mask | layer.mask())
    }
}

impl<L: LayerMask, const N: usize> LayerMask for [L; N] {
    fn mask(&self) -> u32 {
        self.as_slice().mask()
    }
}

impl<L: LayerMask + ?Sized> LayerMask for &L {
    fn mask(&self) -> u32 {
        (**self).mask()
    }
}

/// The names of the app's layers, for the texts of `explain` and of the pair that the debug drawing
/// explains. Without this resource, the texts show bit masks.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::{LayerNames, prelude::*};
///
/// #[derive(Clone, Copy, Debug)]
/// enum Layer { Player, Wall }
///
/// impl LayerMask for Layer {
///     fn mask(&self) -> u32 { 1 << *self as u32 }
/// }
///
/// let names = LayerNames::new([Layer::Player, Layer::Wall]);
/// assert_eq!(names.text([Layer::Player, Layer::Wall]), "Player, Wall");
/// assert_eq!(names.text(0b110), "Wall, 0b100");
/// let layers = CollisionLayers::new(Layer::Player, Layer::Wall);
/// let text = format!("{:?}", names.debug(layers));
/// assert_eq!(text, "CollisionLayers { memberships: Player, filters: Wall }");
/// App::new().insert_resource(names);
/// ```
#[derive(Resource, Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerNames(Vec<(u32, String)>);

impl LayerNames {
    /// Names layers by their `Debug` text, such as the name of an enum's variant.
    pub fn new<L: LayerMask + Debug>(layers: impl IntoIterator<Item = L>) -> Self {
        let layers = layers.into_iter();
        Self(
            layers
                .map(|layer| (layer.mask(), format!("{layer:?}")))
                .collect(),
        )
    }

    /// Returns the names of layers, separated by commas. Layers without a name are shown as a mask.
    pub fn text(&self, layers: impl LayerMask) -> String {
        let mut unnamed = layers.mask();
        let mut texts = Vec::new();
        for (mask, name) in &self.0 {
            if *mask != 0 && layers.mask() & mask == *mask {
                unnamed &= !mask;
                texts.push(name.clone());
            }
        }
        if unnamed != 0 || texts.is_empty() {
            texts.push(format!("{unnamed:#b}"));
        }
        texts.join(", ")
    }

    /// Returns layers that `{:?}` shows with their names. (The `Debug` text of [`CollisionLayers`]
    /// shows numbers, because the component does not have the names.)
    pub fn debug(&self, layers: CollisionLayers) -> impl Debug {
        fmt::from_fn(move |out| {
            let [memberships, filters] =
                [layers.memberships, layers.filters].map(|mask| self.text(mask));
            out.debug_struct("CollisionLayers")
                .field("memberships", &format_args!("{memberships}"))
                .field("filters", &format_args!("{filters}"))
                .finish()
        })
    }
}
