import Delivery

/// An app server's side of XEP-0198: the stanzas it has sent and received, and the state to resume.
struct ManagedStream {
    /// The stream ID; `nil` until the server has enabled the stream.
    var id: String?
    /// Stanzas sent since the request to enable it.
    private(set) var sent: UInt32 = 0
    /// Stanzas received since the server enabled it.
    var received: UInt32 = 0
    /// Unanswered submissions, with their stanza numbers.
    private(set) var submitted: [(number: UInt32, draft: DownstreamDraft)] = []
    /// Submissions repeated on an earlier connection: a second answer may arrive on a later one.
    var again: Set<Int> = []
    /// The server process that created it.
    var process: Int
    /// Whether the server may have ended it.
    var mayBeGone = false

    /// Counts a sent stanza; `draft` if it is a submission.
    mutating func recordSent(_ draft: DownstreamDraft?) {
        sent &+= 1
        if let draft { submitted.append((sent, draft)) }
    }

    /// Removes an answered submission.
    mutating func resolve(_ number: Int) { submitted.removeAll { $0.draft.number == number } }

    /// Sets the number of stanzas that the server has handled. Returns the submissions after those, which must be sent again.
    mutating func resume(handled: UInt32) -> [DownstreamDraft] {
        sent = handled
        let again = submitted.filter { $0.number > handled }.map(\.draft)
        submitted.removeAll { $0.number > handled }
        return again
    }
}
