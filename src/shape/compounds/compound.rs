//! Compounds: concave shapes made of convex parts, or of the facets of a surface. [`Compound::new`]
//! is called when a collider is made. `placed/collider.rs` calls [`Compound::near`] for the parts
//! near a box, and [`Compound::along_box`] for the parts on the path of a box.

use core::{cmp::Ordering, ops::Range};
use std::{borrow::Cow, fmt, sync::Arc};

use crate::{
    shape::{
        Box3, HalfSpace, Shape, ShapeError, Support,
        boxes::{
            bounds::Bounds,
            box_path::BoxPath,
            box_search::{BoxSearch, ByGap, GroupsAlong, Nearest, Overlapping},
            wide_node::NO_GROUP,
            wide_tree::WideTree,
        },
        cells::{cell_path::CellPath, cell_surface::CellSurface, grid::CellPosition},
        compounds::surface::{MeshSurface, SolidElement, Surface},
        elements::{core::checked_radius, facet::Facet, line::Line},
        joined::parts::PosedShapes,
        order::compare_shapes,
        world_pose::WorldPose,
    },
    space::{DVector, Pose, Space},
    tolerance::TOUCHING,
};

/// Convex parts in a tree of boxes. The index of a part is its position in the list that the
/// compound was constructed from.
#[derive(Clone)]
pub struct Compound<V: Space> {
    data: Arc<CompoundData<V>>,
    /// The margin around every part.
    margin: f32,
    /// `true` if only the outer sides of facets collide, as on a union.
    one_sided: bool,
    view: View<V>,
}

struct CompoundData<V: Space> {
    parts: CompoundParts<V>,
    /// The boxes of the parts, without the margin. The faces of cells have a tree of their own.
    tree: WideTree,
    center: V::DVec,
    /// The distance from the center to the farthest corner of the bounding box, without the margin.
    reach: f64,
}

/// What a compound stands for.
#[derive(Clone)]
enum View<V: Space> {
    /// All parts.
    Whole,
    /// The parts without the facets of one-way cells.
    WithoutLedges,
    /// One of several colliders to which the parts belong.
    Member(Arc<GroundMember<V>>),
}

/// A collider that is one solid with others: a member of a ground. The compound of a member has the
/// facets of the whole ground.
pub struct GroundMember<V: Space> {
    pub elements: MemberElements,
    /// The collider's own pose. The compound is in the pose of the ground.
    pub pose: WorldPose<V::DVec>,
    /// The collider's own compound, or `None` if the collider is convex.
    pub compound: Option<Compound<V>>,
}

/// The elements of a ground that belong to one member.
pub enum MemberElements {
    /// The range of its parts.
    Parts(Range<u32>),
    /// The offset of its cells.
    Cells(CellPosition),
}

impl<V: Space> GroundMember<V> {
    fn owns(&self, element: SolidElement) -> bool {
        match (&self.elements, element) {
            (MemberElements::Parts(range), SolidElement::Part(part)) => range.contains(&part),
            (MemberElements::Cells(offset), SolidElement::Cell(position)) => {
                let cells = self.compound.as_ref().and_then(|own| own.cells());
                cells.is_some_and(|cells| cells.grid().has_cell(position, *offset))
            }
            _ => false,
        }
    }
}

/// A point is near a compound if its distance from the center is at most this multiple of the
/// reach.
const NEAR: f64 = 4.0;

/// A bound on the error of a line's position relative to a box, as a fraction of the coordinates of
/// line and box. The bound exceeds the rounding of a box to f32.
const LINE_SLACK: f64 = 8.0 * f32::EPSILON as f64;

type PoseOf<V> = Pose<<V as Space>::DVec>;

/// The parts of a compound.
pub enum CompoundParts<V: Space> {
    /// Shapes and their poses.
    Shapes(Box<[(PoseOf<V>, Shape<V>)]>),
    /// The facets of a surface.
    Surface(Surface<V>),
}

