import Basics

/// The devices in the memory of one partition: those that are busy, and the last of those that are not.
struct DeviceTable {
    private var table: IdentifierTable<DeviceEntry>
    private let idleLimit: Int
    private let passingLimit: Int
    private var idle = IdleDevices()
    /// Those that nothing but messages to topics has met: they go first, and few are kept.
    private var passing = IdleDevices()
    private var stamp: UInt64 = 0

    init(hash: SipHash, idleLimit: Int, passingLimit: Int) {
        table = IdentifierTable(hash: hash)
        self.idleLimit = idleLimit
        self.passingLimit = passingLimit
    }

    /// Devices in memory.
    var count: Int { table.count }

    /// A device in memory.
    subscript(_ device: DeviceID) -> DeviceEntry? { table[device.number] }

    /// All devices in memory, in the table's order.
    var all: [DeviceEntry] { table.all }

    /// Takes a device into memory. Returns whether it was not there.
    @discardableResult mutating func insert(_ entry: DeviceEntry) -> Bool {
        table.insert(entry, for: entry.device.number)
    }

    /// Lets go of a device. Returns `false`, and keeps it, if something of it is on its way to the store: a read would miss that.
    @discardableResult mutating func remove(_ entry: DeviceEntry) -> Bool {
        guard entry.batchesInFlight == 0, !entry.isTouched else { return false }
        wake(entry)
        entry.isForgotten = true
        table.remove(entry.device.number)
        return true
    }

    /// Something is about to happen to it. Returns `false` if more devices have been woken than were idle.
    @discardableResult mutating func wake(_ entry: DeviceEntry) -> Bool {
        guard entry.idleStamp != 0 else { return true }
        entry.idleStamp = 0
        if entry.isPassing { passing.count -= 1 } else { idle.count -= 1 }
        return passing.count >= 0 && idle.count >= 0
    }

    /// Notes that it is idle, if it is; forgets those that have been idle for longest where there are too many. Returns `false` if
    /// there are too many and none of them can be forgotten.
    @discardableResult mutating func rest(_ entry: DeviceEntry) -> Bool {
        // What several events waited for rests after each of them, and once more when all are handled.
        guard entry.idleStamp == 0, !entry.isForgotten, entry.isIdle else { return true }
        stamp += 1
        entry.idleStamp = stamp
        if entry.isPassing { passing.append(entry) } else { idle.append(entry) }
        while passing.count > passingLimit {
            guard forget(passing.takeOldest()) else { return false }
        }
        while passing.count + idle.count > idleLimit {
            guard forget(passing.takeOldest() ?? idle.takeOldest()) else { return false }
        }
        passing.compact(table)
        idle.compact(table)
        return true
    }

    /// Lets go of a device that was idle at that time, unless something has happened to it since; false: there is none, or it
    /// must stay.
    private mutating func forget(_ oldest: IdleDevices.Item?) -> Bool {
        guard let oldest else { return false }
        guard let entry = table[oldest.number], entry.idleStamp == oldest.stamp else { return true }
        return remove(entry)
    }
}

/// Devices in the order in which they became idle.
private struct IdleDevices {
    /// A device; void where its stamp is no longer the device's.
    struct Item {
        var number: UInt64
        var stamp: UInt64
    }

    private var items: [Item] = []
    private var head = 0
    /// Those that are still idle.
    var count = 0

    /// Takes in one that has just got its stamp.
    mutating func append(_ entry: DeviceEntry) {
        items.append(Item(number: entry.device.number, stamp: entry.idleStamp))
        count += 1
    }

    /// The first item, which may be void.
    mutating func takeOldest() -> Item? {
        guard head < items.count else { return nil }
        head += 1
        return items[head - 1]
    }

    /// Drops void items when they are most of the list, so that its length stays in proportion to the devices.
    mutating func compact(_ table: borrowing IdentifierTable<DeviceEntry>) {
        guard items.count > 4 * count + 1_024 else { return }
        var kept: [Item] = []
        kept.reserveCapacity(count)
        for item in items[head...] where table[item.number]?.idleStamp == item.stamp { kept.append(item) }
        items = kept
        head = 0
    }
}
