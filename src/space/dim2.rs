//! The vector arithmetic of 2D.

use crate::{
    math::{DMat2, DMat3, DQuat, DVec2, DVec3, IVec2, Isometry2d, Rot2, Vec2},
    space::{DVector, Pose, Space, polytope2::EpaPolygon, vector::methods_of_glam},
};

impl Space for Vec2 {
    type DVec = DVec2;
    type Isometry = Isometry2d;
    type Angle = f32;
    type CellPosition = IVec2;

    #[inline]
    fn position_to_array(position: IVec2) -> [i32; 3] {
        [position.x, position.y, 0]
    }

    #[inline]
    fn position_of([x, y, _]: [i32; 3]) -> IVec2 {
        IVec2::new(x, y)
    }

    #[inline]
    fn angle_to_f64(angle: f32) -> f64 {
        angle.into()
    }

    #[inline]
    fn to_f64(self) -> DVec2 {
        self.as_dvec2()
    }

    #[inline]
    fn from_f64(vector: DVec2) -> Self {
        vector.as_vec2() + Vec2::ZERO
    }

    fn nearest_isometry(pose: &Pose<DVec2>) -> Isometry2d {
        let x = Self::from_f64(pose.rotation.x_axis);
        let rotation = Rot2 { cos: x.x, sin: x.y };
        Isometry2d::new(Self::from_f64(pose.translation), rotation)
    }

    #[inline(always)]
    fn pose(isometry: Isometry2d) -> Option<Pose<DVec2>> {
        let rotation = isometry.rotation;
        let x = DVec2::new(rotation.cos.into(), rotation.sin.into()).unit();
        let rotation = x.map(|x| DMat2::from_cols(x + DVec2::ZERO, x.perp() + DVec2::ZERO));
        Pose::new(rotation, isometry.translation.to_f64() + DVec2::ZERO)
    }
}

/// Returns the rotation of the quaternion q = (0, 0, z, w). The angle about z has the cosine (w² -
/// z²) / |q|² and the sine 2 w z / |q|².
#[inline(always)]
fn about_z(DQuat { z, w, .. }: DQuat) -> Option<DMat2> {
    let square = z * z + w * w;
    (square > 0.0 && square.is_finite()).then(|| {
        let inverse = 1.0 / square;
        let x = DVec2::new((w * w - z * z) * inverse, 2.0 * w * z * inverse);
        DMat2::from_cols(x + DVec2::ZERO, x.perp() + DVec2::ZERO)
    })
}

/// Restricts a rotation to the xy plane, or returns `None` if the rotation tilts that plane.
/// Rotations about z and half turns about an axis in the plane do not tilt the plane.
///
/// Let t be the angle between the z axis and its image: cos(t) = (z² + w² - x² - y²) / |q|². Seen
/// along z, the rotation shortens lengths in one direction by the factor |cos(t)|. Near a rotation
/// about z, this factor is 1 - 2 (x² + y²) / |q|². Near a half turn, this factor is 1 - 2 (z² + w²)
/// / |q|².
#[cold]
fn untilted(quaternion: DQuat) -> Option<DMat2> {
    let DQuat { x, y, z, w } = quaternion;
    let (in_plane, along_z) = (x * x + y * y, z * z + w * w);
    if 2.0 * in_plane <= UNTILTED * along_z {
        return about_z(quaternion);
    }
    // The half turn about the unit vector k maps e to 2 (k·e) k - e, which mirrors the plane.
    let is_half_turn = 2.0 * along_z <= UNTILTED * in_plane && in_plane.is_finite();
    is_half_turn.then(|| {
        let inverse = 1.0 / in_plane;
        let x = DVec2::new((x * x - y * y) * inverse, 2.0 * x * y * inverse);
        DMat2::from_cols(x + DVec2::ZERO, -x.perp() + DVec2::ZERO)
    })
}

/// If, seen along z, a rotation shortens lengths by at most this fraction, the rotation counts as
/// not tilting the xy plane. The fraction is the rounding of an `f32`. The rounding of a half
/// turn's quaternion, or of a product of quaternions, tilts the plane by 1e-7 radians.
const UNTILTED: f64 = 0.5 * f32::EPSILON as f64;

impl DVector for DVec2 {
    type Matrix = DMat2;
    type Angle = f64;
    type Area = f64;
    type Polytope<const FACETS: usize> = EpaPolygon<FACETS>;

    const DIMENSION: usize = 2;
    const IDENTITY: DMat2 = DMat2::IDENTITY;

    methods_of_glam!();

    #[inline]
    fn restrict(linear: DMat3, translation: DVec3) -> (DMat2, DVec2) {
        // Adding zero makes negative zeros positive, here and below: see `Space::pose`.
        let linear = DMat2::from_mat3(linear) + DMat2::ZERO;
        (linear, translation.truncate() + DVec2::ZERO)
    }

    #[inline(always)]
    fn rotation_of(quaternion: DQuat) -> Option<DMat2> {
        if quaternion.x == 0.0 && quaternion.y == 0.0 {
            about_z(quaternion)
        } else {
            untilted(quaternion)
        }
    }

    #[inline]
    fn angle_of(rotation: DVec3) -> f64 {
        rotation.z
    }

    #[inline]
    fn axis(index: usize) -> Self {
        if index == 0 { DVec2::X } else { DVec2::Y }
    }

    #[inline]
    fn component(self, index: usize) -> f64 {
        if index == 0 { self.x } else { self.y }
    }

    #[inline]
    fn components(self) -> [f64; 3] {
        [self.x, self.y, 0.0]
    }

    #[inline]
    fn of([x, y, _]: [f64; 3]) -> Self {
        DVec2::new(x, y)
    }

    #[inline]
    fn wedge(self, other: Self) -> f64 {
        self.perp_dot(other)
    }

    #[inline]
    fn dot_areas(a: f64, b: f64) -> f64 {
        a * b
    }

    #[inline]
    fn determinant(edges: &[Self]) -> f64 {
        match edges {
            [a, b] => a.perp_dot(*b),
            _ => 0.0,
        }
    }

    #[inline]
    fn perpendicular(edges: &[Self]) -> Option<Self> {
        match edges {
            [] => Some(DVec2::X),
            // The edge is turned clockwise, so that the normal of an edge of a counter-clockwise
            // polygon points outward.
            [edge] => Some(-edge.perp()),
            _ => None,
        }
    }

    #[inline]
    fn rotation(angle: f64) -> DMat2 {
        let (sin, cos) = libm::sincos(angle);
        let x = DVec2::new(cos, sin);
        DMat2::from_cols(x, x.perp())
    }

    fn angle_between(start: DMat2, end: DMat2) -> f64 {
        if start.determinant() * end.determinant() < 0.0 {
            return 0.0;
        }
        let (start, end) = (start.x_axis, end.x_axis);
        libm::atan2(start.perp_dot(end), start.dot(end))
    }

    #[inline]
    fn angle_size(angle: f64) -> f64 {
        angle.abs()
    }

    #[inline]
    fn rotated_by(self, angular_velocity: f64) -> Self {
        self.perp() * angular_velocity
    }
}
