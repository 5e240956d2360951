import Basics
import Wire

/// The answers that one connection owes, in the order of their requests.
struct HTTPAnswers {
    /// What the answer will need that the core does not say.
    enum Question {
        /// A check-in; the security token that the device gave.
        case checkIn(given: UInt64?)
        /// A registration; whether the client knows only the oldest words for an error.
        case register(isChromium: Bool)
        /// An unregistration, and the body that says it is done.
        case unregister(done: [UInt8])
        /// A page of the daemon.
        case page
    }

    private struct Slot {
        var ticket: UInt32
        var isHead: Bool
        var closes: Bool
        var deadline: Instant
        var question: Question?
        var response: HTTPResponse?
    }

    private var slots: [Slot] = []

    /// Requests that wait for their answers, or whose answers wait for earlier ones.
    var count: Int { slots.count }
    /// When the oldest of them has waited too long.
    var deadline: Instant { slots.first?.deadline ?? .distantFuture }

    /// Adds a request that is answered at once.
    mutating func add(_ response: HTTPResponse, isHead: Bool, closes: Bool) {
        slots.append(
            Slot(
                ticket: 0, isHead: isHead, closes: closes, deadline: .distantFuture, question: nil,
                response: response))
    }

    /// Adds a request whose answer comes later.
    mutating func add(
        _ question: Question, ticket: UInt32, isHead: Bool, closes: Bool, deadline: Instant
    ) {
        slots.append(
            Slot(
                ticket: ticket, isHead: isHead, closes: closes, deadline: deadline, question: question,
                response: nil))
    }

    /// What was asked under a ticket; nil if it was answered or is none of ours.
    func question(of ticket: UInt32) -> Question? {
        slots.first { $0.ticket == ticket && $0.response == nil }?.question
    }

    /// Answers a request; a second answer, or one that came too late, is dropped.
    mutating func answer(_ ticket: UInt32, _ response: HTTPResponse) {
        guard
            let at = slots.firstIndex(where: {
                $0.ticket == ticket && $0.question != nil && $0.response == nil
            })
        else { return }
        slots[at].response = response
        slots[at].deadline = .distantFuture
    }

    /// Answers all that wait.
    mutating func answerAll(_ response: HTTPResponse) {
        for at in slots.indices where slots[at].response == nil { slots[at].response = response }
    }

    /// Writes what can be written without changing the order; returns whether the connection is to end after it.
    ///
    /// `isEnding` says that no request follows the last one here.
    mutating func flush(at now: UnixMilliseconds, isEnding: Bool, to out: inout Outbox) -> Bool {
        var written = 0
        var closes = false
        while written < slots.count, !closes, let response = slots[written].response {
            closes = slots[written].closes || isEnding && written == slots.count - 1
            response.append(at: now, closes: closes, isHead: slots[written].isHead, to: &out.bytes)
            out.endRecord()
            written += 1
        }
        slots.removeFirst(written)
        return closes
    }
}
