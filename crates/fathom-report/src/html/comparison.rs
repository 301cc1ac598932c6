//! A comparison as a page.

use fathom_model::compare::{Comparison, Contender, Row};
use fathom_stats::compare::{Answer, Direction};

use super::put::{Text, put};
use super::{push_document_end, push_document_start};
use crate::clean;
use crate::counterparts;
use crate::number::{push_percent, significant};
use crate::svg::{Medium, Ratio, push_forest};
use crate::text::{
    counts_text, judged_arms, label_of, overall_text, ratio_text, remarks_of, unjudged_text,
};

/// A comparison as an HTML page in one file: the conditions that differ, and for every contender
/// the answer over all cases, the ratios with their intervals as a chart, and a table of all
/// numbers.
pub fn html_comparison(comparison: &Comparison) -> String {
    let title = title_of(comparison);
    let mut out = String::with_capacity(32 * 1024 + comparison.rows.len() * 1024);
    push_document_start(&mut out, &title);
    put!(
        &mut out,
        "<header class=\"top\"><h1>",
        Text(&title),
        "</h1></header><main>"
    );
    push_conditions(&mut out, comparison);
    for place in judged_arms(comparison) {
        push_contender(&mut out, comparison, place);
    }
    if let Some(text) = unjudged_text(comparison) {
        put!(&mut out, "<p>", Text(&capitalised(&text)), ".</p>");
    }
    push_counterparts(&mut out, comparison);
    push_unmatched(&mut out, comparison);
    put!(
        &mut out,
        "</main><footer><p>",
        Text(&rule_text(comparison)),
        "</p></footer>"
    );
    push_document_end(&mut out);
    out
}

fn title_of(comparison: &Comparison) -> String {
    let name = |place: usize| comparison.arms.get(place).map_or("", String::as_str);
    match comparison.arms.len() {
        2 => format!("{} against {}", name(1), name(0)),
        arms => format!("{} systems against {}", arms.saturating_sub(1), name(0)),
    }
}

fn rule_text(comparison: &Comparison) -> String {
    let mut margin = String::new();
    push_percent(&mut margin, comparison.rule.margin * 100.0);
    format!(
        "Faster and slower need the whole interval of the ratio beyond {margin} % either way, same \
         needs it whole within; anything else cannot be told. The ratio is the contender's \
         geometric mean over the baseline's where trials are known, of means elsewhere; the \
         chart turns ratios of metrics where lower is better, so that right is always better."
    )
}

/// From so many arms on conditions are listed by value instead of by arm.
const MANY_ARMS: usize = 5;

fn push_conditions(out: &mut String, comparison: &Comparison) {
    put!(out, "<h2 id=\"conditions\">Conditions that differ</h2>");
    if comparison.conditions.is_empty() {
        put!(out, "<p>None that is known.</p>");
    } else {
        put!(
            out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" ",
            "aria-label=\"Conditions that differ\"><table>"
        );
        match comparison.arms.len() >= MANY_ARMS {
            true => push_conditions_by_value(out, comparison),
            false => push_conditions_by_arm(out, comparison),
        }
        put!(out, "</tbody></table></div>");
    }
    put!(
        out,
        "<p class=\"sub\">",
        comparison.equal_conditions,
        " known conditions are equal.</p>"
    );
}

fn push_conditions_by_arm(out: &mut String, comparison: &Comparison) {
    put!(out, "<thead><tr><td></td>");
    for arm in &comparison.arms {
        put!(out, "<th scope=\"col\">", Text(arm), "</th>");
    }
    put!(out, "</tr></thead><tbody>");
    for row in &comparison.conditions {
        put!(out, "<tr><th scope=\"row\">", Text(&row.name), "</th>");
        for value in &row.values {
            let value = value.as_deref().unwrap_or("not known");
            put!(out, "<td class=\"t\">", Text(value), "</td>");
        }
        put!(out, "</tr>");
    }
}

