//! How lists grow that have an entry for each collider or contact: large ones.

/// Makes room for one more.
#[inline]
pub fn make_room<T>(list: &mut Vec<T>) {
    make_room_for(list, 1);
}

/// Makes room for so many more, by a fourth at a time: of a list that has grown by doubling half may be empty.
#[inline]
pub fn make_room_for<T>(list: &mut Vec<T>, count: usize) {
    if list.capacity() - list.len() < count {
        list.reserve_exact(count.max(list.len() / 4 + 16));
    }
}

/// Gives back what a list has room for beyond twice of what is in it.
pub fn give_back<T>(list: &mut Vec<T>) {
    list.shrink_to(2 * list.len());
}
