import Basics

/// The place of a device in the table, which alone changes it.
struct Residence {
    enum State: Equatable {
        case used
        /// It may be evicted; `stamp` is its number in the sequence of all such changes.
        case idle(stamp: UInt64)
        /// The next event of the device makes a new entry.
        case evicted
    }

    fileprivate(set) var state = State.used
    /// Whether it is in memory only for topic messages; changes only while it is not idle.
    fileprivate(set) var isTransient: Bool
}

/// The devices in the memory of one partition: those in use, and the most recently used idle ones.
struct DeviceTable {
    private var table: IdentifierTable<DeviceEntry>
    private let idleLimit: Int
    private let transientLimit: Int
    private var idle = IdleDevices()
    /// Idle devices that were loaded only for topic messages: they are evicted first, and few are kept.
    private var transient = IdleDevices()
    private var stamp: UInt64 = 0

    init(hash: SipHash, idleLimit: Int, transientLimit: Int) {
        table = IdentifierTable(hash: hash)
        self.idleLimit = idleLimit
        self.transientLimit = transientLimit
    }

    /// The number of devices in memory.
    var count: Int { table.count }

    /// Returns a device in memory, or `nil` if it is not there.
    subscript(_ device: DeviceID) -> DeviceEntry? { table[device.number] }

    /// All devices in memory, in the table's order.
    var all: [DeviceEntry] { table.all }

    /// Adds a device. Returns whether it was absent.
    @discardableResult mutating func insert(_ entry: DeviceEntry) -> Bool {
        table.insert(entry, for: entry.device.number)
    }

    /// Evicts a device. Returns `false`, and keeps it, if it has uncommitted changes, which a read would miss.
    @discardableResult mutating func remove(_ entry: DeviceEntry) -> Bool {
        guard entry.batches.isEmpty else { return false }
        wake(entry)
        entry.residence.state = .evicted
        table.remove(entry.device.number)
        return true
    }

    /// Removes a device from the idle ones. Returns `false` if the count of idle devices has become negative.
    @discardableResult mutating func wake(_ entry: DeviceEntry) -> Bool {
        guard case .idle = entry.residence.state else { return true }
        entry.residence.state = .used
        if entry.residence.isTransient { transient.count -= 1 } else { idle.count -= 1 }
        return transient.count >= 0 && idle.count >= 0
    }

    /// Keeps a device that is not idle for more than topic messages.
    func keep(_ entry: DeviceEntry) { entry.residence.isTransient = false }

    /// Marks a device idle if it is, and evicts the longest idle devices if there are too many. Returns `false` if there are too
    /// many and none can be evicted.
    @discardableResult mutating func markIfIdle(_ entry: DeviceEntry) -> Bool {
        // A device that several events waited for gets here after each event, and once more when all are handled.
        guard entry.residence.state == .used, entry.isIdle else { return true }
        stamp += 1
        entry.residence.state = .idle(stamp: stamp)
        if entry.residence.isTransient { transient.append(entry, stamp) } else { idle.append(entry, stamp) }
        while transient.count > transientLimit {
            guard evict(transient.popOldest()) else { return false }
        }
        while transient.count + idle.count > idleLimit {
            guard evict(transient.popOldest() ?? idle.popOldest()) else { return false }
        }
        transient.compact(table)
        idle.compact(table)
        return true
    }

    /// Evicts a device unless it has been used since it became idle. Returns `false` if there is no device or it cannot be evicted.
    private mutating func evict(_ oldest: IdleDevices.Item?) -> Bool {
        guard let oldest else { return false }
        guard let entry = oldest.idle(in: table) else { return true }
        return remove(entry)
    }
}

/// Devices in the order in which they became idle.
private struct IdleDevices {
    /// A device; stale if its stamp differs from the device's.
    struct Item {
        var number: UInt64
        var stamp: UInt64

        /// Returns the device if it has been idle since.
        func idle(in table: borrowing IdentifierTable<DeviceEntry>) -> DeviceEntry? {
            guard let entry = table[number], entry.residence.state == .idle(stamp: stamp) else { return nil }
            return entry
        }
    }

    private var items: [Item] = []
    private var head = 0
    /// The number of devices that are still idle.
    var count = 0

    /// Adds a device that has just become idle.
    mutating func append(_ entry: DeviceEntry, _ stamp: UInt64) {
        items.append(Item(number: entry.device.number, stamp: stamp))
        count += 1
    }

    /// Removes and returns the first item, which may be stale.
    mutating func popOldest() -> Item? {
        guard head < items.count else { return nil }
        head += 1
        return items[head - 1]
    }

    /// Removes stale items when they are most of the list, so that its length stays proportional to the number of devices.
    mutating func compact(_ table: borrowing IdentifierTable<DeviceEntry>) {
        guard items.count > 4 * count + 1_024 else { return }
        var kept: [Item] = []
        kept.reserveCapacity(count)
        for item in items[head...] where item.idle(in: table) != nil { kept.append(item) }
        items = kept
        head = 0
    }
}
