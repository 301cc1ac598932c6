use super::*;

#[test]
fn names_lead_to_drivers_or_say_why_not() {
    for (id, feature) in DRIVERS {
        match driver(id) {
            Ok(found) => assert_eq!(found.id(), id),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains(&format!("--features {feature}")), "{text}");
            }
        }
    }
    let text = driver("oracle").unwrap_err().to_string();
    assert!(text.contains("expected one of pgbench"), "{text}");
}
