import Delivery

/// An app server's side of XEP-0198: what it has sent and heard, and what it goes on with after a loss.
struct ManagedStream {
    /// Names it; nil until the server agrees.
    var id: String?
    /// Stanzas sent since it was asked for.
    private(set) var sent: UInt32 = 0
    /// Stanzas heard since the server agreed.
    var heard: UInt32 = 0
    /// Submissions that are not answered, with their numbers.
    private(set) var submitted: [(number: UInt32, draft: DownstreamDraft)] = []
    /// What was sent again on a connection before: a second answer to it may come on a later one.
    var again: Set<Int> = []
    /// The process of the server that it was made in.
    var process: Int
    /// Whether the server may have ended it.
    var mayBeGone = false

    /// A stanza goes out; `draft` where it is a submission.
    mutating func note(_ draft: DownstreamDraft?) {
        sent &+= 1
        if let draft { submitted.append((sent, draft)) }
    }

    /// A submission is answered.
    mutating func settle(_ number: Int) { submitted.removeAll { $0.draft.number == number } }

    /// The server has handled so many: the submissions behind those are due again.
    mutating func resume(handled: UInt32) -> [DownstreamDraft] {
        sent = handled
        let again = submitted.filter { $0.number > handled }.map(\.draft)
        submitted.removeAll { $0.number > handled }
        return again
    }
}
