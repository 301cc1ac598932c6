use proptest::prelude::*;

use super::*;

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = i32::try_from(body.len() + 4).unwrap();
    [&[tag][..], &length.to_be_bytes(), body].concat()
}

#[test]
fn messages_are_cut_wherever_reads_end() {
    let stream = [
        message(b'T', b"x"),
        message(b'D', &[7; 70_000]),
        message(b'Z', b"T"),
    ]
    .concat();
    for step in [1, 7, 4096, 100_000] {
        let mut inbox = Inbox::new();
        let mut seen = Vec::new();
        for piece in stream.chunks(step) {
            let mut rest = piece;
            while !rest.is_empty() {
                inbox.fill(&mut rest).unwrap();
                while let Some(found) = inbox.next().unwrap() {
                    seen.push((found.tag, found.body.len()));
                }
            }
        }
        assert_eq!(
            seen,
            [(b'T', 1), (b'D', 70_000), (b'Z', 1)],
            "steps of {step}"
        );
    }
}

#[test]
fn what_is_no_message_is_said() {
    let check = |bytes: &[u8], part: &str| {
        let mut inbox = Inbox::new();
        inbox.fill(bytes).unwrap();
        let what = inbox.next().unwrap_err();
        assert!(what.contains(part), "{what}");
    };
    check(b"HTTP/1.1 400 Bad Request\r\n", "HTTP/1.1 400 Bad");
    check(b"SSH-2.0-OpenSSH", "SSH-2.0-OpenSSH");
    check(b"Z\xff\xff\xff\xff", "Z\\xff");
    check(b"\x00\x01\x02\x03\x04", "\\x00\\x01");
}

#[test]
fn errors_carry_code_and_detail() {
    let body = b"SERROR\0VERROR\0C40001\0Mcould not serialize\0Dthe key\0\0";
    let error = ServerError::read(body);
    assert_eq!(error.code, "40001");
    assert_eq!(error.message, "could not serialize: the key");
    assert!(error.asks_for_retry());
    assert!(!ServerError::read(b"C57P01\0Mgone\0\0").asks_for_retry());
}

#[test]
fn columns_know_null_from_empty() {
    let row = b"\0\x03\0\0\0\x02ab\xff\xff\xff\xff\0\0\0\0";
    let found: Vec<_> = columns(row).collect();
    assert_eq!(found, [Some(&b"ab"[..]), None, Some(&b""[..])]);
}

proptest! {
    #[test]
    fn no_bytes_make_the_inbox_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut inbox = Inbox::new();
        let mut rest = &bytes[..];
        inbox.fill(&mut rest).unwrap();
        let mut reply = Reply::default();
        while let Ok(Some(found)) = inbox.next() {
            let _ = columns(found.body).count();
            reply.take(found);
        }
    }
}
