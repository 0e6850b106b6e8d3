//! Contacts of a convex body with solid cells, from the cells instead of their facets.
//!
//! A union of cells has many facets, but its solid cells are boxes along the same axes. If all
//! cells near a ball, a capsule, a box or a 2D polygon are solid or empty, and the center of the
//! body is outside, [`SurfacePair::add_cell_contacts`] finds the contacts without facets:
//!
//! * `minima.rs` for balls and capsules whose core overlaps no cell,
//! * `push_out.rs` for boxes and polygons without a radius.
//!
//! If rounding could decide whether body and cells touch, or if a limit is reached, the other files
//! of `surface/` compute the contacts from the facets.
//!
//! All points are in the *frame of the grid*: relative to the translation of the surface, along the
//! axes of the grid, and in the units of the world.

mod minima;
mod push_out;

use smallvec::SmallVec;

use crate::{
    placed::PartContact,
    query::Contact64,
    shape::{
        Bounds, CellPosition, CellRanges, CellSurface, Core, ExposedCell, NearCells, ScaledShape,
        Shape, Support, core_bounds,
    },
    space::{
        DVector, Pose, Space, shortest_translation::PushPlane,
        translation_search::TranslationSearch,
    },
    surface::{facet_contact::RISE_SINE_CLOSED_FORM, surface_pair::SurfacePair},
    tolerance::{SURELY_APART, TOUCHING},
};

/// A side of a cell. The sides 2 * i and 2 * i + 1 are at the lower and the upper end of axis i.
type CellSide = (CellPosition, usize);

/// The contacts of a facet and the body, with the facet as the first part.
pub type CellContacts<D> = SmallVec<[PartContact<D>; 8]>;

/// A convex body near solid cells.
struct CellBody<'p, 'a, V: Space> {
    pair: &'p SurfacePair<'a, V>,
    shape: ScaledShape<'p, Shape<V>>,
    surface: &'p CellSurface<V>,
    cells: &'p NearCells,
    /// The map from the frame of the grid to the axes of the world: a rotation, perhaps mirrored.
    to_world: <V::DVec as DVector>::Matrix,
    /// The scale of the surface.
    factor: f64,
    pose: Pose<V::DVec>,
    center: V::DVec,
    /// The box around the core.
    core: Bounds<V::DVec>,
    /// Shapes touch if they are at most this far apart.
    touching: f64,
    /// If shapes are at most this far apart, or overlap at most as far, the solvers decide.
    tolerance: f64,
}

impl<'a, V: Space> SurfacePair<'a, V> {
    /// Adds the contacts of a convex body with solid cells to an empty list. Returns the number of
    /// the first contacts. Each contact after them repeats the plane of one of the first contacts
    /// for another cell, and is left out unless `with_repeated`. Returns `None`, and may leave
    /// contacts in the list, if the contacts must be computed from the facets.
    pub(super) fn add_cell_contacts(
        &self,
        contacts: &mut CellContacts<V::DVec>,
        with_repeated: bool,
        cells: &mut NearCells,
        search: &mut TranslationSearch<V::DVec, usize>,
    ) -> Option<usize> {
        let (shape, surface) = (self.body.scaled_shape()?, self.surface.cells()?);
        let radii = [self.surface.facet_radius()?, shape.radius()];
        let half_extents = match shape.core() {
            Core::Box { half_extents } => Some(half_extents),
            Core::Polygon(_) => None,
            Core::Opaque | Core::HalfSpace(_) => return None,
        };
        let sides = (0..V::DVec::DIMENSION).filter(|axis| {
            half_extents.is_none_or(|half_extents| half_extents.component(*axis) != 0.0)
        });
        let sides = sides.count();
        let has_corners = sides == V::DVec::DIMENSION && radii == [0.0; 2];
        if sides > 1 && !has_corners || !self.surface.is_one_sided() {
            return None;
        }
        let body = CellBody::new(self, shape, surface, cells, radii)?;
        if has_corners {
            body.add_push_out(half_extents, contacts, with_repeated, search)
        } else {
            let half = body.pose.rotation * half_extents?;
            body.add_minima(half, radii, contacts, with_repeated)
        }
    }
}

