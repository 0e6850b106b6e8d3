//! The poses of colliders in queries, and of parts in compounds. Each query calls
//! `QueryPose::world_pose` for the pose of a collider.

use bevy::transform::components::{GlobalTransform, Transform};

use crate::{
    Collider,
    math::{DMat3, DVec2, DVec3, Isometry2d, Isometry3d, Quat, Rot2, Vec2, Vec3},
    shape::{Affine, Dimension, ShapeError, WorldPose},
    space::{DVector, Pose, PoseKind, QueryPose, Space, Translation, pose_sealed},
};

/// The pose of a 2D or 3D collider, as the user passed it.
#[derive(Clone, Copy, Debug)]
pub enum PoseSource {
    D2(QueryPose<Vec2>),
    D3(Isometry3d),
    Transform(Transform),
    Global(GlobalTransform),
}

impl pose_sealed::Sealed for Collider {}

impl PoseKind for Collider {
    type Vector = Vec3;
    type Source = PoseSource;

    fn unscaled(source: &PoseSource) -> Option<Pose<DVec3>> {
        match source {
            PoseSource::D2(pose) => pose.0.map(in_3d),
            PoseSource::D3(isometry) => QueryPose::<Vec3>::from(*isometry).0,
            PoseSource::Transform(transform) => QueryPose::<Vec3>::from(transform).0,
            PoseSource::Global(global) => QueryPose::<Vec3>::from(global.compute_transform()).0,
        }
    }
}

impl<V: Dimension> Translation<Collider> for V {
    fn to_vector(self) -> Vec3 {
        self.to_vec3()
    }
}

impl QueryPose<Collider> {
    /// Returns the pose in the dimension of `V`, or `None` if the pose is invalid.
    pub(crate) fn world_pose<V: Space>(&self) -> Option<WorldPose<V::DVec>> {
        match &self.0 {
            PoseSource::D2(pose) => Some(WorldPose::from_pose(&restricted::<V>(&in_3d(pose.0?)))),
            PoseSource::D3(isometry) => {
                WorldPose::from_transform(&Transform::from_isometry(*isometry))
            }
            PoseSource::Transform(transform) => WorldPose::from_transform(transform),
            PoseSource::Global(global) => {
                let affine = global.affine();
                let [x, y, z] = [0, 1, 2].map(|index| affine.matrix3.col(index).as_dvec3());
                WorldPose::from_affine_f32(&Affine {
                    linear: DMat3::from_cols(x, y, z),
                    translation: affine.translation.as_dvec3(),
                })
            }
        }
    }

    /// Returns the pose of a part of a compound, or an error if the pose is invalid, or if it
    /// scales or mirrors the part.
    pub(super) fn part_pose<V: Space>(&self) -> Result<Pose<V::DVec>, ShapeError> {
        let transform = match self.0 {
            PoseSource::Transform(transform) => transform,
            PoseSource::Global(global) => global.compute_transform(),
            PoseSource::D2(_) | PoseSource::D3(_) => {
                let is_2d = matches!(self.0, PoseSource::D2(_));
                if is_2d != (V::DVec::DIMENSION == 2) {
                    return Err(ShapeError::MixedDimensions);
                }
                let pose = Collider::unscaled(&self.0).ok_or(ShapeError::PoseNotFinite)?;
                return Ok(restricted::<V>(&pose));
            }
        };
        if !transform.is_finite() {
            return Err(ShapeError::PoseNotFinite);
        }
        let pose = QueryPose::<V>::from(transform).0;
        let has_no_scale = V::projected(transform.scale) == V::projected(Vec3::ONE);
        pose.filter(|pose| has_no_scale && !V::DVec::is_mirrored(pose.rotation))
            .ok_or(ShapeError::PartTransform)
    }
}

/// Converts a 2D pose to a 3D pose in the plane z = 0.
fn in_3d(pose: Pose<DVec2>) -> Pose<DVec3> {
    let [x, y] = [pose.rotation.x_axis, pose.rotation.y_axis].map(|axis| axis.extend(0.0));
    Pose {
        rotation: DMat3::from_cols(x, y, DVec3::Z),
        translation: pose.translation.extend(0.0),
    }
}

/// In 2D, returns the xy part of a pose, which must not tilt the xy plane. In 3D, returns the pose.
fn restricted<V: Space>(pose: &Pose<DVec3>) -> Pose<V::DVec> {
    let (rotation, translation) = V::DVec::restrict(pose.rotation, pose.translation);
    Pose {
        rotation,
        translation,
    }
}

macro_rules! sources {
    ($($source:ty => $variant:ident($pose:ident: $stored:expr)),*) => { $(
        impl From<$source> for QueryPose<Collider> {
            fn from($pose: $source) -> Self {
                Self(PoseSource::$variant($stored))
            }
        }
    )* };
}

sources! {
    Vec2 => D2(pose: pose.into()),
    Rot2 => D2(pose: pose.into()),
    Isometry2d => D2(pose: pose.into()),
    Vec3 => D3(pose: pose.into()),
    Quat => D3(pose: pose.into()),
    Isometry3d => D3(pose: pose),
    Transform => Transform(pose: pose),
    GlobalTransform => Global(pose: pose),
    &GlobalTransform => Global(pose: *pose)
}
