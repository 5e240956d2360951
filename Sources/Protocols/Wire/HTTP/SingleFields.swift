import Basics

/// Headers that have one value: two of them would be read differently by different parsers (RFC 9110, 5.3).
///
/// `Content-Length`, `Transfer-Encoding` and `Host` are checked where the head is framed. All other headers that endpoints
/// read are lists, whose lines combine.
enum SingleFields {
    /// The names in lower case, each with the reason of the refusal.
    private static let fields: [(name: StaticString, reason: StaticString)] = [
        ("authorization", "duplicate Authorization: expected the header once"),
        ("content-type", "duplicate Content-Type: expected the header once"),
        ("ttl", "duplicate TTL: expected the header once"),
        ("topic", "duplicate Topic: expected the header once"),
        ("urgency", "duplicate Urgency: expected the header once"),
        ("project_id", "duplicate project_id: expected the header once"),
        ("access_token_auth", "duplicate access_token_auth: expected the header once"),
    ]

    /// Throws status 400 if one of the headers occurs twice.
    static func check(
        _ received: [HTTPRequest.HeaderField], _ head: borrowing RawSpan
    ) throws(RequestFault) {
        var seen = 0
        for field in received {
            let name = head.extracting(field.name)
            for (at, known) in fields.enumerated() where name.equals(known.name) {
                guard seen & 1 << at == 0 else { throw RequestFault(.badRequest, known.reason) }
                seen |= 1 << at
            }
        }
    }
}
