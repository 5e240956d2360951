import Basics

/// The devices in the memory of one partition: those that are busy, and the last of those that are not.
struct DeviceTable {
    private var table: IdentifierTable<DeviceEntry>
    private let idleLimit: Int
    /// Devices in the order in which they became idle; an item whose stamp is no longer the device's is void.
    private var idleQueue: [(number: UInt64, stamp: UInt64)] = []
    private var head = 0
    private var idleCount = 0
    private var stamp: UInt64 = 0

    init(hash: SipHash, idleLimit: Int) {
        table = IdentifierTable(hash: hash)
        self.idleLimit = idleLimit
    }

    /// Devices in memory.
    var count: Int { table.count }

    /// A device in memory.
    subscript(_ device: DeviceID) -> DeviceEntry? { table[device.number] }

    /// All devices in memory, in the table's order.
    var all: [DeviceEntry] { table.all }

    /// Takes a device into memory.
    mutating func insert(_ entry: DeviceEntry) { table.insert(entry, for: entry.device.number) }

    /// Lets go of a device; nothing of it may be on its way to the store.
    mutating func remove(_ entry: DeviceEntry) {
        assert(entry.batchesInFlight == 0 && !entry.isTouched, "a read would miss what is on its way")
        wake(entry)
        table.remove(entry.device.number)
    }

    /// Something is about to happen to it.
    mutating func wake(_ entry: DeviceEntry) {
        guard entry.idleStamp != 0 else { return }
        entry.idleStamp = 0
        idleCount -= 1
    }

    /// Notes that it is idle, if it is; forgets those that have been idle for longest where there are too many.
    mutating func rest(_ entry: DeviceEntry) {
        guard entry.idleStamp == 0, entry.isIdle else { return }
        stamp += 1
        entry.idleStamp = stamp
        idleCount += 1
        idleQueue.append((entry.device.number, stamp))
        while idleCount > idleLimit, head < idleQueue.count {
            let oldest = idleQueue[head]
            head += 1
            guard let entry = table[oldest.number], entry.idleStamp == oldest.stamp else { continue }
            remove(entry)
        }
        compact()
    }

    /// Drops void items when they are most of the queue, so that its length stays in proportion to the devices.
    private mutating func compact() {
        guard idleQueue.count > 4 * idleCount + 1_024 else { return }
        var kept: [(number: UInt64, stamp: UInt64)] = []
        kept.reserveCapacity(idleCount)
        for item in idleQueue[head...] where table[item.number]?.idleStamp == item.stamp { kept.append(item) }
        idleQueue = kept
        head = 0
    }
}
