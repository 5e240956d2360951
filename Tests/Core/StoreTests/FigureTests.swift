import Basics
import Delivery
import Store
import Testing

/// The figures of a store for the metrics, for every store.
@Suite struct FigureTests {
    @Test("waiting messages are those that were put and not removed", arguments: Kind.allCases)
    func waiting(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        #expect(try store.figures().waitingDownstream == 0)
        for sequence in 1...3 as ClosedRange<UInt64> {
            try store.apply(
                .putMessage(Samples.message(5, sequence)),
                .putUpstream(Samples.upstream(8, sequence, persistentID: "p\(sequence)"), now: Samples.now))
        }
        let message = Samples.message(5, 1)
        try store.apply(
            .removeMessage(
                message.device, message.sequence, expiresAt: message.expiresAt, reason: .delivered))
        let figures = try store.figures()
        #expect(figures.waitingDownstream == 2 && figures.waitingUpstream == 3)
        guard kind != .memory else { return }
        #expect(figures.journalBytes > 0 && figures.bytes > figures.journalBytes)
    }

    @Test("a count in parts finds every device and registration once", arguments: Kind.allCases)
    func census(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        #expect(try store.census(after: nil, examine: 1) == RegistryCensus())
        let devices = 40
        for number in 1...UInt64(devices) {
            try store.apply(.putDevice(Samples.device(number)))
            for registration in 0..<number % 3 {
                try store.apply(.putRegistration(Samples.registration(number, registration + 1)))
            }
        }
        try store.apply(.putSubscription(Samples.subscription(5, 1)))
        let registrations = (1...devices).reduce(0) { $0 + $1 % 3 }
        if kind == .memory {
            #expect(try store.census(after: DeviceID(5), examine: 1).devices == devices - 5)
        }
        for examine in [1, 7, 1_000] {
            var (sum, after, parts) = (RegistryCensus(), DeviceID?.none, 0)
            repeat {
                let part = try store.census(after: after, examine: examine)
                sum.devices += part.devices
                sum.registrations += part.registrations
                after = part.next
                parts += 1
            } while after != nil && parts < 200
            #expect(sum.devices == devices && sum.registrations == registrations, "\(examine)")
            #expect(kind == .memory || (parts == 1) == (examine == 1_000))
        }
    }

    @Test("each durable commit on the disk is one sync with a time", arguments: Kind.allCases)
    func syncs(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let before = store.syncTimes
        for sequence in 1...4 as ClosedRange<UInt64> {
            try store.apply(.putMessage(Samples.message(5, sequence)))
        }
        let after = store.syncTimes
        guard kind != .memory else { return #expect(after == SyncTimes()) }
        // A change to the next file of the journal syncs the last one as well.
        #expect(after.count - before.count >= 4)
        #expect(after.nanoseconds > before.nanoseconds)
    }
}
