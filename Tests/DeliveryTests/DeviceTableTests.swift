import Basics
import Testing

@testable import Delivery

/// Eviction of devices from the memory of a partition.
@Suite struct DeviceTableTests {
    private static func table(idleLimit: Int) -> DeviceTable {
        DeviceTable(
            hash: SipHash(key: (1, 2)), idleLimit: idleLimit, passingLimit: Limits.Device.visitingInMemory)
    }

    /// An idle device whose state is in memory.
    private static func entry(_ number: UInt64, isPassing: Bool) -> DeviceEntry {
        let entry = DeviceEntry(DeviceID(number))
        var turn = Turn(partition: 0, of: 1, salt: 0, settings: DeliverySettings())
        _ = entry.finishLoading(
            DeviceState(device: entry.device, record: nil, registrations: [], mailbox: []), &turn)
        entry.isPassing = isPassing
        return entry
    }

    @Test("An evicted device does not count as idle any more", arguments: [true, false])
    func forgotten(isPassing: Bool) {
        var table = Self.table(idleLimit: 0)
        for number in 1...3 as ClosedRange<UInt64> {
            let entry = Self.entry(number, isPassing: isPassing)
            table.insert(entry)
            // Called after each event that waited for the device, and once more when all are handled.
            table.rest(entry)
            table.rest(entry)
        }
        #expect(table.count == 0)
        for number in 4...9 as ClosedRange<UInt64> {
            let entry = Self.entry(number, isPassing: !isPassing)
            table.insert(entry)
            table.rest(entry)
        }
        #expect(table.count == 0)
    }

    @Test("Transient devices are evicted first, then the longest idle; busy devices stay")
    func order() {
        var table = Self.table(idleLimit: 2)
        let busy = Self.entry(1, isPassing: false)
        busy.isPageAsked = true
        let (old, young) = (Self.entry(2, isPassing: false), Self.entry(3, isPassing: false))
        let (passing, last) = (Self.entry(4, isPassing: true), Self.entry(5, isPassing: false))
        for entry in [busy, old, passing, young, last] {
            table.insert(entry)
            table.rest(entry)
        }
        #expect(table[DeviceID(4)] == nil && table[DeviceID(2)] == nil)
        #expect(table[DeviceID(1)] === busy && table[DeviceID(3)] === young && table[DeviceID(5)] === last)
        // Canary: a device used meanwhile becomes idle again later, and the other one is evicted.
        table.wake(young)
        table.rest(young)
        let next = Self.entry(6, isPassing: false)
        table.insert(next)
        table.rest(next)
        #expect(table[DeviceID(5)] == nil && table[DeviceID(3)] === young)
    }
}
