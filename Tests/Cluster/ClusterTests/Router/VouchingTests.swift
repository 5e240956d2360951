import Basics
import Cluster
import Delivery
import Testing

/// Requests that wait until what this node has of their senders is up to date.
@Suite("vouching for senders") struct VouchingTests {
    private let start = Instant(nanoseconds: 1_000_000_000)
    private let sender = SenderID(4)

    private func vouching() -> Vouching {
        var vouching = Vouching()
        let requester = Requester(
            connection: ConnectionID(reactor: 0, slot: 0, generation: 1), requestID: 1)
        let answer = vouching.keep(
            .forgetDevice(DeviceID(1), requester), of: sender, nil, isSession: false, now: start)
        let isKept = if case nil = answer { true } else { false }
        #expect(isKept)
        return vouching
    }

    private func words(_ outcomes: [Vouching.Outcome]) -> [String] {
        outcomes.map { if case .goesOn = $0 { "goes on" } else { "refused" } }
    }

    /// Whether a request waits although its sender is up to date.
    private func waits(_ vouching: Vouching, _ sender: SenderID) -> Bool {
        vouching.way(of: sender, nil, isSession: false, isCurrent: true) == .waits
    }

    @Test(
        "a session's message waits while its sender may have changed, and is refused once it is suspended or gone"
    )
    func sessions() {
        let none = Vouching()
        var record = SenderRecord(sender: sender, label: "", keys: [], createdAt: 0)
        for isSession in [false, true] {
            #expect(none.way(of: sender, record, isSession: isSession, isCurrent: true) == .passes)
            #expect(none.way(of: sender, record, isSession: isSession, isCurrent: false) == .waits)
        }
        // Behind earlier ones of its kind alone.
        #expect(vouching().way(of: sender, record, isSession: false, isCurrent: true) == .waits)
        #expect(vouching().way(of: sender, record, isSession: true, isCurrent: true) == .passes)
        record.isSuspended = true
        for isCurrent in [false, true] {
            #expect(none.way(of: sender, record, isSession: true, isCurrent: isCurrent) == .refused)
            #expect(none.way(of: sender, nil, isSession: true, isCurrent: isCurrent) == .refused)
        }
        // Its session answers it.
        #expect(none.way(of: sender, record, isSession: false, isCurrent: true) == .passes)
    }

    @Test("a request goes on once its sender is up to date and as it was")
    func goesOn() {
        var vouching = vouching()
        let early = vouching.review(now: start, isCurrent: { _ in false }, record: { _ in nil })
        #expect(early.isEmpty && !vouching.isEmpty)
        let current = vouching.review(now: start, isCurrent: { $0 == sender }, record: { _ in nil })
        #expect(words(current) == ["goes on"] && vouching.isEmpty)
    }

    @Test("requests wait behind earlier ones of their sender, and go on in their order")
    func inOrder() {
        var vouching = vouching()
        #expect(waits(vouching, sender) && !waits(vouching, SenderID(5)))
        for device in 2...3 as ClosedRange<UInt64> {
            let requester = Requester(
                connection: ConnectionID(reactor: 0, slot: 0, generation: 1), requestID: UInt32(device))
            _ = vouching.keep(
                .forgetDevice(DeviceID(device), requester), of: sender, nil, isSession: false, now: start)
        }
        // What is known changes during the review.
        var questions = 0
        func isCurrent(_ sender: SenderID) -> Bool {
            questions += 1
            return questions > 1
        }
        let early = vouching.review(now: start, isCurrent: isCurrent, record: { _ in nil })
        #expect(early.isEmpty && waits(vouching, sender))
        let devices = vouching.review(now: start, isCurrent: isCurrent, record: { _ in nil }).map {
            if case .goesOn(.device(let device, _)) = $0 { device.number } else { 0 as UInt64 }
        }
        #expect(devices == [1, 2, 3] && !waits(vouching, sender))
    }

    @Test("a request whose sender has changed is refused, and so is one whose time is over")
    func refused() {
        var changed = vouching()
        let record = SenderRecord(sender: sender, label: "", keys: [], createdAt: 0)
        let outcomes = changed.review(now: start, isCurrent: { _ in true }, record: { _ in record })
        #expect(words(outcomes) == ["refused"] && changed.isEmpty)
        var late = vouching()
        let limit = Limits.ClusterHost.heldMilliseconds
        let before = late.review(
            now: start.advanced(milliseconds: limit - 1), isCurrent: { _ in false }, record: { _ in nil })
        let after = late.review(
            now: start.advanced(milliseconds: limit), isCurrent: { _ in false }, record: { _ in nil })
        #expect(before.isEmpty && words(after) == ["refused"])
    }
}

/// Since when a node has all that is confirmed of a partition.
@Suite("knowledge without a gap") struct KnownSpanTests {
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    @Test("what was read before the node caught up is not covered, and neither is anything after the end")
    func covers() {
        var span = KnownSpan()
        #expect(!span.covers(from: at(0), to: at(0)))
        span.extend(until: at(100), now: at(10))
        #expect(!span.covers(from: at(9), to: at(10)) && span.covers(from: at(10), to: at(99)))
        #expect(!span.covers(from: at(10), to: at(100)))
    }

    @Test("canary: an extension in time keeps the beginning, and one after the end begins anew")
    func gap() {
        var span = KnownSpan()
        span.extend(until: at(100), now: at(10))
        span.extend(until: at(200), now: at(99))
        #expect(span.covers(from: at(10), to: at(150)))
        span.extend(until: at(300), now: at(200))
        #expect(span.since == at(200) && !span.covers(from: at(199), to: at(250)))
        // A time that is over at once is no knowledge.
        span.extend(until: at(210), now: at(220))
        span.extend(until: at(400), now: at(230))
        #expect(span.since == at(230))
    }

    @Test("a session may send for a while after the end, and never before the node had anything")
    func sessions() {
        var span = KnownSpan()
        #expect(!span.coversSessions(at(0)))
        span.extend(until: at(100), now: at(10))
        let end = 100 + Limits.ClusterHost.sessionMilliseconds
        #expect(span.coversSessions(at(end - 1)) && !span.coversSessions(at(end)))
    }
}
