//! The faces of a union of cells in a tree, of which a change replaces only the changed branches.
//!
//! The tree has a fixed number of levels: regions, chunks, [blocks](FaceBlock), facets. A chunk has
//! up to 4 blocks along each axis, and a region up to 8 chunks (in 3D, 4). The children of a node
//! are sorted by their Morton codes. So the tree and the indices of the facets depend only on the
//! cells, and not on the order of the changes. Nodes are shared between the trees before and after
//! a change.
//!
//! The index of a facet counts the facets of all blocks before its own. Each node counts its own
//! facets from 0, so that the nodes beside a change stay the same.

use core::ops::ControlFlow;
use std::sync::Arc;

use crate::{
    shape::{
        Box3, BoxPath,
        boxes::{bounds::Bounds, wide_tree::WideTree},
        cells::{
            block_layout::block_bits, cell_path::CellPath, exposed_faces::BlockFacet,
            face_block::FaceBlock, grid::CellPosition,
        },
    },
    space::{DVector, Space},
};

/// The number of bits of a Morton code inside a region, without the bits of chunks and blocks.
const REGION_BITS: u32 = 6;

/// Before they become Morton codes, coordinates of blocks are raised by this number.
const MORTON_ZERO: i32 = 1 << 13;

/// A change of a block: its Morton code, and its new faces.
pub type BlockChange<V> = (u64, Option<Arc<FaceBlock<V>>>);

type Chunk<V> = FaceGroup<FaceBlock<V>>;
type Region<V> = FaceGroup<Chunk<V>>;

/// All faces of a union of cells. A clone shares all nodes.
#[derive(Clone)]
pub struct FaceTree<V: Space> {
    root: Arc<FaceGroup<Region<V>>>,
}

/// A node with several children.
pub struct FaceGroup<C> {
    /// The children, in ascending order of their codes.
    children: Vec<Child<C>>,
    /// The tree of the children's boxes.
    tree: WideTree,
    /// The number of facets.
    len: u32,
    has_ledges: bool,
    /// For each multiple of 2^`shift`, the child that has the facet with this index.
    hints: Vec<u32>,
    shift: u32,
}

struct Child<C> {
    code: u64,
    /// The number of facets in all children before.
    start: u32,
    /// The number of facets of the node. A count of all children does not read their nodes.
    len: u32,
    has_ledges: bool,
    node: Arc<C>,
}

impl<C> Child<C> {
    fn new<V: Space>(code: u64, node: Arc<C>) -> Self
    where
        C: FaceNode<V>,
    {
        Self {
            code,
            start: 0,
            len: node.len(),
            has_ledges: node.has_ledges(),
            node,
        }
    }
}

impl<C> Clone for Child<C> {
    fn clone(&self) -> Self {
        Self {
            node: self.node.clone(),
            ..*self
        }
    }
}

impl<C> Clone for FaceGroup<C> {
    fn clone(&self) -> Self {
        Self {
            children: self.children.clone(),
            tree: self.tree.clone(),
            hints: self.hints.clone(),
            ..*self
        }
    }
}

