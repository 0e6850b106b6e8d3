//! Contacts of balls and capsules with solid cells.
//!
//! The core of the body is a point or a segment, which overlaps no cell. Let x be the point of a
//! cell that is nearest to the core, and let n be the unit vector from x to the core. A neighbor
//! that contains x *rises* along n if it lies beyond a side of the cell whose outward normal has a
//! positive component along n. If no neighbor rises, x is a local minimum of the distance from the
//! core to the union, and the body has a contact there.

use smallvec::SmallVec;

use crate::{
    placed::PartContact,
    query::nearest_on_segment,
    shape::{Bounds, CellPosition, moved, positions_in},
    space::{DVector, Space},
    surface::{
        cells::{CellBody, CellContacts, CellSide, outward},
        facet_contact::RISE_SINE_CLOSED_FORM,
    },
};

impl<V: Space> CellBody<'_, '_, V> {
    /// Adds the contacts of a ball or a capsule. The core is the segment from -`half` to `half`
    /// around the body's translation. `radii` are those of the facets and of the body.
    pub(super) fn add_minima(
        &self,
        half: V::DVec,
        radii: [f64; 2],
        contacts: &mut CellContacts<V::DVec>,
        with_repeated: bool,
    ) -> Option<usize> {
        let radius = radii[0] + radii[1];
        let reach = self.core.grown(radius + self.tolerance);
        let farthest = (radius + 2.0 * self.tolerance).powi(2);
        let mut sides: SmallVec<[(CellSide, f64); 8]> = SmallVec::new();
        for cell in &self.cells.exposed {
            let bounds = self.bounds_of_cell(cell.position);
            if !bounds.overlaps(&reach) {
                continue;
            }
            let [foot, point] = self.nearest(&bounds, half);
            let offset = point - foot;
            // Cells that are surely too far away need no square root.
            if offset.length_squared() > farthest {
                continue;
            }
            let distance = offset.length();
            let depth = radius - distance;
            if depth < -self.tolerance {
                continue;
            }
            if distance <= self.tolerance || depth < 0.0 {
                return None;
            }
            let normal = offset * (1.0 / distance);
            let signs = signs(normal);
            if self.rises(cell.position, &bounds, foot, signs) {
                continue;
            }
            let side = self.steepest_side(cell, normal)?;
            if signs.iter().filter(|sign| **sign != 0).count() == 1 {
                let normal = outward::<V::DVec>(side.1);
                let height = offset.dot(normal);
                let points = [point - normal * height, point];
                contacts.push(self.contact(side, (normal, radius - height), points, radii)?);
                sides.push((side, radius - height));
                continue;
            }
            let contact = self.contact(side, (normal, depth), [foot, point], radii)?;
            // Two cells of a row may share the nearest point of their edge.
            let foot = |it: &PartContact<V::DVec>| it.contact.offset_a;
            let is_same =
                |it: &PartContact<_>| (foot(it) - foot(&contact)).length() <= self.tolerance;
            if !contacts.iter().any(is_same) {
                contacts.push(contact);
            }
        }
        let count = contacts.len();
        if !with_repeated {
            return Some(count);
        }
        for (side, depth) in self.other_sides(&sides) {
            let bounds = self.bounds_of_side(side);
            let [foot, point] = self.nearest(&bounds, half);
            if (point - foot).length() <= radius + self.touching {
                let normal = outward::<V::DVec>(side.1);
                let lowest = self.pose.translation - half.toward(normal);
                let height = (lowest - bounds.min).dot(normal);
                let plane = (normal, depth.min(radius - height));
                contacts.push(self.contact(side, plane, [foot, lowest], radii)?);
            }
        }
        Some(count)
    }

    /// Returns the nearest points of a box and of the core, which is a segment.
    fn nearest(&self, bounds: &Bounds<V::DVec>, half: V::DVec) -> [V::DVec; 2] {
        let center = self.pose.translation;
        if half == V::DVec::ZERO {
            return [center.max(bounds.min).min(bounds.max), center];
        }
        let middle = (bounds.min + bounds.max) * 0.5;
        let half_extents = (bounds.max - bounds.min) * 0.5;
        let scale = half_extents.length() + half.length();
        let points = nearest_on_segment(half_extents, center - middle, half, scale);
        points.map(|point| point + middle)
    }

    /// Returns `true` if a neighbor that contains a point of a cell rises along a normal with these
    /// [`signs`].
    fn rises(
        &self,
        cell: CellPosition,
        bounds: &Bounds<V::DVec>,
        point: V::DVec,
        signs: [i32; 3],
    ) -> bool {
        let mut ranges = [[0; 2]; 3];
        let axes = ranges.iter_mut().zip(signs).enumerate();
        for (axis, (range, sign)) in axes.take(V::DVec::DIMENSION) {
            let is_near =
                |end: V::DVec| i32::from((end - point).component(axis).abs() <= self.tolerance);
            *range = match sign {
                0 => [-is_near(bounds.min), is_near(bounds.max)],
                sign => [sign.min(0), sign.max(0)],
            };
        }
        positions_in(ranges).any(|offset| {
            let mut steps = offset.iter().zip(signs);
            steps.any(|(step, sign)| step * sign == 1) && self.cells.is_solid(moved(cell, offset))
        })
    }
}

/// Returns the signs of a normal's components, or 0 for a component that may be mere rounding.
fn signs<D: DVector>(normal: D) -> [i32; 3] {
    normal.components().map(|component| {
        let is_positive = i32::from(component > RISE_SINE_CLOSED_FORM);
        is_positive - i32::from(component < -RISE_SINE_CLOSED_FORM)
    })
}
