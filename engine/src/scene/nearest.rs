//! Names that were meant.

/// Names longer than this are no slips of the pen.
const LONGEST: usize = 64;

/// The known name that differs least from `name`, if that is by a slip: in case, or in at most a third of its letters, inserted, left out,
/// changed or exchanged with a neighbour. Otherwise one that begins with all letters of `name` but the last, of four or more. The first of several.
///
/// ```
/// use moreau::scene::nearest_name;
/// assert_eq!(nearest_name("shpere", ["cuboid", "sphere"]), Some("sphere"));
/// assert_eq!(nearest_name("body", ["name", "bodies"]), Some("bodies"));
/// assert_eq!(nearest_name("pyramid", ["cuboid", "sphere"]), None);
/// ```
#[must_use]
pub fn nearest_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    if letters > LONGEST {
        return None;
    }
    let most = letters / 3;
    let lower = name.to_lowercase();
    let known: Vec<(&str, String)> = known
        .into_iter()
        .filter(|other| other.chars().count() <= 2 * LONGEST)
        .map(|other| (other, other.to_lowercase()))
        .collect();
    let distance = |other: &str| strsim::osa_distance(&lower, other);
    let near = known
        .iter()
        .map(|(other, in_lower)| (distance(in_lower), *other));
    let near = near.min_by_key(|(distance, _)| *distance);
    if let Some((_, other)) = near.filter(|(distance, _)| *distance <= most) {
        return Some(other);
    }
    let (end, _) = lower.char_indices().next_back()?;
    let begins = |(_, other): &&(&str, String)| letters >= 4 && other.starts_with(&lower[..end]);
    known.iter().find(begins).map(|(other, _)| *other)
}
