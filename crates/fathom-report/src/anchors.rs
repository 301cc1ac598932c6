//! Names of results in addresses and file names.

use std::collections::HashSet;

use fathom_model::PtsIdentity;

use crate::view::{Block, View};

/// One name a block, unique in the file: the comparison hash where there is one, as the
/// Phoronix Test Suite names its anchors, else case and metric.
pub(crate) fn anchors_of(view: &View<'_>) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::with_capacity(view.blocks.len());
    let mut anchors = Vec::with_capacity(view.blocks.len());
    for block in &view.blocks {
        let name = name_of(block);
        let mut anchor = name.clone();
        let mut number = 2;
        while !taken.insert(anchor.clone()) {
            anchor = format!("{name}-{number}");
            number += 1;
        }
        anchors.push(anchor);
    }
    anchors
}

fn name_of(block: &Block<'_>) -> String {
    let record = block.record;
    match record.pts.as_deref() {
        Some(facts) if !facts.hash.is_empty() => format!("r-{}", word(&facts.hash)),
        Some(facts) => {
            let hash = fathom_model::pts_comparison_hash(PtsIdentity {
                identifier: &facts.identifier,
                title: &record.title,
                arguments: &facts.arguments,
                description: &record.description,
                app_version: &record.version,
                scale: &record.metric.unit,
            });
            format!("r-{hash}")
        }
        None => {
            let metric = match record.metric.id.as_str() {
                "" => &record.metric.unit,
                id => id,
            };
            format!("r-{}-{}", word(&record.case.0), word(metric))
        }
    }
}

/// Letters, digits and dashes only, at most 64.
fn word(text: &str) -> String {
    let kept = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    kept.take(64).collect()
}
