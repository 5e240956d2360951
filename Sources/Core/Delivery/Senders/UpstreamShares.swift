import Basics

/// The number of messages of each device in a sender's mailbox, counted since the sender is in memory.
///
/// A message counts until it is removed. The removal of a message that expired in the store does not name its device, so a
/// message also stops counting at its expiry.
struct UpstreamShares {
    /// The expiry times of each device's messages, earliest first.
    private var ends: [UInt64: [UnixMilliseconds]] = [:]
    /// The number of all these times, including some that are over.
    private var count = 0
    /// The count at which times that are over are removed for all devices.
    private var tidiesAt = 1_024

    /// Whether the count is not negative.
    var isSound: Bool { count >= 0 }

    /// Returns how many messages of a device count.
    mutating func places(of device: DeviceID, _ now: UnixMilliseconds) -> Int {
        dropEnded(of: device.number, now)
        return ends[device.number]?.count ?? 0
    }

    /// Counts a device's message until its expiry.
    mutating func add(_ device: DeviceID, endingAt end: UnixMilliseconds, _ now: UnixMilliseconds) {
        if count >= tidiesAt {
            for known in Array(ends.keys) { dropEnded(of: known, now) }
            tidiesAt = max(tidiesAt, 2 * count)
        }
        var list = ends.removeValue(forKey: device.number) ?? []
        var at = list.count
        while at > 0, list[at - 1] > end { at -= 1 }
        list.insert(end, at: at)
        ends[device.number] = list
        count += 1
    }

    /// Stops counting a device's message that was removed.
    mutating func remove(_ device: DeviceID, endingAt end: UnixMilliseconds) {
        guard var list = ends.removeValue(forKey: device.number) else { return }
        if let at = list.firstIndex(of: end) {
            list.remove(at: at)
            count -= 1
        }
        if !list.isEmpty { ends[device.number] = list }
    }

    private mutating func dropEnded(of device: UInt64, _ now: UnixMilliseconds) {
        guard let first = ends[device]?.first, first <= now, var list = ends.removeValue(forKey: device)
        else { return }
        let ended = list.firstIndex { $0 > now } ?? list.count
        list.removeFirst(ended)
        count -= ended
        if !list.isEmpty { ends[device] = list }
    }
}
