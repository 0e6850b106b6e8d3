//! Prints Markdown tables row by row, so that the results so far are visible if a long run is
//! stopped.

/// Prints the head of a table.
pub fn head(columns: &[&str]) {
    row(columns);
    row(&vec!["---"; columns.len()]);
}

/// Prints a row.
pub fn row(cells: &[impl AsRef<str>]) {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    println!("| {} |", cells.join(" | "));
}

/// Formats a number with three significant digits.
pub fn short(number: f64) -> String {
    match number.abs() {
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}
