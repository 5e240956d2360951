import Basics

/// When devices were last here, where the store may not know it: a write of that failed, or the device left while its state
/// could not be relied on. Without it such a device would expire too early.
///
/// A crash forgets them, like everything that nobody waited for.
struct UnwrittenContacts {
    /// By device.
    private var times: [(device: DeviceID, at: UnixMilliseconds)] = []
    /// The device that was looked at last.
    private var last = DeviceID(.max)
    private let limit: Int

    /// None, and up to `limit` of them.
    init(limit: Int) { self.limit = limit }

    /// How many there are.
    var count: Int { times.count }

    /// A device was here at a time; beyond the limit it is as if it had been here when the store saw it last.
    mutating func note(_ device: DeviceID, at time: UnixMilliseconds) {
        let at = place(of: device)
        if at < times.count, times[at].device == device {
            times[at].at = Self.later(times[at].at, time)
        } else if times.count < limit {
            times.insert((device, time), at: at)
        }
    }

    /// The later of two contacts; one in doubt may be later than any, and its time begins when the clock is believed.
    static func later(_ a: UnixMilliseconds, _ b: UnixMilliseconds) -> UnixMilliseconds {
        min(a, b) == Limits.Clock.contactInDoubt ? Limits.Clock.contactInDoubt : max(a, b)
    }

    /// Takes out when a device was here, milliseconds since 1970; nil: the store knows.
    mutating func take(_ device: DeviceID) -> UnixMilliseconds? {
        let at = place(of: device)
        return at < times.count && times[at].device == device ? times.remove(at: at).at : nil
    }

    /// So many devices, the next ones in turn.
    mutating func next(_ limit: Int) -> [DeviceID] {
        guard !times.isEmpty else { return [] }
        var at = place(of: last)
        if at < times.count, times[at].device == last { at += 1 }
        let devices = (0..<min(limit, times.count)).map { times[(at + $0) % times.count].device }
        last = devices.last ?? last
        return devices
    }

    /// Where a device is or would be.
    private func place(of device: DeviceID) -> Int {
        var low = 0
        var high = times.count
        while low < high {
            let middle = (low + high) / 2
            if times[middle].device < device { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
