//! Serialization of colliders, with the feature `serialize`. `shape/serialize.rs` defines the data
//! of each dimension.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::{
    collider::{Collider, ColliderState},
    math::{Vec2, Vec3},
    shape::{
        AnyColliderShape,
        serialize::{BodyData, SaveError},
    },
};

/// A collider as data.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Collider")]
enum SavedCollider {
    /// The default collider.
    Inert,
    /// A 2D collider.
    D2(BodyData<Vec2>),
    /// A 3D collider.
    D3(BodyData<Vec3>),
}

impl Serialize for Collider {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = match &self.content {
            ColliderState::Inert => SavedCollider::Inert,
            ColliderState::Rejected(error) => {
                return Err(ser::Error::custom(SaveError::Rejected(*error)));
            }
            ColliderState::Shape(AnyColliderShape::D2(shape)) => {
                SavedCollider::D2(BodyData::of(shape))
            }
            ColliderState::Shape(AnyColliderShape::D3(shape)) => {
                SavedCollider::D3(BodyData::of(shape))
            }
        };
        saved.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Collider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let collider = match SavedCollider::deserialize(deserializer)? {
            SavedCollider::Inert => Ok(Self::default()),
            SavedCollider::D2(data) => data.body().map(Self::of_shape),
            SavedCollider::D3(data) => data.body().map(Self::of_shape),
        };
        collider.map_err(de::Error::custom)
    }
}