/// A search in a tree of boxes.
pub enum TreeSearch<'q, D: DVector> {
    /// The boxes that overlap a box. A negative limit ends the search.
    Overlapping(&'q Box3),
    /// See [`WideTree::visit_nearest`].
    Nearest(&'q Box3),
    /// See [`WideTree::visit_groups_along`].
    GroupsAlong(&'q BoxPath, &'q dyn Fn(u32) -> bool),
    /// See [`WideTree::visit_by_gap`].
    ByGap(&'q dyn Fn(&Bounds<D>) -> f64),
}

impl<D: DVector> TreeSearch<'_, D> {
    fn run(&self, tree: &WideTree, limit: f64, visit: &mut dyn FnMut(u32) -> f64) {
        match self {
            Self::Overlapping(bounds) => {
                tree.visit_overlapping(bounds, |index| {
                    if visit(index) < 0.0 {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                });
            }
            Self::Nearest(bounds) => {
                tree.visit_nearest(bounds, limit, visit);
            }
            Self::GroupsAlong(path, is_skipped) => {
                tree.visit_groups_along(path, limit, is_skipped, visit);
            }
            Self::ByGap(gap) => tree.visit_by_gap(limit, gap, visit),
        }
    }
}

/// A node of the tree.
pub trait FaceNode<V: Space>: Sized {
    /// The number of bits of a block's Morton code that differ inside the node.
    const BITS: u32;

    /// Builds the node of blocks, which must be sorted by code. Returns `None` if there are no
    /// facets.
    fn of_blocks(blocks: &[BlockChange<V>]) -> Option<Arc<Self>>;

    /// Changes blocks of a node, which must be sorted by code. A node that other trees share is
    /// copied. Returns `false` if no facets are left.
    fn change(node: &mut Arc<Self>, changes: &[BlockChange<V>]) -> bool;

    fn len(&self) -> u32;

    /// Returns the box around all facets.
    fn bounding_box(&self) -> Box3;

    /// Returns the common group of all facets: see [`WideTree::group`].
    fn group(&self) -> u32;

    /// Returns `true` if any facet belongs to a one-way cell.
    fn has_ledges(&self) -> bool;

    /// Returns the block with a Morton code, and the number of facets before it in this node.
    fn block(&self, code: u64) -> Option<(&FaceBlock<V>, u32)>;

    /// Returns the facet with an index in this node.
    fn facet(&self, index: u32) -> Option<FaceIndex<'_, V>>;

    /// Runs a search. `visit` is called with indices that count from `start`.
    fn search(
        &self,
        search: &TreeSearch<V::DVec>,
        limit: f64,
        start: u32,
        visit: &mut dyn FnMut(u32) -> f64,
    );

    /// Visits the facets along a path: see [`FaceTree::walk`]. Returns the last `max`.
    fn walk(
        &self,
        path: &CellPath,
        max: f64,
        start: u32,
        visit: &mut dyn FnMut(u32, [V; 3]) -> f64,
    ) -> f64;

    /// Returns `true` if a box may overlap a node that the other tree does not share.
    fn differs(&self, other: &Self, bounds: &Bounds<V::DVec>) -> bool;

    /// Returns the index in another node of a facet that both have.
    fn renumbered(&self, other: &Self, index: u32) -> Option<u32>;

    /// Calls `visit` with all blocks.
    fn visit_blocks<'f>(&'f self, visit: &mut dyn FnMut(&'f FaceBlock<V>))
    where
        V: 'f;
}

/// A facet in its block.
pub struct FaceIndex<'f, V: Space> {
    pub block: &'f FaceBlock<V>,
    /// The index in the block.
    pub index: u32,
}

impl<'f, V: Space> FaceIndex<'f, V> {
    pub fn facet(&self) -> Option<&'f BlockFacet<V>> {
        self.block.facets().get(self.index as usize)
    }
}

impl<V: Space> FaceNode<V> for FaceBlock<V> {
    const BITS: u32 = 0;

    fn of_blocks(blocks: &[BlockChange<V>]) -> Option<Arc<Self>> {
        blocks.last().and_then(|(_, block)| block.clone())
    }

    fn change(node: &mut Arc<Self>, changes: &[BlockChange<V>]) -> bool {
        let new = Self::of_blocks(changes);
        new.map(|new| *node = new).is_some()
    }

    fn len(&self) -> u32 {
        self.len
    }

    fn bounding_box(&self) -> Box3 {
        self.bounding_box
    }

    fn group(&self) -> u32 {
        self.group
    }

    fn has_ledges(&self) -> bool {
        self.has_ledges
    }

    fn block(&self, _: u64) -> Option<(&FaceBlock<V>, u32)> {
        Some((self, 0))
    }

    fn facet(&self, index: u32) -> Option<FaceIndex<'_, V>> {
        Some(FaceIndex { block: self, index })
    }

    #[inline]
    fn search(
        &self,
        search: &TreeSearch<V::DVec>,
        limit: f64,
        start: u32,
        visit: &mut dyn FnMut(u32) -> f64,
    ) {
        search.run(self.tree(), limit, &mut |index| visit(start + index));
    }

    #[inline]
    fn walk(
        &self,
        path: &CellPath,
        max: f64,
        start: u32,
        visit: &mut dyn FnMut(u32, [V; 3]) -> f64,
    ) -> f64 {
        self.visit_along(path, max, start, visit)
    }

    fn differs(&self, _: &Self, bounds: &Bounds<V::DVec>) -> bool {
        overlaps(self, bounds)
    }

    fn renumbered(&self, other: &Self, index: u32) -> Option<u32> {
        let facet = self.facets().get(index as usize)?;
        let mut others = other.facets().iter();
        let same = others.position(|other| other.corners() == facet.corners())?;
        u32::try_from(same).ok()
    }

    fn visit_blocks<'f>(&'f self, visit: &mut dyn FnMut(&'f FaceBlock<V>))
    where
        V: 'f,
    {
        visit(self);
    }
}

impl<V: Space, C: FaceNode<V>> FaceNode<V> for FaceGroup<C> {
    const BITS: u32 = C::BITS
        + if C::BITS == 0 {
            2 * V::DVec::DIMENSION as u32
        } else {
            REGION_BITS
        };

    fn of_blocks(blocks: &[BlockChange<V>]) -> Option<Arc<Self>> {
        let mut children = Vec::new();
        for blocks in by_child::<V, C>(blocks) {
            let code = code_of_child::<V, C>(blocks);
            children.extend(C::of_blocks(blocks).map(|node| Child::new(code, node)));
        }
        (!children.is_empty()).then(|| Arc::new(Self::new(children)))
    }

    fn change(node: &mut Arc<Self>, changes: &[BlockChange<V>]) -> bool {
        let group = Arc::make_mut(node);
        let mut has_same_codes = true;
        for changes in by_child::<V, C>(changes) {
            let code = code_of_child::<V, C>(changes);
            let found = group.children.binary_search_by_key(&code, |it| it.code);
            match found {
                Ok(index) => {
                    let Some(child) = group.children.get_mut(index) else {
                        continue;
                    };
                    if C::change(&mut child.node, changes) {
                        let (bounds, new_group) = (child.node.bounding_box(), child.node.group());
                        *child = Child::new(code, child.node.clone());
                        group.tree.replace(index as u32, bounds, new_group);
                    } else {
                        group.children.remove(index);
                        has_same_codes = false;
                    }
                }
                Err(index) => {
                    if let Some(node) = C::of_blocks(changes) {
                        group.children.insert(index, Child::new(code, node));
                        has_same_codes = false;
                    }
                }
            }
        }
        group.count();
        if !has_same_codes {
            group.tree = Self::tree_of(&group.children);
        }
        !group.children.is_empty()
    }

    fn len(&self) -> u32 {
        self.len
    }

    fn bounding_box(&self) -> Box3 {
        self.tree.bounding_box()
    }

    fn group(&self) -> u32 {
        self.tree.group()
    }

    fn has_ledges(&self) -> bool {
        self.has_ledges
    }

    fn block(&self, code: u64) -> Option<(&FaceBlock<V>, u32)> {
        let key = |child: &Child<C>| child.code;
        let found = self.children.binary_search_by_key(&(code >> C::BITS), key);
        let child = self.children.get(found.ok()?)?;
        let (block, start) = child.node.block(code)?;
        Some((block, child.start + start))
    }

    #[inline]
    fn facet(&self, index: u32) -> Option<FaceIndex<'_, V>> {
        let child = self.child_with(index)?;
        child.node.facet(index - child.start)
    }

    fn search(
        &self,
        search: &TreeSearch<V::DVec>,
        limit: f64,
        start: u32,
        visit: &mut dyn FnMut(u32) -> f64,
    ) {
        let mut limit = limit;
        search.run(&self.tree, limit, &mut |index| {
            if let Some(child) = self.children.get(index as usize) {
                let before = limit;
                let mut visit = |facet| {
                    limit = visit(facet);
                    limit
                };
                child
                    .node
                    .search(search, before, start + child.start, &mut visit);
            }
            limit
        });
    }

    fn walk(
        &self,
        path: &CellPath,
        max: f64,
        start: u32,
        visit: &mut dyn FnMut(u32, [V; 3]) -> f64,
    ) -> f64 {
        let mut max = max;
        self.tree.visit_along(&path.points, max, |index| {
            if let Some(child) = self.children.get(index as usize) {
                max = child.node.walk(path, max, start + child.start, visit);
            }
            max
        });
        max
    }

    fn differs(&self, other: &Self, bounds: &Bounds<V::DVec>) -> bool {
        if !overlaps(self, bounds) {
            return false;
        }
        let mut others = other.children.iter().peekable();
        self.children.iter().any(|child| {
            while others.next_if(|other| other.code < child.code).is_some() {}
            let same = others.peek().filter(|other| other.code == child.code);
            match same {
                Some(other) if Arc::ptr_eq(&child.node, &other.node) => false,
                Some(other) => child.node.differs(&other.node, bounds),
                None => overlaps(&*child.node, bounds),
            }
        })
    }

    fn renumbered(&self, other: &Self, index: u32) -> Option<u32> {
        let child = self.child_with(index)?;
        let others = &other.children;
        let found = others.binary_search_by_key(&child.code, |other| other.code);
        let other = others.get(found.ok()?)?;
        let index = index - child.start;
        let index = if Arc::ptr_eq(&child.node, &other.node) {
            index
        } else {
            child.node.renumbered(&other.node, index)?
        };
        Some(other.start + index)
    }

    fn visit_blocks<'f>(&'f self, visit: &mut dyn FnMut(&'f FaceBlock<V>))
    where
        V: 'f,
    {
        for child in &self.children {
            child.node.visit_blocks(visit);
        }
    }
}

impl<C> FaceGroup<C> {
    /// Returns the child that has the facet with an index.
    #[inline]
    fn child_with(&self, index: u32) -> Option<&Child<C>> {
        let hint = self.hints.get((index >> self.shift) as usize)?;
        let children = self.children.get(*hint as usize..)?;
        let later = children.iter().skip(1);
        let skipped = later.take_while(|child| child.start <= index).count();
        children.get(skipped)
    }

    /// Creates a node from its children, whose codes must ascend.
    fn new<V: Space>(children: Vec<Child<C>>) -> Self
    where
        C: FaceNode<V>,
    {
        let mut group = Self {
            tree: Self::tree_of(&children),
            children,
            len: 0,
            has_ledges: false,
            hints: Vec::new(),
            shift: 0,
        };
        group.count();
        group
    }

    /// Returns the tree of the boxes of children.
    fn tree_of<V: Space>(children: &[Child<C>]) -> WideTree
    where
        C: FaceNode<V>,
    {
        WideTree::of_codes(children.iter().zip(0_u32..).map(|(child, index)| {
            let node = &child.node;
            (child.code, index, node.bounding_box(), node.group())
        }))
    }

    /// Counts the facets of the children.
    fn count(&mut self) {
        self.len = 0;
        self.has_ledges = false;
        for child in &mut self.children {
            child.start = self.len;
            self.len += child.len;
            self.has_ledges |= child.has_ledges;
        }
        // About one hint for each child.
        let mean = self.len / self.children.len().max(1) as u32;
        self.shift = mean.max(1).ilog2();
        self.hints.clear();
        for (child, index) in self.children.iter().zip(0..) {
            let end = child.start + child.len;
            while (self.hints.len() as u32) << self.shift < end {
                self.hints.push(index);
            }
        }
    }
}

/// Divides changes of blocks by the children of a node.
fn by_child<V: Space, C: FaceNode<V>>(
    changes: &[BlockChange<V>],
) -> impl Iterator<Item = &[BlockChange<V>]> {
    changes.chunk_by(|a, b| a.0 >> C::BITS == b.0 >> C::BITS)
}

/// Returns the code of the child that has some blocks.
fn code_of_child<V: Space, C: FaceNode<V>>(changes: &[BlockChange<V>]) -> u64 {
    changes.first().map_or(0, |(code, _)| code >> C::BITS)
}

impl<V: Space> FaceTree<V> {
    /// Builds the tree of blocks, which must be sorted by code. Returns `None` if there are none.
    pub fn new(blocks: &[BlockChange<V>]) -> Option<Self> {
        let root = FaceNode::of_blocks(blocks)?;
        Some(Self { root })
    }

    /// Changes blocks, which must be sorted by code. Nodes that other trees share are copied.
    /// Returns `false` if no facets are left.
    pub fn change(&mut self, changes: &[BlockChange<V>]) -> bool {
        FaceNode::change(&mut self.root, changes)
    }

    /// Returns the number of facets.
    pub fn len(&self) -> u32 {
        self.root.len
    }

    /// Returns `true` if any facet belongs to a one-way cell.
    pub fn has_ledges(&self) -> bool {
        self.root.has_ledges
    }

    /// Returns the block with a Morton code, and the index of its first facet.
    pub fn block(&self, code: u64) -> Option<(&FaceBlock<V>, u32)> {
        self.root.block(code)
    }

    pub fn facet(&self, index: u32) -> Option<FaceIndex<'_, V>> {
        self.root.facet(index)
    }

    /// Returns the box around all facets.
    pub fn bounds(&self) -> Bounds<V::DVec> {
        self.root.tree.bounds()
    }

    /// Runs a search. `visit` returns the new limit.
    pub fn search(
        &self,
        search: &TreeSearch<V::DVec>,
        limit: f64,
        visit: &mut dyn FnMut(u32) -> f64,
    ) {
        self.root.search(search, limit, 0, visit);
    }

    /// Calls `visit` with the index and the vertices of each facet that a path may meet until
    /// `max`. The blocks are visited roughly in the order of the path. Sides of cells that the path
    /// leaves may be skipped. `visit` returns the new `max`, or a negative number to stop.
    pub fn walk(&self, path: &CellPath, max: f64, visit: &mut dyn FnMut(u32, [V; 3]) -> f64) {
        self.root.walk(path, max, 0, visit);
    }

    /// Returns `true` if a box may overlap faces that only one of two trees has.
    pub fn differs(&self, other: &Self, bounds: &Bounds<V::DVec>) -> bool {
        !Arc::ptr_eq(&self.root, &other.root)
            && (self.root.differs(&other.root, bounds) || other.root.differs(&self.root, bounds))
    }

    /// Returns the index in another tree of a facet that both have.
    pub fn renumbered(&self, other: &Self, index: u32) -> Option<u32> {
        self.root.renumbered(&other.root, index)
    }

    /// Returns all blocks.
    pub fn blocks(&self) -> Vec<&FaceBlock<V>> {
        let mut blocks = Vec::new();
        self.root.visit_blocks(&mut |block| blocks.push(block));
        blocks
    }
}

/// Returns the Morton code of a block, given by its first position, which must be in range.
pub fn code_of_block(dimension: usize, position: CellPosition) -> u64 {
    let mut code = 0;
    for (axis, at) in position.into_iter().enumerate().take(dimension) {
        let at = ((at >> block_bits(dimension)) + MORTON_ZERO) as u64;
        for bit in 0..u64::BITS / 4 {
            code |= (at >> bit & 1) << (bit as usize * dimension + axis);
        }
    }
    code
}

/// Returns `true` if the box around all facets of a node overlaps another box.
fn overlaps<V: Space>(node: &impl FaceNode<V>, bounds: &Bounds<V::DVec>) -> bool {
    let [min, max] = node.bounding_box();
    Bounds::of_f32(min, max).overlaps(bounds)
}
