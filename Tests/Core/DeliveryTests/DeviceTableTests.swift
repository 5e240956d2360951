import Basics
import Testing

@testable import Delivery

/// Eviction of devices from the memory of a partition.
@Suite struct DeviceTableTests {
    private static func table(idleLimit: Int) -> DeviceTable {
        DeviceTable(
            hash: SipHash(key: (1, 2)), idleLimit: idleLimit, transientLimit: Limits.Device.transientInMemory)
    }

    /// An idle device whose state is in memory.
    private static func entry(_ number: UInt64, isTransient: Bool) -> DeviceEntry {
        let entry = DeviceEntry(DeviceID(number), isTransient: isTransient)
        var turn = Turn(partition: 0, of: 1, salt: 0, settings: DeliverySettings())
        _ = entry.finishLoading(
            DeviceState(device: entry.device, record: nil, registrations: [], mailbox: []), &turn)
        return entry
    }

    @Test("An evicted device does not count as idle any more", arguments: [true, false])
    func forgotten(isTransient: Bool) {
        var table = Self.table(idleLimit: 0)
        for number in 1...3 as ClosedRange<UInt64> {
            let entry = Self.entry(number, isTransient: isTransient)
            table.insert(entry)
            // Called after each event that waited for the device, and once more when all are handled.
            table.markIfIdle(entry)
            table.markIfIdle(entry)
        }
        #expect(table.count == 0)
        for number in 4...9 as ClosedRange<UInt64> {
            let entry = Self.entry(number, isTransient: !isTransient)
            table.insert(entry)
            table.markIfIdle(entry)
        }
        #expect(table.count == 0)
    }

    @Test("Transient devices are evicted first, then the longest idle; busy devices stay")
    func order() {
        var table = Self.table(idleLimit: 2)
        let busy = Self.entry(1, isTransient: false)
        busy.waitingUpstream.count(RegistrationNumber(1), by: 1)
        let (old, young) = (Self.entry(2, isTransient: false), Self.entry(3, isTransient: false))
        let (transient, last) = (Self.entry(4, isTransient: true), Self.entry(5, isTransient: false))
        for entry in [busy, old, transient, young, last] {
            table.insert(entry)
            table.markIfIdle(entry)
        }
        #expect(table[DeviceID(4)] == nil && table[DeviceID(2)] == nil)
        #expect(table[DeviceID(1)] === busy && table[DeviceID(3)] === young && table[DeviceID(5)] === last)
        // Canary: a device used meanwhile becomes idle again later, and the other one is evicted.
        table.wake(young)
        table.markIfIdle(young)
        let next = Self.entry(6, isTransient: false)
        table.insert(next)
        table.markIfIdle(next)
        #expect(table[DeviceID(5)] == nil && table[DeviceID(3)] === young)
    }
}
