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
        let answer = vouching.keep(.forgetDevice(DeviceID(1), requester), of: sender, nil, now: start)
        let isKept = if case nil = answer { true } else { false }
        #expect(isKept)
        return vouching
    }

    private func words(_ outcomes: [Vouching.Outcome]) -> [String] {
        outcomes.map { if case .goesOn = $0 { "goes on" } else { "refused" } }
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
        #expect(vouching.isHolding(sender) && !vouching.isHolding(SenderID(5)))
        for device in 2...3 as ClosedRange<UInt64> {
            let requester = Requester(
                connection: ConnectionID(reactor: 0, slot: 0, generation: 1), requestID: UInt32(device))
            _ = vouching.keep(.forgetDevice(DeviceID(device), requester), of: sender, nil, now: start)
        }
        // What is known changes during the review.
        var questions = 0
        func isCurrent(_ sender: SenderID) -> Bool {
            questions += 1
            return questions > 1
        }
        let early = vouching.review(now: start, isCurrent: isCurrent, record: { _ in nil })
        #expect(early.isEmpty && vouching.isHolding(sender))
        let devices = vouching.review(now: start, isCurrent: isCurrent, record: { _ in nil }).map {
            if case .goesOn(.device(let device, _)) = $0 { device.number } else { 0 as UInt64 }
        }
        #expect(devices == [1, 2, 3] && !vouching.isHolding(sender))
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
