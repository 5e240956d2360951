import Basics

/// The last-seen times of devices that are not in the store, because the write failed or the device disconnected while its
/// state was being read. Without them such a device would expire too early.
///
/// A crash loses them, which is acceptable for a write that no peer waits for.
struct PendingLastSeen {
    /// Ascending by device.
    private var times: [(device: DeviceID, at: UnixMilliseconds)] = []
    /// The device that `next` returned last.
    private var last = DeviceID(.max)
    private let limit: Int

    /// Creates an empty collection for up to `limit` devices.
    init(limit: Int) { self.limit = limit }

    /// The number of devices.
    var count: Int { times.count }

    /// Records a contact of a device. Beyond the limit it is dropped, and the time in the store remains.
    mutating func record(_ device: DeviceID, at time: UnixMilliseconds) {
        let at = insertionIndex(of: device)
        if at < times.count, times[at].device == device {
            times[at].at = Self.later(times[at].at, time)
        } else if times.count < limit {
            times.insert((device, time), at: at)
        }
    }

    /// Returns the later of two contacts. A contact while the clock is in doubt counts as the latest: its period starts when the
    /// clock is accepted.
    static func later(_ a: UnixMilliseconds, _ b: UnixMilliseconds) -> UnixMilliseconds {
        min(a, b) == Limits.Clock.contactInDoubt ? Limits.Clock.contactInDoubt : max(a, b)
    }

    /// Removes and returns a device's last contact, milliseconds since 1970. Returns `nil` if the store is up to date.
    mutating func remove(_ device: DeviceID) -> UnixMilliseconds? {
        let at = insertionIndex(of: device)
        return at < times.count && times[at].device == device ? times.remove(at: at).at : nil
    }

    /// Returns up to `limit` devices in round-robin order.
    mutating func next(_ limit: Int) -> [DeviceID] {
        guard !times.isEmpty else { return [] }
        var at = insertionIndex(of: last)
        if at < times.count, times[at].device == last { at += 1 }
        let devices = (0..<min(limit, times.count)).map { times[(at + $0) % times.count].device }
        last = devices.last ?? last
        return devices
    }

    /// Returns the index at which a device is or would be inserted.
    private func insertionIndex(of device: DeviceID) -> Int {
        var low = 0
        var high = times.count
        while low < high {
            let middle = (low + high) / 2
            if times[middle].device < device { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
