public import Basics

/// Identifies a timer of one wheel; never equal to a later timer in the same entry.
public struct TimerID: Hashable, Sendable {
    var index: UInt32
    var generation: UInt32
}

/// A hierarchical timer wheel: six levels of 64 slots, 1 ms per slot on the lowest; setting and cancelling take constant time.
///
/// A timer fires at the first advance at or after its instant, rounded up to a millisecond. Each timer moves down at most five
/// times, so the wheel can compute its next advance without visiting its timers.
public struct TimerWheel<Payload> {
    private struct Entry {
        var tick: Int64 = 0
        var next: UInt32 = TimerWheel.none
        var previous: UInt32 = TimerWheel.none
        var generation: UInt32 = 0
        var slot: UInt16 = TimerWheel.unlinked
        var payload: Payload?
    }

    private static var none: UInt32 { .max }
    private static var unlinked: UInt16 { .max }
    private static var levels: Int { 6 }
    /// Ticks that all levels span: two years; later timers are linked again then.
    private static var span: Int64 { 63 << 30 }

    private var entries: [Entry] = []
    private var free = TimerWheel.none
    private var heads = [UInt32](repeating: .max, count: 64 * 6)
    private var occupied = [UInt64](repeating: 0, count: 6)
    private var elapsed: Int64
    /// Number of timers.
    public private(set) var count = 0

    /// Creates a wheel that starts at an instant.
    public init(start: Instant) { elapsed = start.nanoseconds / 1_000_000 }

    /// Adds a timer; one in the past fires at the next advance.
    public mutating func insert(at instant: Instant, _ payload: Payload) -> TimerID {
        let index: UInt32
        if free != Self.none {
            index = free
            free = entries[Int(index)].next
        } else {
            index = UInt32(entries.count)
            entries.append(Entry())
        }
        entries[Int(index)].payload = payload
        entries[Int(index)].tick = Self.tick(of: instant)
        link(index)
        count += 1
        return TimerID(index: index, generation: entries[Int(index)].generation)
    }

    /// Cancels a timer. Returns `nil` if it has fired or was cancelled already.
    @discardableResult
    public mutating func remove(_ id: TimerID) -> Payload? {
        guard Int(id.index) < entries.count, entries[Int(id.index)].generation == id.generation,
            entries[Int(id.index)].slot != Self.unlinked
        else { return nil }
        unlink(id.index)
        return retire(id.index)
    }

    /// Advances the wheel to an instant and appends the timers that are due, ordered by millisecond.
    public mutating func advance(to now: Instant, due: inout [Payload]) {
        let target = now.nanoseconds / 1_000_000
        while let (level, slot, tick) = nextSlot(), tick <= target {
            elapsed = max(elapsed, tick)
            let place = level * 64 + slot
            var index = heads[place]
            heads[place] = Self.none
            occupied[level] &= ~(1 << UInt64(slot))
            while index != Self.none {
                let next = entries[Int(index)].next
                if entries[Int(index)].tick <= elapsed {
                    entries[Int(index)].slot = Self.unlinked
                    if let payload = retire(index) { due.append(payload) }
                } else {
                    link(index)
                }
                index = next
            }
        }
        elapsed = max(elapsed, target)
    }

    /// When `advance` must be called next: never later than the first timer; `nil` if there is no timer.
    public var nextAdvance: Instant? {
        guard let (_, _, tick) = nextSlot() else { return nil }
        return Instant(
            nanoseconds: max(tick, elapsed).multipliedReportingOverflow(by: 1_000_000).partialValue)
    }

    private static func tick(of instant: Instant) -> Int64 {
        guard instant.nanoseconds < .max - 1_000_000 else { return .max / 1_000_000 }
        return (max(0, instant.nanoseconds) + 999_999) / 1_000_000
    }

    /// Returns the lowest non-empty level, its first slot from now on, and the tick at which that slot starts.
    private func nextSlot() -> (level: Int, slot: Int, tick: Int64)? {
        for level in 0..<Self.levels where occupied[level] != 0 {
            let shift = Int64(level * 6)
            let current = Int((elapsed >> shift) & 63)
            let turned =
                occupied[level] >> UInt64(current)
                | (current == 0 ? 0 : occupied[level] << UInt64(64 - current))
            let ahead = turned.trailingZeroBitCount
            let begin = ((elapsed >> shift) + Int64(ahead)) << shift
            return (level, (current + ahead) & 63, begin)
        }
        return nil
    }

    private mutating func link(_ index: UInt32) {
        // A timer that is due goes into the current slot, which the next advance checks first.
        let tick = min(max(entries[Int(index)].tick, elapsed), elapsed + Self.span - 1)
        let difference = UInt64(elapsed ^ tick) | 1
        var level = (63 - difference.leadingZeroBitCount) / 6
        if level >= Self.levels { level = Self.levels - 1 }
        let slot = Int((tick >> Int64(level * 6)) & 63)
        let place = level * 64 + slot
        let head = heads[place]
        entries[Int(index)].next = head
        entries[Int(index)].previous = Self.none
        entries[Int(index)].slot = UInt16(place)
        if head != Self.none { entries[Int(head)].previous = index }
        heads[place] = index
        occupied[level] |= 1 << UInt64(slot)
    }

    private mutating func unlink(_ index: UInt32) {
        let entry = entries[Int(index)]
        if entry.next != Self.none { entries[Int(entry.next)].previous = entry.previous }
        if entry.previous != Self.none {
            entries[Int(entry.previous)].next = entry.next
        } else {
            heads[Int(entry.slot)] = entry.next
            if entry.next == Self.none {
                occupied[Int(entry.slot) / 64] &= ~(1 << UInt64(entry.slot % 64))
            }
        }
        entries[Int(index)].slot = Self.unlinked
    }

    private mutating func retire(_ index: UInt32) -> Payload? {
        let payload = entries[Int(index)].payload
        entries[Int(index)].payload = nil
        entries[Int(index)].generation &+= 1
        entries[Int(index)].next = free
        free = index
        count -= 1
        return payload
    }
}