fn push_conditions_by_value(out: &mut String, comparison: &Comparison) {
    put!(
        out,
        "<thead><tr><th scope=\"col\">Condition</th><th scope=\"col\">Value</th>",
        "<th scope=\"col\">Systems</th></tr></thead><tbody>"
    );
    for row in &comparison.conditions {
        let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
        for (value, arm) in row.values.iter().zip(&comparison.arms) {
            let value = value.as_deref().unwrap_or("not known");
            match groups.iter_mut().find(|(known, _)| *known == value) {
                Some((_, arms)) => arms.push(arm),
                None => groups.push((value, vec![arm])),
            }
        }
        // The largest group needs no list: it is all that are not in the others.
        let largest = groups.iter().map(|(_, arms)| arms.len()).max().unwrap_or(0);
        groups.sort_by_key(|(_, arms)| arms.len() == largest);
        let last = groups.len().saturating_sub(1);
        for (place, (value, arms)) in groups.iter().enumerate() {
            let name = if place == 0 { row.name.as_str() } else { "" };
            let arms = match place == last && arms.len() >= MANY_ARMS {
                true => format!("the other {}", arms.len()),
                false => arms.join(", "),
            };
            put!(
                out,
                "<tr><th scope=\"row\">",
                Text(name),
                "</th><td class=\"t\">",
                Text(value),
                "</td><td class=\"t\">",
                Text(&arms),
                "</td></tr>"
            );
        }
    }
}

fn push_contender(out: &mut String, comparison: &Comparison, place: usize) {
    let summary = &comparison.summaries[place];
    let (baseline, arm) = (&comparison.arms[0], &comparison.arms[place + 1]);
    put!(
        out,
        "<h2 id=\"c",
        place,
        "\">",
        Text(arm),
        "</h2><p>Against ",
        Text(baseline),
        ": <b>"
    );
    put!(out, Text(&overall_text(comparison, summary)), "</b>; ");
    put!(out, Text(&counts_text(summary)), ".</p>");
    let ratios: Vec<Ratio> = comparison
        .rows
        .iter()
        .map(|row| ratio_of(row, &row.contenders[place]))
        .collect();
    if ratios.iter().any(|ratio| ratio.value.is_some()) {
        let title = format!("{arm} against {baseline}");
        let id = format!("f{place}");
        let about = (
            id.as_str(),
            title.as_str(),
            "Ratios with 95 % intervals; right is better.",
        );
        put!(out, "<figure>");
        push_forest(out, &ratios, comparison.rule.margin, about, Medium::Page);
        put!(out, "</figure>");
    }
    push_table(out, comparison, place);
}

/// A ratio that is above 1 where the contender is better.
fn ratio_of(row: &Row, contender: &Contender) -> Ratio {
    let name = label_of(row);
    let Some(compared) = &contender.comparison else {
        let side = "no answer".to_owned();
        return Ratio {
            name,
            side,
            value: None,
            interval: None,
            class: "u",
        };
    };
    let interval = compared
        .interval
        .as_ref()
        .map(|test| (test.estimate.low, test.estimate.high));
    let turned = |ratio: f64| match compared.direction {
        Direction::HigherIsBetter => ratio,
        Direction::LowerIsBetter => 1.0 / ratio,
    };
    let class = match compared.answer {
        Answer::Faster => "hb",
        Answer::Slower => "hw",
        Answer::Same | Answer::CannotTell { .. } => "u",
    };
    Ratio {
        name,
        side: format!(
            "{} {}",
            ratio_text(turned(compared.ratio)),
            answer_word(contender)
        ),
        value: Some(turned(compared.ratio)),
        interval: interval.map(|(low, high)| {
            let (a, b) = (turned(low), turned(high));
            (a.min(b), a.max(b))
        }),
        class,
    }
}

fn answer_word(contender: &Contender) -> &'static str {
    match contender
        .comparison
        .as_ref()
        .map(|compared| compared.answer)
    {
        Some(Answer::Faster) => "faster",
        Some(Answer::Slower) => "slower",
        Some(Answer::Same) => "same",
        Some(Answer::CannotTell { .. }) => "cannot tell",
        None => "no answer",
    }
}

fn push_table(out: &mut String, comparison: &Comparison, place: usize) {
    put!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All numbers\"><table>",
        "<thead><tr><th scope=\"col\">Case</th><th scope=\"col\" class=\"n\">",
        Text(&comparison.arms[0]),
        "</th><th scope=\"col\" class=\"n\">",
        Text(&comparison.arms[place + 1]),
        "</th><th scope=\"col\">Unit</th><th scope=\"col\" class=\"n\">Ratio</th>",
        "<th scope=\"col\" class=\"n\">95 % interval</th><th scope=\"col\" class=\"n\">p, adjusted</th>",
        "<th scope=\"col\">Answer</th><th scope=\"col\">Remarks</th></tr></thead><tbody>"
    );
    for row in &comparison.rows {
        push_table_row(out, comparison, row, place);
    }
    put!(out, "</tbody></table></div>\n");
}

