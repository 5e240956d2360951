import Basics

/// Which devices have the places of a sender's mailbox: those of messages put since the sender is in memory.
///
/// A place is free again when its message leaves. One that expired in the store leaves without a word on whose it was; its
/// place is free by itself at the same time.
struct UpstreamShares {
    /// When the messages of a device end, earliest first.
    private var ends: [UInt64: [UnixMilliseconds]] = [:]
    /// How many those are, with some whose time is over.
    private var count = 0
    /// At how many of them those that are over are looked for everywhere.
    private var tidiesAt = 1_024

    /// Whether no more places were given back than were taken.
    var isSound: Bool { count >= 0 }

    /// How many places a device has.
    mutating func places(of device: DeviceID, _ now: UnixMilliseconds) -> Int {
        dropEnded(of: device.number, now)
        return ends[device.number]?.count ?? 0
    }

    /// A device's message that ends then takes a place.
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

    /// It has left.
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
