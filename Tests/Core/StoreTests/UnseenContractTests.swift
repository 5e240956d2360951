import Basics
import Delivery
import Store
import Testing

/// The search for unseen devices, for every store.
@Suite struct UnseenContractTests {
    @Test("A search finds each unseen device once, page by page", arguments: Kind.allCases)
    func unseenDevices(_ kind: Kind) throws {
        let opened = try open(kind, partitions: 1)
        let store = opened.store
        for (device, seenAt) in [(3, 10), (4, 30), (5, 19), (7, 20), (9, 0), (.max, 1)] as [(UInt64, Int64)] {
            try store.apply(
                .putDevice(Samples.device(device, seenAt: seenAt)),
                .putRegistration(Samples.registration(device, 2)))
        }
        try store.apply(.putRegistration(Samples.registration(6, 1)))
        for (examine, limit) in [(100, 100), (1, 9), (2, 9), (9, 1), (9, 2), (3, 2)] {
            var found: [UInt64] = []
            var from: DeviceID? = DeviceID(0)
            var pages = 0
            while let start = from, pages < 20 {
                let load = StoreQuery.unseen(
                    before: 20, unusedBefore: .min, from: start, examine: examine, limit: limit, partition: 0)
                guard case .unseen(let page, let next) = try store.load(load) else {
                    Issue.record("no answer to \(load)")
                    return
                }
                #expect(page.count <= min(limit, examine))
                found += page.map(\.number)
                from = next
                pages += 1
            }
            #expect(found == [3, 5, 9, .max], "\(examine) \(limit)")
            #expect(pages >= 6 / examine && pages <= 7)
        }
        try store.apply(.removeDevice(DeviceID(3)), .putDevice(Samples.device(5, seenAt: 40)))
        guard
            case .unseen(let left, nil) = try store.load(
                .unseen(before: 20, unusedBefore: .min, from: DeviceID(1), examine: 9, limit: 9, partition: 0)
            )
        else {
            Issue.record("the search did not end")
            return
        }
        #expect(left.map(\.number) == [9, .max])
        // Devices that were created before another time and never used are found as well.
        // A device that was created while the clock was in doubt counts from its last contact.
        let start = Limits.Clock.earliest
        for (device, madeAt, seenAt, next) in [
            (5, start + 10, start + 60, 1), (6, start + 50, start + 60, 1), (7, start + 10, start + 60, 2),
            (8, 0, start + 60, 1), (10, 0, start + 40, 1),
        ] as [(UInt64, Int64, Int64, UInt64)] {
            var record = Samples.device(device, seenAt: seenAt)
            record.createdAt = madeAt
            record.nextRegistration = next
            record.hasLoggedIn = false
            try store.apply(.putDevice(record))
        }
        let load = StoreQuery.unseen(
            before: .min, unusedBefore: start + 50, from: DeviceID(0), examine: 20, limit: 9, partition: 0)
        guard case .unseen(let unused, nil) = try store.load(load) else {
            Issue.record("the search did not end")
            return
        }
        #expect(unused.map(\.number) == [5, 10])
    }
}
