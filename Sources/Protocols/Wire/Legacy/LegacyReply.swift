public import Basics

/// Writes the responses of the legacy interface: compact, without a final line end (http 1.2, 2.3, 2.6).
public enum LegacyReply {
    /// The outcome for one recipient.
    public enum Result: Sendable, Equatable {
        /// Accepted. The ID is `nil` for a dry run; `canonical` is the token that replaced the one in the request, if any.
        case sent(PersistentID?, canonical: [UInt8]?)
        /// Refused for this reason.
        case refused(Refusal)
    }

    /// The message ID in response to a dry run, as the real service sends it.
    private static let dryRunID: StaticString = "fake_message_id"

    /// Returns the JSON response for tokens; `multicastID` is positive.
    public static func json(_ results: [Result], multicastID: Int64) -> [UInt8] {
        var sent = 0
        var canonical = 0
        for case .sent(_, let token) in results {
            sent += 1
            if token != nil { canonical += 1 }
        }
        var body = ByteBuffer()
        append("{\"multicast_id\":", Int(multicastID), to: &body)
        append(",\"success\":", sent, to: &body)
        append(",\"failure\":", results.count - sent, to: &body)
        append(",\"canonical_ids\":", canonical, to: &body)
        body.append(",\"results\":[")
        for (at, result) in results.enumerated() {
            if at > 0 { body.append(",") }
            switch result {
            case .sent(let id, let token):
                body.append("{\"message_id\":\"")
                append(id, to: &body)
                if let token {
                    body.append("\",\"registration_id\":\"")
                    body.append(token)
                }
                body.append("\"}")
            case .refused(let refusal):
                body.append("{\"error\":\"")
                body.append(LegacyError.word(refusal))
                body.append("\"}")
            }
        }
        body.append("]}")
        return body.copied()
    }

    /// Returns the JSON response for a topic or condition; its ID is a number, `dryRunID` for a dry run (http 2.4).
    public static func topicJSON(_ result: Result, dryRunID: Int64) -> [UInt8] {
        var body = ByteBuffer()
        switch result {
        case .sent(let id, _): append("{\"message_id\":", number(id, dryRunID), to: &body)
        case .refused(let refusal):
            body.append("{\"error\":\"")
            body.append(LegacyError.word(refusal))
            body.append("\"")
        }
        body.append("}")
        return body.copied()
    }

    /// Returns the plain-text response for a topic.
    public static func topicText(_ result: Result, dryRunID: Int64) -> [UInt8] {
        guard case .sent(let id, _) = result else { return text(result) }
        var body = ByteBuffer()
        append("id=", number(id, dryRunID), to: &body)
        return body.copied()
    }

    /// Sequence numbers are microseconds since 1970, so they fit.
    private static func number(_ id: PersistentID?, _ dryRunID: Int64) -> Int {
        Int(clamping: id?.sequence.number ?? UInt64(dryRunID))
    }

    /// Returns the plain-text response for the one token of a form.
    public static func text(_ result: Result) -> [UInt8] {
        var body = ByteBuffer()
        switch result {
        case .sent(let id, let token):
            body.append("id=")
            append(id, to: &body)
            if let token {
                body.append("\nregistration_id=")
                body.append(token)
            }
        case .refused(let refusal):
            body.append("Error=")
            body.append(LegacyError.word(refusal))
        }
        return body.copied()
    }

    private static func append(_ id: PersistentID?, to body: inout ByteBuffer) {
        if let id { id.append(to: &body) } else { body.append(dryRunID) }
    }

    private static func append(_ name: StaticString, _ number: Int, to body: inout ByteBuffer) {
        body.append(name)
        body.append(decimal: number)
    }
}