impl<V: Space> CompoundParts<V> {
    fn len(&self) -> u32 {
        let count = match self {
            Self::Shapes(shapes) => shapes.len(),
            Self::Surface(surface) => surface.len(),
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

impl<V: Space> Compound<V> {
    /// Constructs a compound of parts, with a margin around each part.
    pub fn new(parts: CompoundParts<V>, margin: f32) -> Result<Self, ShapeError> {
        ShapeError::check_length("margin", margin)?;
        let count = parts.len();
        if count == 0 {
            return Err(ShapeError::NoParts);
        }
        if let CompoundParts::Shapes(shapes) = &parts
            && shapes
                .iter()
                .any(|(_, shape)| shape.core().half_space().is_some())
        {
            return Err(ShapeError::Unbounded("a half-space"));
        }
        let bounds = |index: u32| {
            let (pose, shape) = part(&parts, index)?;
            Some((index, Bounds::around(&*shape, &pose)))
        };
        let boxes: Vec<_> = (0..count).filter_map(bounds).collect();
        let is_finite = |bounds: &Bounds<V::DVec>| bounds.min.is_finite() && bounds.max.is_finite();
        if !boxes.iter().all(|(_, bounds)| is_finite(bounds)) {
            return Err(ShapeError::NotFinite("support function of a part"));
        }
        let rounded = boxes
            .iter()
            .map(|(index, bounds)| (*index, bounds.round_outward()));
        let mut ends = rounded.clone().flat_map(|(_, corners)| corners).flatten();
        if ends.any(f32::is_infinite) {
            return Err(ShapeError::BeyondF32);
        }
        let mut tree = WideTree::new(rounded);
        if let CompoundParts::Surface(Surface::Mesh(mesh)) = &parts {
            let clusters = mesh.clusters();
            tree.set_groups(|facet| clusters.of_several(facet).unwrap_or(NO_GROUP));
        }
        Ok(Self::in_bounds(tree.bounds(), parts, tree, margin))
    }

    /// Constructs the compound of a union of cells, with a margin around each face.
    pub fn of_cells(cells: CellSurface<V>, margin: f32) -> Result<Self, ShapeError> {
        ShapeError::check_length("margin", margin)?;
        let bounds = cells.faces().bounds();
        let parts = CompoundParts::Surface(Surface::Cells(cells));
        Ok(Self::in_bounds(bounds, parts, WideTree::default(), margin).one_sided())
    }

    fn in_bounds(
        bounds: Bounds<V::DVec>,
        parts: CompoundParts<V>,
        tree: WideTree,
        margin: f32,
    ) -> Self {
        let Bounds { min, max } = bounds;
        let center = match &parts {
            CompoundParts::Shapes(shapes) => center(shapes),
            CompoundParts::Surface(_) => (min + max) * 0.5,
        };
        let data = CompoundData {
            center,
            reach: (max - center).max(center - min).length(),
            tree,
            parts,
        };
        Self {
            data: Arc::new(data),
            margin,
            one_sided: false,
            view: View::Whole,
        }
    }

    /// Returns `true` if some parts are facets of one-way cells.
    pub fn has_ledges(&self) -> bool {
        let cells = self.cells().filter(|_| !self.skips_ledges());
        cells.is_some_and(|cells| cells.faces().has_ledges())
    }

    /// Returns the same compound without the facets of one-way cells, or `None` if there are no
    /// such facets. The bounding box, the center and the indices of the parts stay the same.
    pub fn without_ledges(&self) -> Option<Self> {
        self.has_ledges().then(|| Self {
            view: View::WithoutLedges,
            ..self.clone()
        })
    }

    fn skips_ledges(&self) -> bool {
        matches!(self.view, View::WithoutLedges)
    }

    /// Returns the same compound with an additional margin.
    pub fn rounded(&self, margin: f32) -> Result<Self, ShapeError> {
        ShapeError::check_length("margin", margin)?;
        let margin = self.margin + margin;
        ShapeError::check_length("margin", margin)?;
        let rounded = self.clone();
        Ok(Self { margin, ..rounded })
    }

    /// Returns the union of the parts, or an error if the parts cannot be joined. Returns a surface
    /// unchanged.
    pub fn joined(&self) -> Result<Self, ShapeError> {
        let CompoundParts::Shapes(shapes) = &self.data.parts else {
            return Ok(self.clone());
        };
        let margin_of = |(_, shape): &(_, Shape<V>)| shape.without_margin().1;
        let margin = shapes.first().map_or(0.0, margin_of);
        let unrounded = shapes.iter().map(|(pose, shape)| {
            let (shape, own_margin) = shape.without_margin();
            let part = (own_margin == margin).then(|| (*pose, shape.clone()));
            part.ok_or(ShapeError::PartMargins)
        });
        Self::of_parts(unrounded.collect::<Result<_, _>>()?, self.margin + margin)
    }

    /// Constructs the union of convex parts without margins, with a margin around each face.
    pub fn of_parts(parts: PosedShapes<V>, margin: f32) -> Result<Self, ShapeError> {
        let mesh = MeshSurface::of_parts(parts)?;
        let surface = CompoundParts::Surface(Surface::Mesh(mesh));
        Ok(Self::new(surface, margin)?.one_sided())
    }

    /// Returns the same compound, except that only the outer sides of facets collide.
    pub fn one_sided(self) -> Self {
        Self {
            one_sided: true,
            ..self
        }
    }

    /// Returns `true` if only the outer sides of facets collide.
    pub fn is_one_sided(&self) -> bool {
        self.one_sided
    }

    /// Returns this ground as the compound of one of its members.
    pub fn of_member(&self, member: GroundMember<V>) -> Self {
        Self {
            view: View::Member(Arc::new(member)),
            ..self.clone()
        }
    }

    /// Returns the member of a ground that this compound stands for.
    pub fn member(&self) -> Option<&GroundMember<V>> {
        match &self.view {
            View::Member(member) => Some(member),
            View::Whole | View::WithoutLedges => None,
        }
    }

    /// Returns `true` if both compounds are members of the same ground.
    pub fn has_same_ground(&self, other: &Self) -> bool {
        let are_members = self.member().is_some() && other.member().is_some();
        are_members && Arc::ptr_eq(&self.data, &other.data)
    }

    /// Returns `false` if a part belongs to another member of the ground.
    #[inline]
    pub fn owns(&self, part: u32) -> bool {
        let element = || self.surface()?.element_of_facet(part);
        self.member().is_none() || element().is_some_and(|element| self.owns_element(element))
    }

    /// Returns `false` if an element belongs to another member of the ground.
    pub fn owns_element(&self, element: SolidElement) -> bool {
        self.member().is_none_or(|member| member.owns(element))
    }

    /// Returns a central point of the compound. For a surface, the result is the center of the
    /// bounding box. For convex parts, the result is the mean of their centers, weighted by the
    /// volumes of their own bounding boxes. The center of the common bounding box could be far from
    /// every part.
    pub fn center(&self) -> V::DVec {
        self.data.center
    }

    /// Compares compounds by their parts, to order compounds with equal support functions.
    pub fn compare(&self, other: &Self) -> Ordering {
        let of_shapes = || {
            let (CompoundParts::Shapes(own), CompoundParts::Shapes(others)) =
                (&self.data.parts, &other.data.parts)
            else {
                return Ordering::Equal;
            };
            let compare =
                |((pose, shape), (other_pose, other)): (&(PoseOf<V>, _), &(PoseOf<V>, _))| {
                    let order = pose.total_cmp(other_pose);
                    order.then_with(|| compare_shapes::<V>(shape, other))
                };
            let mut orders = own.iter().zip(others).map(compare);
            orders
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        };
        let sides = self.one_sided.cmp(&other.one_sided);
        let counts = self.len().cmp(&other.len());
        sides.then(counts).then_with(of_shapes)
    }

    /// Returns a box around all parts, with the margin.
    pub fn bounds(&self) -> Bounds<V::DVec> {
        self.bounds_of_parts().grown(self.touching_margin())
    }

    /// Returns a box around all parts, without the margin.
    fn bounds_of_parts(&self) -> Bounds<V::DVec> {
        match self.cells() {
            Some(cells) => cells.faces().bounds(),
            None => self.data.tree.bounds(),
        }
    }

    /// Returns a bound on the [extents](DVector::extent) of all points, with the margin.
    #[inline]
    pub fn extent(&self) -> f64 {
        self.data.center.extent() + 2.0 * (self.data.reach + self.touching_margin())
    }

    /// Returns the longest side of the bounding box.
    pub fn size(&self) -> f64 {
        let Bounds { min, max } = self.bounds_of_parts();
        (max - min).components().into_iter().fold(0.0, f64::max)
    }

    /// Returns the number of parts.
    pub fn len(&self) -> u32 {
        self.data.parts.len()
    }

    /// Returns the parts, and the margin around each part.
    pub fn parts(&self) -> (&CompoundParts<V>, f32) {
        (&self.data.parts, self.margin)
    }

    /// Returns a part and its pose in the compound, without the margin.
    pub fn part(&self, index: u32) -> Option<(PoseOf<V>, Cow<'_, Shape<V>>)> {
        part(&self.data.parts, index)
    }

    /// Calls `visit` with the index of each part that may overlap a box in the compound's frame.
    pub fn near(&self, bounds: &Bounds<V::DVec>, visit: impl FnMut(u32)) {
        let bounds = bounds.grown(self.touching_margin()).round_outward();
        self.visit_all(&Overlapping::new(bounds), 0.0, visit);
    }

    /// Calls `visit` with the index of each part that may overlap a ball in the compound's frame.
    pub fn near_ball(&self, center: V::DVec, radius: f64, visit: impl FnMut(u32)) {
        let radius = radius + self.touching_margin();
        let center = Nearest::new(Bounds::at(center).round_outward());
        self.visit_all(&center, radius, visit);
    }

    /// Moves the origin of a line along the line, so that coordinates near the compound are small.
    /// Returns the t of the new origin, and the line with this origin. Returns `None` if the origin
    /// is near the compound, so that the line may stay the same.
    #[inline]
    pub fn centered(&self, line: &Line<V::DVec>) -> Option<(f64, Line<V::DVec>)> {
        let distance = (line.origin - self.data.center).extent();
        let is_near = distance <= NEAR * self.data.reach;
        (!is_near).then(|| line.centered(self.data.center))
    }

    /// Calls `visit` with the index of each part that a line may cross at a t from 0 to `max`,
    /// roughly in the order of t. For a face of cells, `visit` also receives the vertices. Unless
    /// `meets_backs` is `true`, faces of cells that the line leaves may be skipped. The line is in
    /// the frame of the compound. The line is [centered](Self::centered), and its origin has the
    /// parameter t = `shift`. `visit` returns the new `max`.
    #[inline]
    pub fn along(
        &self,
        line: &Line<V::DVec>,
        shift: f64,
        max: f64,
        meets_backs: bool,
        mut visit: impl FnMut(u32, Option<[V; 3]>) -> f64,
    ) {
        let margin = self.touching_margin();
        // All parts are within `reach` of the center. The path begins at this distance before the
        // origin of the line, because coordinates are small there.
        let reach = self.data.reach + 2.0 * margin;
        let start = if shift > 0.0 {
            (shift - reach / line.direction.length()).max(0.0)
        } else {
            0.0
        };
        // If a centered line crosses a part, the line's origin is near the center. So each
        // coordinate on the path to the part is at most the L1 norm of the center plus `NEAR` times
        // `reach`.
        let slack = LINE_SLACK * (self.data.center.extent() + NEAR * reach);
        let (origin, half) = (line.at(start - shift), margin + slack);
        let Some(cells) = self.cells() else {
            let path = BoxPath::new(origin, V::DVec::ONE * half, line.direction);
            let visit = |index| visit(index, None) - start;
            self.data.tree.visit(&path, max - start, visit);
            return;
        };
        let size = cells.grid().cell_size().to_f64();
        let path = CellPath::new(origin, half, line.direction, size, meets_backs);
        let (mut max, skips_ledges) = (max - start, self.skips_ledges());
        cells.faces().walk(&path, max, 0, &mut |index, corners| {
            if !skips_ledges || cells.ledge(index).is_none() {
                max = visit(index, Some(corners)) - start;
            }
            max
        });
    }

    /// Calls `visit` with the index of each part that a moving box may touch until the time `max`.
    /// The order is roughly the order in which the box reaches the parts. The box is in the frame
    /// of the compound, and moves by `translation`. `visit` returns the new `max`. Facets of
    /// clusters for which `is_skipped` returns `true` may be skipped.
    pub fn along_box(
        &self,
        bounds: &Bounds<V::DVec>,
        translation: V::DVec,
        max: f64,
        is_skipped: impl Fn(u32) -> bool,
        visit: impl FnMut(u32) -> f64,
    ) {
        let Bounds { min, max: end } = bounds.grown(self.touching_margin());
        let path = BoxPath::new((min + end) * 0.5, (end - min) * 0.5, translation);
        self.search(&GroupsAlong(path, is_skipped), max, visit);
    }

    /// Calls `visit` with the index of each part that may be within `distance` of a point in the
    /// compound's frame. Margins are ignored.
    pub fn near_point(&self, point: V::DVec, distance: f64, visit: impl FnMut(u32)) {
        let bounds = Bounds::at(point).grown(distance).round_outward();
        self.visit_all(&Overlapping::new(bounds), 0.0, visit);
    }

    /// Does the same as [`near`](Self::near) for a box in another frame. The map x ->
    /// `linear * x + translation` converts from the compound's frame to the frame of the box.
    pub fn near_image(
        &self,
        bounds: &Bounds<V::DVec>,
        linear: <V::DVec as DVector>::Matrix,
        translation: V::DVec,
        visit: impl FnMut(u32),
    ) {
        self.visit_where(
            |part| bounds.overlaps(&part.mapped(linear, translation)),
            visit,
        );
    }

    /// Calls `visit` with the index of each part that may overlap a half-space in the compound's
    /// frame. The normal of the half-space may have any length.
    pub fn within(&self, half_space: &HalfSpace<V::DVec>, visit: impl FnMut(u32)) {
        let HalfSpace { normal, offset } = *half_space;
        self.visit_where(|part| part.min_height(normal) <= offset, visit);
    }

    /// Calls `visit` with the index of each part for which `is_near` returns `true`. If `is_near`
    /// returns `true` for a box, `is_near` must also return `true` for every larger box around that
    /// box.
    fn visit_where(&self, is_near: impl Fn(&Bounds<V::DVec>) -> bool, visit: impl FnMut(u32)) {
        let gap = |bounds: &Bounds<_>| if is_near(bounds) { 0.0 } else { f64::INFINITY };
        self.visit_all(&self.by_gap(gap), 0.0, visit);
    }

    /// Calls `visit` with the indices of parts, roughly from near to far: see [`ByGap`]. `gap` is
    /// called with a box around a part in the frame of the compound.
    pub fn search_nearest(
        &self,
        limit: f64,
        gap: impl Fn(&Bounds<V::DVec>) -> f64,
        visit: impl FnMut(u32) -> f64,
    ) {
        self.search(&self.by_gap(gap), limit, visit);
    }

    fn by_gap(&self, gap: impl Fn(&Bounds<V::DVec>) -> f64) -> impl BoxSearch {
        let margin = self.touching_margin();
        ByGap(move |[min, max]: Box3| gap(&Bounds::of_f32(min, max).grown(margin)))
    }

    /// Calls `visit` with the index of each part that a search finds within a limit.
    fn visit_all(&self, search: &impl BoxSearch, limit: f64, mut visit: impl FnMut(u32)) {
        self.search(search, limit, |index| {
            visit(index);
            limit
        });
    }

    /// Searches the parts. Margins are ignored. `visit` returns the new limit.
    fn search(&self, search: &impl BoxSearch, limit: f64, mut visit: impl FnMut(u32) -> f64) {
        let mut new_limit = limit;
        let with_ledges = self.cells().filter(|_| self.skips_ledges());
        self.search_all(search, limit, |index| {
            if with_ledges.is_none_or(|cells| cells.ledge(index).is_none()) {
                new_limit = visit(index);
            }
            new_limit
        });
    }

    /// Does the same as [`search`](Self::search), but does not leave out the facets of one-way
    /// cells, so that a compound has at least one part.
    fn search_all(&self, search: &impl BoxSearch, limit: f64, mut visit: impl FnMut(u32) -> f64) {
        match self.cells() {
            Some(cells) => cells.search(search, limit, &mut visit),
            None => {
                self.data.tree.visit(search, limit, visit);
            }
        }
    }

    /// Returns the index of the facet nearest to a point in the compound's frame, or `None` if the
    /// parts are shapes.
    pub fn nearest_facet(&self, point: V::DVec) -> Option<u32> {
        let surface = self.surface()?;
        let point_box = Bounds::at(point);
        let mut nearest = (f64::INFINITY, None);
        let gap = |bounds: &Bounds<_>| bounds.gap(&point_box);
        self.search_nearest(f64::INFINITY, gap, |index| {
            let vertices = surface.facet_vertices(index);
            let facet = vertices.and_then(|vertices| Facet::new(vertices, false));
            let distance = facet.map_or(f64::INFINITY, |facet| facet.distance(point));
            if (distance, Some(index)) < nearest || nearest.1.is_none() {
                nearest = (distance, Some(index));
            }
            nearest.0
        });
        nearest.1
    }

    /// Returns the margin plus the touching tolerance, as in [`Bounds::around`].
    fn touching_margin(&self) -> f64 {
        f64::from(self.margin) * (1.0 + 8.0 * TOUCHING)
    }

    /// Returns the surface, or `None` if the parts are shapes.
    pub fn surface(&self) -> Option<&Surface<V>> {
        match &self.data.parts {
            CompoundParts::Shapes(_) => None,
            CompoundParts::Surface(surface) => Some(surface),
        }
    }

    /// Returns the cells, or `None` if the compound is not a union of cells.
    #[inline]
    pub fn cells(&self) -> Option<&CellSurface<V>> {
        self.surface().and_then(Surface::cells)
    }

    /// Returns the cells, or `None` if the compound is not a union of cells. Copies cells that
    /// other compounds share, which is cheap.
    pub fn into_cells(self) -> Option<CellSurface<V>> {
        match Arc::try_unwrap(self.data).map(|data| data.parts) {
            Ok(CompoundParts::Surface(Surface::Cells(cells))) => Some(cells),
            Ok(_) => None,
            Err(data) => match &data.parts {
                CompoundParts::Surface(surface) => surface.cells().map(CellSurface::shared),
                CompoundParts::Shapes(_) => None,
            },
        }
    }

    /// Returns a point whose height along a direction exceeds the height of the highest vertex by
    /// at most [`Surface::height_tolerance`]. The point is never lower than this vertex. The
    /// tolerance lets the tree skip most vertices.
    fn highest(&self, surface: &Surface<V>, direction: V::DVec) -> V::DVec {
        let unit = direction.unit().unwrap_or(V::DVec::axis(0));
        let tolerance = surface.height_tolerance();
        // The first vertex replaces this NaN, because a surface has at least one facet.
        let (mut best, mut height) = (V::DVec::ZERO * f64::NAN, f64::NEG_INFINITY);
        self.search_all(&height_search(unit), f64::INFINITY, |index| {
            for vertex in surface.facet_vertices(index).into_iter().flatten() {
                if vertex.dot(unit) > height {
                    (best, height) = (vertex, vertex.dot(unit));
                }
            }
            -(height + tolerance)
        });
        best + unit * tolerance
    }

    /// Returns a point whose height along a direction exceeds the height of the highest part by at
    /// most [`PART_HEIGHT_TOLERANCE`] times the size. The point is never lower than this part. The
    /// tolerance lets the tree skip most parts if many parts are equally high.
    fn farthest_of(&self, shapes: &[(PoseOf<V>, Shape<V>)], direction: V::DVec) -> V::DVec {
        // The radius becomes part of the core, because parts have different radii.
        let unit = direction.unit().unwrap_or(V::DVec::axis(0));
        let support = |(pose, shape): &(PoseOf<V>, Shape<V>)| {
            let inner = V::DVec::transpose(pose.rotation) * unit;
            let core = pose.rotation * shape.support(inner) + pose.translation;
            core + unit * checked_radius(shape.radius())
        };
        // If any part returns NaN, the result is NaN: an invalid part makes the compound invalid.
        let farther = |a: V::DVec, b: V::DVec| {
            let is_farther = b.dot(unit) > a.dot(unit) || !b.is_finite();
            if is_farther && a.is_finite() { b } else { a }
        };
        let mut best = None;
        let mut test = |part| {
            let point = support(part);
            best = Some(best.map_or(point, |best| farther(best, point)));
            best.map_or(f64::NEG_INFINITY, |best| best.dot(unit))
        };
        let mut tolerance = 0.0;
        if shapes.len() > MAX_SCANNED_PARTS {
            tolerance = PART_HEIGHT_TOLERANCE * self.size();
            self.search_all(&height_search(unit), f64::INFINITY, |index| {
                let part = shapes.get(index as usize);
                -(part.map_or(f64::NEG_INFINITY, &mut test) + tolerance)
            });
        } else {
            for part in shapes {
                test(part);
            }
        }
        best.unwrap_or(V::DVec::ZERO * f64::NAN) + unit * tolerance
    }
}

/// Returns a search that finds boxes of great heights along a unit vector first. The gaps and the
/// limit are negative heights.
fn height_search<D: DVector>(unit: D) -> impl BoxSearch {
    ByGap(move |[min, max]: Box3| Bounds::of_f32(min, max).min_height(-unit))
}

/// If a compound has at most this many parts, a scan finds the support point, and is as fast as the
/// tree.
const MAX_SCANNED_PARTS: usize = 8;

/// Heights of parts that differ by less than this fraction of the compound's size count as equal.
/// If the parts are smaller than the compound, this tolerance is several times the margin of their
/// boxes.
const PART_HEIGHT_TOLERANCE: f64 = 1e-6;

fn center<V: Space>(shapes: &[(PoseOf<V>, Shape<V>)]) -> V::DVec {
    let mean = |weight: fn(&Shape<V>) -> f64| {
        let (mut sum, mut total) = (V::DVec::ZERO, 0.0);
        for (pose, shape) in shapes {
            let weight = weight(shape);
            sum = sum + (pose.rotation * shape.center() + pose.translation) * weight;
            total += weight;
        }
        Some(sum * (1.0 / total)).filter(|mean| mean.is_finite())
    };
    // If no part has a nonzero volume, as in a compound of points, all parts have equal weights.
    mean(|shape| Bounds::around(shape, &Pose::IDENTITY).volume())
        .or_else(|| mean(|_| 1.0))
        .unwrap_or(V::DVec::ZERO)
}

fn part<V: Space>(parts: &CompoundParts<V>, index: u32) -> Option<(PoseOf<V>, Cow<'_, Shape<V>>)> {
    Some(match parts {
        CompoundParts::Shapes(shapes) => {
            let (pose, shape) = shapes.get(index as usize)?;
            (*pose, Cow::Borrowed(shape))
        }
        CompoundParts::Surface(surface) => (Pose::IDENTITY, Cow::Owned(surface.facet(index)?)),
    })
}

/// Describes the convex hull of all parts of a compound. The bounding box is computed from this
/// support function.
impl<V: Space> Support for Compound<V> {
    type Vector = V;

    fn support(&self, direction: V::DVec) -> V::DVec {
        match &self.data.parts {
            CompoundParts::Surface(surface) => self.highest(surface, direction),
            CompoundParts::Shapes(shapes) => self.farthest_of(shapes, direction),
        }
    }

    fn radius(&self) -> f64 {
        self.margin.into()
    }
}

impl<V: Space> fmt::Debug for Compound<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match &self.data.parts {
            CompoundParts::Shapes(shapes) => {
                let shapes = shapes.iter().map(|(_, shape)| shape);
                formatter.debug_list().entries(shapes).finish()
            }
            CompoundParts::Surface(surface) => {
                write!(formatter, "Surface({} facets)", surface.len())
            }
        }
    }
}