impl<'p, 'a, V: Space> CellBody<'p, 'a, V> {
    /// Returns `None` if the center may be in a solid cell, or if any cell near the body is neither
    /// solid nor empty.
    fn new(
        pair: &'p SurfacePair<'a, V>,
        shape: ScaledShape<'p, Shape<V>>,
        surface: &'p CellSurface<V>,
        cells: &'p mut NearCells,
        [facet_radius, own_radius]: [f64; 2],
    ) -> Option<Self> {
        let (of_surface, of_part) = (&pair.surface.world_pose, pair.body.world_pose.pose());
        let (to_world, factor) = (of_surface.pose().rotation, of_surface.factor()?);
        let inverse = V::DVec::transpose(to_world);
        let pose = Pose {
            rotation: inverse * of_part.rotation,
            translation: inverse * (of_part.translation - of_surface.translation),
        };
        let [min, max] = core_bounds(&shape, pose.rotation);
        let core = Bounds { min, max }.moved(pose.translation);
        let (grid, radius) = (surface.grid(), facet_radius + own_radius);
        let scale = (max - min).length() + radius + grid.cell_size().to_f64().length() * factor;
        let tolerance = SURELY_APART * scale;
        let reach = core.grown(radius + tolerance);
        grid.find_solid(&unscaled(&reach, factor), cells)?;
        let center = inverse * pair.center?;
        if grid
            .cells_at(center * (1.0 / factor))
            .any(|cell| cells.is_solid(cell))
        {
            return None;
        }
        Some(Self {
            pair,
            shape,
            surface,
            cells,
            to_world,
            factor,
            pose,
            center,
            core,
            touching: TOUCHING * scale,
            tolerance,
        })
    }

    /// Returns a box of cells. The coordinates are rounded like those of the facets.
    fn bounds_of(&self, ranges: &CellRanges) -> Bounds<V::DVec> {
        let size = self.surface.grid().cell_size().to_f64();
        let corner = |x, y, z| {
            let corner = V::DVec::of([f64::from(x), f64::from(y), f64::from(z)]);
            V::from_f64(corner.scaled(size)).to_f64() * self.factor
        };
        let [xs, ys, zs] = ranges;
        Bounds {
            min: corner(xs[0], ys[0], zs[0]),
            max: corner(xs[1] + 1, ys[1] + 1, zs[1] + 1),
        }
    }

    fn bounds_of_cell(&self, cell: CellPosition) -> Bounds<V::DVec> {
        self.bounds_of(&cell.map(|at| [at, at]))
    }

    /// Returns a side of a cell, as a box without a thickness.
    fn bounds_of_side(&self, (cell, side): CellSide) -> Bounds<V::DVec> {
        let mut ranges = cell.map(|at| [at, at]);
        if let Some(range) = ranges.get_mut(side / 2) {
            let plane = range[0] + (side % 2) as i32;
            *range = [plane, plane - 1];
        }
        self.bounds_of(&ranges)
    }

    /// Returns the exposed side of a cell that faces the center and is most nearly orthogonal to a
    /// normal.
    fn steepest_side(&self, cell: &ExposedCell, normal: V::DVec) -> Option<CellSide> {
        let from_corner = {
            let Bounds { min, max } = self.bounds_of_cell(cell.position);
            [self.center - min, self.center - max]
        };
        let along = |side: &usize| outward::<V::DVec>(*side).dot(normal);
        let sides = (0..2 * V::DVec::DIMENSION).filter(|side| {
            let height = from_corner
                .get(side % 2)
                .map(|it| outward::<V::DVec>(*side).dot(*it));
            along(side) > RISE_SINE_CLOSED_FORM
                && cell.is_exposed(*side)
                && height.is_some_and(|height| height > 0.0)
        });
        let side = sides.max_by(|a, b| along(a).total_cmp(&along(b)))?;
        Some((cell.position, side))
    }

    /// Returns a contact with a side of a cell. `foot` is the point of the cell, and `point` the
    /// point of the body's core. `radii` are those of the facets and of the body.
    fn contact(
        &self,
        side: CellSide,
        (normal, depth): PushPlane<V::DVec>,
        [foot, point]: [V::DVec; 2],
        [facet_radius, own_radius]: [f64; 2],
    ) -> Option<PartContact<V::DVec>> {
        let bounds = self.bounds_of_cell(side.0);
        let in_side = foot.max(bounds.min).min(bounds.max) - bounds.min;
        let in_cells = self.surface.grid().in_cells(in_side * (1.0 / self.factor));
        let facet = self.surface.side_facet(side.0, side.1, in_cells)?;
        let offset = point - normal * own_radius - self.pose.translation;
        let contact = Contact64 {
            normal: self.to_world * normal,
            depth: depth.max(0.0),
            offset_a: self.to_world * (foot + normal * facet_radius),
            offset_b: self.to_world * offset,
        };
        let parts = (facet, 0);
        Some(PartContact { parts, contact })
    }

