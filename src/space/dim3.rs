//! The vector arithmetic of 3D.

use crate::{
    math::{DMat3, DQuat, DVec3, IVec3, Isometry3d, Vec3, Vec3Swizzles},
    space::{DVector, Pose, Space, polytope3::Polyhedron, vector::methods_of_glam},
};

impl Space for Vec3 {
    type DVec = DVec3;
    type Isometry = Isometry3d;
    type Angle = Vec3;
    type CellPosition = IVec3;

    #[inline]
    fn position_to_array(position: IVec3) -> [i32; 3] {
        position.into()
    }

    #[inline]
    fn position_of(coordinates: [i32; 3]) -> IVec3 {
        coordinates.into()
    }

    #[inline]
    fn angle_to_f64(angle: Vec3) -> DVec3 {
        angle.as_dvec3()
    }

    #[inline]
    fn to_f64(self) -> DVec3 {
        self.as_dvec3()
    }

    #[inline]
    fn from_f64(vector: DVec3) -> Self {
        vector.as_vec3() + Vec3::ZERO
    }

    fn nearest_isometry(pose: &Pose<DVec3>) -> Isometry3d {
        let rotation = DQuat::from_mat3(&pose.rotation).as_quat();
        Isometry3d::new(Self::from_f64(pose.translation), rotation)
    }

    #[inline(always)]
    fn pose(isometry: Isometry3d) -> Option<Pose<DVec3>> {
        let translation = Self::projected(isometry.translation.into());
        let rotation = DVec3::rotation_of(isometry.rotation.as_dquat());
        Pose::new(rotation, translation.to_f64())
    }
}

impl DVector for DVec3 {
    type Matrix = DMat3;
    type Angle = DVec3;
    type Area = DVec3;
    type Polytope<const FACETS: usize> = Polyhedron<FACETS>;

    const DIMENSION: usize = 3;
    const IDENTITY: DMat3 = DMat3::IDENTITY;

    methods_of_glam!();

    #[inline]
    fn restrict(linear: DMat3, translation: DVec3) -> (DMat3, DVec3) {
        // Adding zero makes negative zeros positive, here and below: see `Space::pose`.
        (linear + DMat3::ZERO, translation + DVec3::ZERO)
    }

    /// A unit quaternion q = (v, w) rotates e to e + 2 w v × e + 2 v × (v × e). The last two terms
    /// are quadratic in q. If q has another length, these terms are divided by |q|², which needs no
    /// square root.
    #[inline(always)]
    fn rotation_of(quaternion: DQuat) -> Option<DMat3> {
        let square = quaternion.length_squared();
        let twice = 2.0 / square;
        let (axis, w) = (quaternion.xyz(), quaternion.w);
        let scaled = axis * twice;
        let [xx, yy, zz] = (axis * scaled).to_array();
        let [xy, yz, zx] = (axis * scaled.yzx()).to_array();
        let [wx, wy, wz] = (scaled * w).to_array();
        (square > 0.0 && square.is_finite()).then(|| {
            DMat3::from_cols(
                DVec3::new(1.0 - (yy + zz), xy + wz, zx - wy) + DVec3::ZERO,
                DVec3::new(xy - wz, 1.0 - (zz + xx), yz + wx) + DVec3::ZERO,
                DVec3::new(zx + wy, yz - wx, 1.0 - (xx + yy)) + DVec3::ZERO,
            )
        })
    }

    #[inline]
    fn angle_of(rotation: DVec3) -> DVec3 {
        rotation
    }

    #[inline]
    fn axis(index: usize) -> Self {
        match index {
            0 => DVec3::X,
            1 => DVec3::Y,
            _ => DVec3::Z,
        }
    }

    #[inline]
    fn component(self, index: usize) -> f64 {
        match index {
            0 => self.x,
            1 => self.y,
            _ => self.z,
        }
    }

    #[inline]
    fn components(self) -> [f64; 3] {
        self.into()
    }

    #[inline]
    fn of(components: [f64; 3]) -> Self {
        components.into()
    }

    #[inline]
    fn wedge(self, other: Self) -> DVec3 {
        self.cross(other)
    }

    #[inline]
    fn dot_areas(a: DVec3, b: DVec3) -> f64 {
        a.dot(b)
    }

    #[inline]
    fn determinant(edges: &[Self]) -> f64 {
        match edges {
            [a, b, c] => a.cross(*b).dot(*c),
            _ => 0.0,
        }
    }

    #[inline]
    fn perpendicular(edges: &[Self]) -> Option<Self> {
        match edges {
            [] => Some(DVec3::X),
            // The axis of the smallest component is chosen, because this axis has the greatest
            // angle to the edge.
            [edge] => {
                let size = edge.abs();
                let axis = if size.x <= size.y && size.x <= size.z {
                    DVec3::X
                } else if size.y <= size.z {
                    DVec3::Y
                } else {
                    DVec3::Z
                };
                Some(edge.cross(axis).cross(*edge))
            }
            [a, b] => Some(a.cross(*b)),
            _ => None,
        }
    }

    /// Computes [`rotation_of`](DVector::rotation_of) for the quaternion (k sin(a/2), cos(a/2)),
    /// where k is the unit axis and a the angle.
    #[inline]
    fn rotation(angle: DVec3) -> DMat3 {
        let size = DVector::length(angle);
        let Some(k) = angle.unit() else {
            return DMat3::IDENTITY;
        };
        let (half_sin, half_cos) = libm::sincos(0.5 * size);
        let scaled = k * (2.0 * half_sin);
        let [xx, yy, zz] = (scaled * k * half_sin).to_array();
        let [xy, yz, zx] = (scaled * k.yzx() * half_sin).to_array();
        let [wx, wy, wz] = (scaled * half_cos).to_array();
        DMat3::from_cols(
            DVec3::new(1.0 - (yy + zz), xy + wz, zx - wy),
            DVec3::new(xy - wz, 1.0 - (zz + xx), yz + wx),
            DVec3::new(zx + wy, yz - wx, 1.0 - (xx + yy)),
        )
    }

    fn angle_between(start: DMat3, end: DMat3) -> DVec3 {
        let DQuat { x, y, z, w } = DQuat::from_mat3(&(end * start.transpose()));
        let axis = DVec3::new(x, y, z).toward(DVec3::new(x, y, z) * w);
        let size = 2.0 * libm::atan2(DVector::length(axis), w.abs());
        axis.unit().map_or(DVec3::ZERO, |axis| axis * size)
    }

    #[inline]
    fn angle_size(angle: DVec3) -> f64 {
        DVector::length(angle)
    }

    #[inline]
    fn rotated_by(self, angular_velocity: DVec3) -> Self {
        angular_velocity.cross(self)
    }
}
