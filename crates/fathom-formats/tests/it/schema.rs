use crate::support::golden;

#[test]
fn the_published_schema_is_that_of_the_types() {
    let schema = schemars::schema_for!(fathom_model::ResultFile);
    let mut text = serde_json::to_string_pretty(&schema).unwrap();
    text.push('\n');
    golden("docs/schema/result-1.schema.json", text.as_bytes());
}