    /// Returns the other exposed sides in the planes of some sides, each with the depth of the
    /// first of these sides in the same plane.
    fn other_sides(&self, known: &[(CellSide, f64)]) -> impl Iterator<Item = (CellSide, f64)> {
        let plane = |(cell, side): CellSide| (side, cell.get(side / 2).copied());
        let firsts = known.iter().enumerate().filter(move |(index, (own, _))| {
            let mut before = known.iter().take(*index);
            before.all(|(other, _)| plane(*other) != plane(*own))
        });
        firsts.flat_map(move |(_, (first, depth))| {
            let (side, cells) = (first.1, self.cells.exposed.iter());
            let cells = cells.filter(move |cell| cell.is_exposed(side));
            let sides = cells.map(move |cell| (cell.position, side));
            let others = sides.filter(move |other| {
                plane(*other) == plane(*first) && known.iter().all(|(it, _)| it != other)
            });
            others.map(|other| (other, *depth))
        })
    }
}

/// Returns the outward normal of a side of a cell.
fn outward<D: DVector>(side: usize) -> D {
    let axis = D::axis(side / 2);
    if side % 2 == 1 { axis } else { -axis }
}

/// Divides the coordinates of a box by a factor.
fn unscaled<D: DVector>(bounds: &Bounds<D>, factor: f64) -> Bounds<D> {
    let [min, max] = [bounds.min, bounds.max].map(|end| end * (1.0 / factor));
    Bounds { min, max }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test may panic")]
mod tests {
    use bevy::prelude::*;

    use crate::{
        Cell, CellGrid, Collider, Dimension,
        placed::PlacedCollider,
        query::Counter,
        shape::WorldPose,
        surface::{NeedsFacets, PushOutLists, SurfacePair},
    };

    fn placed<V: Dimension>(collider: &Collider, translation: Vec3) -> PlacedCollider<V> {
        let pose = WorldPose::from_transform(&Transform::from_translation(translation));
        let shape = V::body_of(collider.shape()).expect("the dimension is right");
        let placed = PlacedCollider::new(shape, pose.expect("the pose is finite"));
        placed.expect("the collider is valid").0
    }

    /// Returns the depth of a body in cells without facets.
    fn depth<V: Dimension>(
        cells: &Collider,
        body: &Collider,
        translation: Vec3,
    ) -> Result<Option<f64>, NeedsFacets> {
        let [cells, body] =
            [(cells, Vec3::ZERO), (body, translation)].map(|it| placed::<V>(it.0, it.1));
        let counter = Counter::default();
        let pair = SurfacePair::unplaced(&cells, &body, &counter).expect("cells are a surface");
        let mut lists = PushOutLists::default();
        let [found, of_all] = [false, true].map(|needs_all| {
            let found = pair.find_on_cells(&mut lists, needs_all, |_| {})?;
            Ok(found.map(|it| it.contact.depth))
        });
        let found: Option<f64> = found?;
        assert_eq!(found, of_all?);
        Ok(found)
    }

    #[test]
    fn simple_bodies_on_solid_cells_need_no_facets() {
        let mut grid = CellGrid::new(Vec3::ONE);
        grid.extend([-1, 0, 1].map(|x| (IVec3::new(x, 0, 0), Cell::SOLID)));
        let floor = Collider::cells(&grid);
        for body in [
            Collider::sphere(0.75),
            Collider::capsule_3d(0.5, 0.5),
            Collider::cuboid(1.0, 1.5, 0.5),
        ] {
            for x in [-0.5, 0.5, 1.0] {
                let at = |y| Vec3::new(x, y, 0.5);
                assert!(matches!(
                    depth::<Vec3>(&floor, &body, at(1.5)),
                    Ok(Some(0.25))
                ));
                assert!(matches!(depth::<Vec3>(&floor, &body, at(2.0)), Ok(None)));
                // The center is inside.
                assert!(depth::<Vec3>(&floor, &body, at(0.5)).is_err());
            }
        }
    }

    #[test]
    fn other_cells_and_other_bodies_need_facets() {
        let mut grid = CellGrid::new(Vec2::ONE);
        grid.extend([-1, 0, 1].map(|x| (IVec2::new(x, 0), Cell::SOLID)));
        let floor = Collider::cells(&grid);
        let at = Vec3::new(0.5, 1.5, 0.0);
        let polygon = Collider::regular_polygon(0.75, 5);
        assert!(depth::<Vec2>(&floor, &polygon, at).is_ok());
        assert!(depth::<Vec2>(&floor, &Collider::ellipse(0.5, 0.75), at).is_err());
        grid.set(IVec2::new(1, 1), Cell::slope(0, 8));
        assert!(depth::<Vec2>(&Collider::cells(&grid), &polygon, at).is_err());
    }
}
