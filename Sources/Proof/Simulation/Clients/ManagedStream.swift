import ClientProtocol
import Delivery

/// What an app server remembers of a managed stream (XEP-0198) until it resumes it on another connection.
struct ManagedStream {
    /// How far the stream has come on the lost connection.
    var position: StreamPosition?
    /// Unanswered submissions, with their stanza numbers.
    private(set) var submitted: [(number: UInt32, draft: DownstreamDraft)] = []
    /// Submissions repeated on an earlier connection: a second answer may arrive on a later one.
    var again: Set<Int> = []
    /// The server process that created it.
    var process: Int
    /// Whether the server may have ended it.
    var mayBeGone = false

    /// Records a submission, which was the stanza of this number.
    mutating func recordSent(_ draft: DownstreamDraft, number: UInt32) { submitted.append((number, draft)) }

    /// Removes an answered submission.
    mutating func resolve(_ number: Int) { submitted.removeAll { $0.draft.number == number } }

    /// Handles a resumption: the server has handled this number of stanzas. Returns the submissions after those, which must be sent
    /// again.
    mutating func resume(handled: UInt32) -> [DownstreamDraft] {
        let again = submitted.filter { $0.number > handled }.map(\.draft)
        submitted.removeAll { $0.number > handled }
        return again
    }
}
