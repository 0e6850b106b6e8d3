//! The regions that moving proxies cover, and boxes around them.

use crate::{
    shape::{Aabb, Bounds},
    space::DVector,
};

/// The maximum number of pieces of a path, which bounds the memory of long jumps.
const MAX_PIECES: f64 = 64.0;

/// The region that a rotating proxy covers, placed at the end of its path: the intersection of a
/// box and a ball.
#[derive(Clone, Copy, Debug)]
pub struct PathRegion<D> {
    bounds: Bounds<D>,
    center: D,
    radius: f64,
    translation: D,
}

impl<D: DVector> PathRegion<D> {
    /// Returns the region of a proxy without a path.
    pub fn at_rest(aabb: &Aabb) -> Self {
        let (center, radius) = aabb.ball();
        Self {
            bounds: aabb.bounds(),
            center,
            radius,
            translation: D::ZERO,
        }
    }

    /// Returns the region of a proxy that rotates about `pivot` while it moves by `translation`.
    /// `aabb` is the proxy's box at the end of the path.
    pub fn new(aabb: &Aabb, pivot: D, max_angle: f64, translation: D) -> Self {
        let mut region = Self::at_rest(aabb);
        region.translation = translation;
        if max_angle > 0.0 {
            region.bounds = region.bounds.around_rotation(pivot, max_angle);
            region.radius += (region.center - pivot).length() * max_angle;
        }
        region
    }

    /// Returns a box around the path.
    pub fn path_box(&self) -> Aabb {
        let bounds = self.bounds.around_translation(-self.translation);
        let middle = self.center - self.translation * 0.5;
        let aside = (bounds.min + bounds.max) * 0.5 - middle;
        let radius = self.radius + 0.5 * self.translation.length() + aside.length();
        Aabb::around(&bounds, radius)
    }

    /// Returns the number of pieces into which the path is cut. Along the second longest axis of
    /// the path, a piece is about as long as the moving box and a typical box together. So a path
    /// along one axis has one piece: the box around such a path is no larger than the path.
    pub fn piece_count(&self, typical_size: f64) -> u32 {
        let mut lengths = self.translation.components().map(f64::abs);
        lengths.sort_unstable_by(f64::total_cmp);
        let [_, second, _] = lengths;
        let size = (self.bounds.max - self.bounds.min).extent() + typical_size;
        // The size of a point at the origin is 0, which cannot be a divisor.
        let size = size.max(f64::MIN_POSITIVE);
        (second / size).clamp(1.0, MAX_PIECES) as u32
    }

    /// Returns a box around each of `count` pieces of the path, beginning with the last piece.
    pub fn piece_boxes(self, count: u32) -> impl Iterator<Item = Aabb> {
        let step = self.translation * (-1.0 / f64::from(count));
        (0..count).map(move |index| {
            let end = self.bounds.moved(step * f64::from(index));
            Aabb::around(&end.around_translation(step), f64::INFINITY)
        })
    }

    /// Returns `true` unless two regions stay apart during their translations.
    pub fn may_meet(&self, other: &Self) -> bool {
        // The test of the balls comes first, because it takes less time.
        let back = self.translation - other.translation;
        let offset = other.center - self.center;
        let length = back.length_squared();
        let time = if length > 0.0 {
            (-offset.dot(back) / length).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let distance = (offset + back * time).length_squared();
        distance <= (self.radius + other.radius).powi(2)
            && self.bounds.entry(&other.bounds, back) <= 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::DVec3;
    use rand::{Rng, SeedableRng, rngs::StdRng};

    fn vector(random: &mut StdRng) -> DVec3 {
        DVec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)))
    }

    /// Samples the distance between two balls at 1,001 points in time.
    #[test]
    fn regions_of_balls_may_meet_only_if_the_balls_nearly_touch_on_the_way() {
        let mut random = StdRng::seed_from_u64(2);
        let mut counts = [0, 0];
        for _ in 0..4_000 {
            let [a, b] = [(); 2].map(|()| {
                let radius = random.random_range(0.05..0.5);
                let (end, translation) = (vector(&mut random) * 1.5, vector(&mut random) * 3.0);
                (radius, end, translation)
            });
            let region = |(radius, end, translation): (f64, DVec3, DVec3)| {
                let (min, max) = (end - radius, end + radius);
                let aabb = Aabb::around(&Bounds { min, max }, radius);
                PathRegion::new(&aabb, end, 0.0, translation)
            };
            let distance = (0..=1_000).map(|step| {
                let back = f64::from(step) / 1_000.0;
                (a.1 - a.2 * back).distance(b.1 - b.2 * back)
            });
            let gap = distance.fold(f64::INFINITY, f64::min) - a.0 - b.0;
            let may_meet = region(a).may_meet(&region(b));
            if gap <= 0.0 {
                assert!(may_meet, "{a:?} {b:?}");
                counts[0] += 1;
            } else if gap > 0.01 {
                assert!(!may_meet, "{a:?} {b:?}: {gap}");
                counts[1] += 1;
            }
        }
        assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
    }
}
