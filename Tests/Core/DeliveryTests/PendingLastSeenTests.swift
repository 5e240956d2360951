import Basics
import Testing

@testable import Delivery

/// The list of contact times that are not yet written to the store.
@Suite struct PendingLastSeenTests {
    @Test("A device is listed once, with its latest time")
    func times() {
        var contacts = PendingLastSeen(limit: 9)
        contacts.record(DeviceID(5), at: 10)
        contacts.record(DeviceID(3), at: 20)
        contacts.record(DeviceID(5), at: 30)
        contacts.record(DeviceID(5), at: 7)
        #expect(contacts.count == 2)
        #expect(contacts.remove(DeviceID(4)) == nil && contacts.remove(DeviceID(6)) == nil)
        #expect(contacts.remove(DeviceID(5)) == 30 && contacts.remove(DeviceID(5)) == nil)
        #expect(contacts.count == 1 && contacts.remove(DeviceID(3)) == 20)
    }

    @Test("All devices are returned in turn when some leave meanwhile")
    func turns() {
        var contacts = PendingLastSeen(limit: 9)
        #expect(contacts.next(3).isEmpty)
        for number in [4, 1, 3, 2] as [UInt64] { contacts.record(DeviceID(number), at: 1) }
        #expect(contacts.next(3).map(\.number) == [1, 2, 3])
        #expect(contacts.remove(DeviceID(3)) == 1)
        #expect(contacts.next(3).map(\.number) == [4, 1, 2])
        #expect(contacts.next(9).map(\.number) == [4, 1, 2])
    }

    @Test("The list is bounded")
    func bounded() {
        var contacts = PendingLastSeen(limit: Limits.Device.pendingLastSeen)
        for number in 1...UInt64(Limits.Device.pendingLastSeen) { contacts.record(DeviceID(number), at: 1) }
        contacts.record(DeviceID(.max), at: 1)
        #expect(contacts.count == Limits.Device.pendingLastSeen && contacts.remove(DeviceID(.max)) == nil)
        contacts.record(DeviceID(7), at: 2)
        #expect(contacts.remove(DeviceID(7)) == 2, "a listed device gets its new time")
    }
}
