public import Basics

/// Writes the answers of the legacy interface: compact, without a final line end (http 1.2, 2.3, 2.6).
public enum LegacyReply {
    /// What became of the message to one recipient.
    public enum Result: Sendable, Equatable {
        /// Taken; nil: a dry run. The token that replaced the one it was sent to, if one did.
        case sent(PersistentID?, canonical: [UInt8]?)
        /// Refused.
        case refused(Refusal)
    }

    /// What a dry run is told in place of an id, as by the real service.
    private static let dryRunID: StaticString = "fake_message_id"

    /// The JSON answer for tokens; `multicastID` is positive.
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

    /// The JSON answer for a topic or condition: a number, which `dryRunID` is for a dry run (http 2.4).
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

    /// The plain-text answer for a topic.
    public static func topicText(_ result: Result, dryRunID: Int64) -> [UInt8] {
        guard case .sent(let id, _) = result else { return text(result) }
        var body = ByteBuffer()
        append("id=", number(id, dryRunID), to: &body)
        return body.copied()
    }

    /// Sequences are microseconds since 1970: they fit.
    private static func number(_ id: PersistentID?, _ dryRunID: Int64) -> Int {
        Int(clamping: id?.sequence.number ?? UInt64(dryRunID))
    }

    /// The plain-text answer for the one token of a form.
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
