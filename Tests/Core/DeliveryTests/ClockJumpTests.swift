import Basics
import Delivery
import Testing

/// A wall clock that jumps while the process runs, for a moment or for good.
extension ClockTests {
    /// A clock that is wrong for four seconds, in one direction or in both.
    static let jumps: [[Int64]] = [
        [day], [-day], [day, -day], [-day, day], [400 * day], [-40 * day], [-1_690_000_000_000],
    ]

    @Test(
        "A clock that is wrong for four seconds while running changes no expiry, no lifetime and no contact",
        arguments: jumps)
    func jumped(errors: [Int64]) {
        let bench = bench(partitions: 3)
        var error: Int64 = 0
        func jump(to next: Int64) {
            bench.now.wall += next - error
            error = next
        }
        for (number, next) in errors.enumerated() {
            jump(to: next)
            bench.post(
                .checkIn(
                    CheckIn(
                        requester: Requester(connection: web, requestID: 1), claimed: nil,
                        freshDevice: DeviceID(UInt64(900 + number)), freshToken: 1, freshDigest: token,
                        refusesWrongToken: true)))
            bench.submit(UInt32(10 + number), lifetime: 60)
            bench.submit(UInt32(20 + number), lifetime: 2)
            bench.settle()
            let right = bench.now.wall - error
            let stored = bench.store.messages[device] ?? []
            #expect(stored.suffix(2).map(\.expiresAt) == [right + 60_000, right + 2_000])
            let record = bench.store.records[DeviceID(UInt64(900 + number))]
            #expect(record?.createdAt == right && record?.seenAt == right)
            #expect(bench.partitions.allSatisfy { $0.core.sessionTime(bench.now).wall == right })
            tick(bench, times: 4)
            #expect(bench.down.expired == number + 1, "the message with a lifetime of 2 s, and no other")
            #expect(doubt(bench) != nil, "it is reported")
        }
        jump(to: 0)
        tick(bench, times: 1)
        #expect(bench.partitions.allSatisfy { $0.core.clockDoubt == nil })
        bench.submit(30, lifetime: 2)
        tick(bench, times: 4)
        #expect(bench.down.expired == errors.count + 1)
        #expect(delivered(bench).count == errors.count + 1, "m1, and those with a lifetime of 60 s")
        #expect(bench.expiredDevices == 0 && bench.store.holds)
    }

    @Test("A jump that lasts is followed after ten minutes, forward and back", arguments: [day, -day])
    func corrected(by: Int64) {
        let bench = bench()
        bench.now.wall += by
        tick(bench)
        guard doubt(bench) == .jumped(milliseconds: by) else {
            Issue.record("\(String(describing: doubt(bench)))")
            return
        }
        bench.advance(milliseconds: Int64(Limits.Clock.jumpConfirmedSeconds - 60) * 1_000)
        tick(bench)
        #expect(doubt(bench) != nil && bench.store.downPending == 1)
        bench.advance(milliseconds: 60_000)
        tick(bench)
        #expect(doubt(bench) == nil)
        #expect(bench.store.downPending == (by > 0 ? 0 : 1), "m1 had a lifetime of a day")
        bench.submit(2, lifetime: 60)
        bench.settle()
        #expect(bench.store.messages[device]?.last?.expiresAt == bench.now.wall + 60_000)
        #expect(bench.store.records[device] != nil)
    }

    @Test("A jump of more than days is followed after the grace period, and no device is forgotten before")
    func correctedByMonths() {
        let bench = bench()
        bench.now.wall += 400 * Self.day
        tick(bench)
        bench.advance(milliseconds: Int64(Limits.Clock.graceSeconds - 60) * 1_000)
        tick(bench)
        #expect(doubt(bench) != nil && bench.store.records[device] != nil)
        bench.advance(milliseconds: 60_000)
        tick(bench)
        #expect(doubt(bench) == nil && bench.store.records[device] != nil)
    }

    @Test("Steps of a time server, and a suspension of the machine, are no jumps")
    func steps() {
        let bench = bench()
        for step in [9_000, -9_000, 1_000, -1_000] as [Int64] {
            bench.now.wall += step
            tick(bench, times: 1)
            #expect(doubt(bench) == nil, "\(step)")
        }
        // The clock that includes suspensions has moved as far as the wall clock.
        bench.advance(milliseconds: 8 * 3_600_000)
        tick(bench)
        #expect(doubt(bench) == nil && bench.store.downPending == 1)
    }

    @Test("A device confirms a jump only if its clock contradicts the time before")
    func confirmedJump() {
        let bench = bench()
        bench.now.wall -= Self.day
        tick(bench)
        #expect(!confirms(bench, sentAt: bench.now.wall + Self.day), "it has the time before the jump")
        #expect(confirms(bench, sentAt: bench.now.wall))
        let near = self.bench()
        near.now.wall += 60_000
        tick(near)
        #expect(doubt(near) == .jumped(milliseconds: 60_000))
        #expect(!confirms(near, sentAt: near.now.wall), "it has both")
    }
}
