//! Systems that vary in two factors: grouped by one, coloured by the other.

use std::collections::BTreeSet;

use fathom_model::System;

/// How a system is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Paint {
    /// Which colour of the palette, from 0.
    pub colour: u8,
    /// Fill of its bars: 0 solid, 1 and 2 lighter, when the colours are used up.
    pub fill: u8,
    /// Stroke of its curves: 0 solid, 1 and 2 dashed.
    pub dash: u8,
}

/// Colours before fills and dashes set systems apart.
const COLOURS: usize = 8;

/// The group and paint of every system, in order.
///
/// Names such as `Disk A: EXT4`, with exactly one colon in every name, are grouped by what stands
/// before it and coloured by what stands after it, as the Phoronix Test Suite reads them. Else two
/// labels that vary (`file-system`, `layout`) group by the first of them and colour by the second.
/// Otherwise every system has its own colour and there is one group.
pub(crate) fn groups_of(names: &[&str], systems: &[Option<&System>]) -> Vec<(u32, Paint)> {
    match factors_of_names(names).or_else(|| factors_of_labels(systems)) {
        Some(factors) => by_factors(&factors),
        None => (0..names.len())
            .map(|place| (0, Paint::of(place, place / COLOURS)))
            .collect(),
    }
}

impl Paint {
    fn of(colour: usize, dash: usize) -> Self {
        Self {
            colour: (colour % COLOURS) as u8,
            fill: (colour / COLOURS % 3) as u8,
            dash: (dash % 3) as u8,
        }
    }
}

fn factors_of_names<'a>(names: &[&'a str]) -> Option<Vec<(&'a str, &'a str)>> {
    let split = |name: &&'a str| {
        let (group, member) = name.split_once(": ")?;
        (!member.contains(':') && !group.contains(':')).then_some((group, member))
    };
    names
        .iter()
        .map(split)
        .collect::<Option<Vec<_>>>()
        .filter(|factors| is_grid(factors))
}

fn factors_of_labels<'a>(systems: &[Option<&'a System>]) -> Option<Vec<(&'a str, &'a str)>> {
    let all: Vec<&System> = systems.iter().copied().collect::<Option<_>>()?;
    let names: BTreeSet<&str> = all
        .iter()
        .flat_map(|system| system.labels.keys().map(String::as_str))
        .collect();
    let value = |system: &&'a System, name: &str| system.labels.get(name).map(String::as_str);
    let varying: Vec<&str> = names
        .into_iter()
        .filter(|name| {
            all.iter()
                .any(|system| value(system, name) != value(&all[0], name))
        })
        .collect();
    let [group, member] = varying.as_slice() else {
        return None;
    };
    all.iter()
        .map(|system| Some((value(system, group)?, value(system, member)?)))
        .collect::<Option<Vec<_>>>()
        .filter(|factors| is_grid(factors))
}

/// Whether grouping shows anything: several groups, and one with several members.
fn is_grid(factors: &[(&str, &str)]) -> bool {
    let distinct =
        |of: fn(&(&str, &str)) -> String| factors.iter().map(of).collect::<BTreeSet<_>>().len();
    let groups = distinct(|factor| factor.0.to_owned());
    let members = distinct(|factor| factor.1.to_owned());
    groups > 1 && members > 1 && groups < factors.len()
}

fn by_factors(factors: &[(&str, &str)]) -> Vec<(u32, Paint)> {
    let mut groups: Vec<&str> = Vec::new();
    let mut members: Vec<&str> = Vec::new();
    let mut painted = Vec::with_capacity(factors.len());
    for (group, member) in factors {
        let group = position_or_push(&mut groups, group);
        painted.push((
            group as u32,
            Paint::of(position_or_push(&mut members, member), group),
        ));
    }
    painted
}

fn position_or_push<'a>(list: &mut Vec<&'a str>, name: &'a str) -> usize {
    list.iter()
        .position(|known| *known == name)
        .unwrap_or_else(|| {
            list.push(name);
            list.len() - 1
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_one_colon_make_groups() {
        let names = ["Disk A: EXT4", "Disk B: EXT4", "Disk A: XFS", "Disk B: XFS"];
        let painted = groups_of(&names, &[None; 4]);
        let groups: Vec<u32> = painted.iter().map(|(group, _)| *group).collect();
        let colours: Vec<u8> = painted.iter().map(|(_, paint)| paint.colour).collect();
        assert_eq!((groups, colours), (vec![0, 1, 0, 1], vec![0, 0, 1, 1]));
        assert_eq!(painted[3].1.dash, 1);
    }

    #[test]
    fn other_names_have_a_colour_each() {
        for names in [
            ["A: x", "B: y", "C"],
            ["A: x", "B: y", "C: z"],
            ["a:1: x", "a:1: y", "b: x"],
        ] {
            let painted = groups_of(&names, &[None; 3]);
            assert!(painted.iter().all(|(group, _)| *group == 0), "{names:?}");
            let colours: Vec<u8> = painted.iter().map(|(_, paint)| paint.colour).collect();
            assert_eq!(colours, [0, 1, 2]);
        }
        let many: Vec<String> = (0..30).map(|number| number.to_string()).collect();
        let names: Vec<&str> = many.iter().map(String::as_str).collect();
        let painted = groups_of(&names, &vec![None; 30]);
        assert_eq!(
            painted[9].1,
            Paint {
                colour: 1,
                fill: 1,
                dash: 1
            }
        );
        let looks: std::collections::HashSet<(u8, u8)> = painted[..24]
            .iter()
            .map(|(_, paint)| (paint.colour, paint.fill))
            .collect();
        assert_eq!(looks.len(), 24);
    }

    #[test]
    fn two_varying_labels_make_groups() {
        let system = |fs: &str, layout: &str| System {
            labels: [("file-system", fs), ("layout", layout), ("kernel", "6.12")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            ..System::default()
        };
        let systems = [
            system("ext4", "raid0"),
            system("ext4", "raid1"),
            system("f2fs", "raid0"),
        ];
        let refs: Vec<Option<&System>> = systems.iter().map(Some).collect();
        let painted = groups_of(&["a", "b", "c"], &refs);
        let groups: Vec<(u32, u8)> = painted
            .iter()
            .map(|(group, paint)| (*group, paint.colour))
            .collect();
        assert_eq!(groups, [(0, 0), (0, 1), (1, 0)]);
    }
}