fn push_table_row(out: &mut String, comparison: &Comparison, row: &Row, place: usize) {
    let contender = &row.contenders[place];
    put!(out, "<tr><th scope=\"row\">", Text(&label_of(row)), "</th>");
    for cell in [Some(&row.baseline), contender.cell.as_ref()] {
        let text = match cell.map(|cell| cell.value) {
            Some(Some(value)) => significant(value, 4),
            Some(None) => "failed".to_owned(),
            None => String::new(),
        };
        put!(out, "<td class=\"n\">", Text(&text), "</td>");
    }
    put!(
        out,
        "<td>",
        Text(&clean::line(&row.metric.unit)),
        "</td><td class=\"n\">"
    );
    if let Some(compared) = &contender.comparison {
        put!(out, Text(&ratio_text(compared.ratio)));
    }
    put!(out, "</td><td class=\"n\">");
    if let Some(test) = contender
        .comparison
        .as_ref()
        .and_then(|compared| compared.interval)
    {
        let (low, high) = (
            ratio_text(test.estimate.low),
            ratio_text(test.estimate.high),
        );
        put!(out, Text(&low), " to ", Text(&high));
    }
    put!(out, "</td><td class=\"n\">");
    if let Some(p) = contender.p_adjusted {
        let text = if p < 0.001 {
            "<0.001".to_owned()
        } else {
            crate::number::rounded(p, 3)
        };
        put!(out, Text(&text));
    }
    let answer = answer_word(contender);
    put!(out, "</td><td>");
    match answer {
        "faster" => put!(out, "<b class=\"valid\">faster</b>"),
        "slower" => put!(out, "<b class=\"invalid\">slower</b>"),
        other => put!(out, other),
    }
    let remarks = remarks_of(comparison, row, place).join("; ");
    put!(out, "</td><td class=\"t\">", Text(&remarks), "</td></tr>");
}

fn push_counterparts(out: &mut String, comparison: &Comparison) {
    let groups = counterparts::groups(comparison);
    if groups.is_empty() {
        return;
    }
    put!(
        out,
        "<h2 id=\"counterparts\">",
        Text(&capitalised(counterparts::HEADING)),
        "</h2><p>",
        counterparts::REASON,
        "</p>"
    );
    for group in &groups {
        push_counterpart_table(out, group);
    }
}

fn push_counterpart_table(out: &mut String, group: &counterparts::Group) {
    put!(
        out,
        "<h3>",
        Text(&group.title),
        "</h3><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"",
        Text(&group.title),
        "\"><table><thead><tr><th scope=\"col\">System</th><th scope=\"col\" class=\"n\">Value</th>",
        "<th scope=\"col\" class=\"n\">To the baseline</th><th scope=\"col\">Measured by</th></tr>",
        "</thead><tbody>"
    );
    for line in &group.lines {
        put!(
            out,
            "<tr><th scope=\"row\">",
            Text(&line.name),
            "</th><td class=\"n\">",
            Text(&line.value),
            "</td><td class=\"n\">",
            Text(&line.ratio),
            "</td><td class=\"t\">",
            Text(&line.by),
            "</td></tr>"
        );
    }
    put!(out, "</tbody></table></div>");
    if !group.differences.is_empty() {
        let text = group.differences.join(", ");
        put!(out, "<p class=\"sub\">Not equal: ", Text(&text), ".</p>");
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(characters).collect()
}

fn push_unmatched(out: &mut String, comparison: &Comparison) {
    if comparison.unmatched.is_empty() {
        return;
    }
    put!(
        out,
        "<h2 id=\"unmatched\">Only in some</h2><ul class=\"reasons\">"
    );
    for result in &comparison.unmatched {
        put!(
            out,
            "<li>",
            Text(&result.label),
            ": ",
            Text(&result.arms.join(", ")),
            "</li>"
        );
    }
    put!(out, "</ul>");
}
