/// The codings that a client accepts for a body (RFC 9110, 12.5.3).
public enum AcceptedCoding {
    /// Returns whether the value of `Accept-Encoding` names gzip, and not with the weight 0.
    public static func hasGzip(_ value: some Sequence<UInt8>) -> Bool {
        String(decoding: Array(value), as: UTF8.self).lowercased().split(separator: ",").contains { entry in
            let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard parts.first == "gzip" else { return false }
            return !parts.dropFirst().contains { part in
                part.hasPrefix("q=0") && part.dropFirst(3).allSatisfy { $0 == "." || $0 == "0" }
            }
        }
    }
}
