//! Contacts that repeat earlier ones, of neighbouring parts or triangles.

use super::ContactPoint;
use glam::DVec3;

/// Contacts beyond which each is compared only with those near it along a line.
const MANY: usize = 64;
/// Direction of that line, of unit length to 1e-5 and not longer: askew to what is built along axes and diagonals.
const LINE: DVec3 = DVec3::new(0.3711, 0.5547, 0.7447);

/// Drops every contact from `start` on that repeats an earlier one: the same normal to 1e-6 and
/// the same point to 1e-6 of `size` (m). Of two, the lesser gap is kept,
/// the first if they are equal to rounding.
pub(super) fn drop(contacts: &mut Vec<ContactPoint>, start: usize, size: f64) {
    let near = if size.is_finite() { 1e-6 * size } else { 0.0 };
    let found = &mut contacts[start..];
    let kept = if found.len() > MANY {
        along_a_line(found, near)
    } else {
        one_by_one(found, near)
    };
    contacts.truncate(start + kept);
}

fn is_same(a: &ContactPoint, b: &ContactPoint, near: f64) -> bool {
    (a.point - b.point).length_squared() <= near * near
        && (a.normal - b.normal).length_squared() <= 1e-12
}

fn is_less(a: &ContactPoint, b: &ContactPoint, near: f64) -> bool {
    a.gap < b.gap - 1e-3 * near
}

/// Puts those that are kept to the front, in their order. How many they are.
fn one_by_one(contacts: &mut [ContactPoint], near: f64) -> usize {
    let mut kept = 0;
    for i in 0..contacts.len() {
        let contact = contacts[i];
        let mut known = contacts[..kept].iter_mut();
        match known.find(|other| is_same(other, &contact, near)) {
            Some(other) if is_less(&contact, other, near) => *other = contact,
            Some(_) => {}
            None => {
                contacts[kept] = contact;
                kept += 1;
            }
        }
    }
    kept
}

/// The same in a time that grows with the contacts as their sorting does.
fn along_a_line(contacts: &mut [ContactPoint], near: f64) -> usize {
    let keys = contacts.iter().map(|contact| LINE.dot(contact.point));
    let mut order: Vec<(f64, usize)> = keys.zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut place = vec![0; order.len()];
    for (number, (_, index)) in order.iter().enumerate() {
        place[*index] = number;
    }
    let largest = order.iter().fold(0.0, |most, (key, _)| key.abs().max(most));
    let window = near + 8.0 * f64::EPSILON * largest;
    // By place along the line: where that contact is kept; and the place of each that is.
    let mut kept_at: Vec<Option<usize>> = vec![None; order.len()];
    let mut places: Vec<usize> = Vec::with_capacity(order.len());
    for i in 0..contacts.len() {
        let (contact, own) = (contacts[i], place[i]);
        let is_beside = |other: &usize| (order[*other].0 - order[own].0).abs() <= window;
        let before = (0..own).rev().take_while(is_beside);
        let beside = before.chain((own + 1..order.len()).take_while(is_beside));
        let kept = beside.filter_map(|other| kept_at[other]);
        let known = kept.filter(|kept| is_same(&contacts[*kept], &contact, near));
        match known.min() {
            Some(kept) if is_less(&contact, &contacts[kept], near) => {
                contacts[kept] = contact;
                kept_at[places[kept]] = None;
                kept_at[own] = Some(kept);
                places[kept] = own;
            }
            Some(_) => {}
            None => {
                contacts[places.len()] = contact;
                kept_at[own] = Some(places.len());
                places.push(own);
            }
        }
    }
    places.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways keep the same contacts, whichever repeat each other, also where many lie on one plane across the line.
    #[test]
    fn the_line_changes_nothing() {
        let mut state: u64 = 1;
        let mut number = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for case in 0..200 {
            let near = 1e-6;
            let across = LINE.any_orthonormal_vector();
            let mut contact = || {
                let cell = [number(5), number(5), number(5)].map(|cell| cell as f64);
                let mut point = DVec3::from_array(cell) * 0.1;
                if case % 2 == 1 {
                    point = across * cell[0] + LINE * (1e-7 * cell[1]);
                }
                let rounding = [number(4), number(4), number(4)].map(|part| part as f64 * 4e-7);
                ContactPoint {
                    point: point + DVec3::from_array(rounding),
                    normal: [DVec3::X, DVec3::Y][number(2) as usize],
                    gap: number(3) as f64 * 1e-9,
                    feature: number(1000),
                }
            };
            let mut one: Vec<ContactPoint> = (0..200).map(|_| contact()).collect();
            let mut other = one.clone();
            let kept = one_by_one(&mut one, near);
            assert_eq!(kept, along_a_line(&mut other, near), "{case}");
            assert_eq!(one[..kept], other[..kept], "{case}");
            assert!(kept > 5 && kept < 200, "{case}: {kept}");
        }
    }
}
