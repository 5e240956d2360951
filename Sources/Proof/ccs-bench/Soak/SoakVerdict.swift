import Basics
import Wire

/// All observations of a soak, for the verdict.
struct SoakRecord: Equatable {
    /// One direction, at the end.
    struct Side: Equatable {
        var counts = SoakSample.Counts()
        var refused = 0
        /// Messages sent that were neither accepted nor refused.
        var unanswered = 0
        /// Messages that the daemon's own audit counts as accepted, delivered and still stored.
        var audited = 0
        var auditedDelivered = 0
        var auditedPending = 0
    }

    /// Target rate in messages a second in each direction.
    var rate = 0
    var samples: [SoakSample] = []
    var down = Side()
    var up = Side()
    /// The daemon's sockets before and after, with the same peers connected.
    var socketsBefore = 0
    var socketsAfter = 0
    /// Whether the conservation law holds in the daemon's audit.
    var auditHolds = false
    /// Connections that ended unexpectedly, and other failures, as text.
    var ended: [String] = []
}

/// The verdict of a soak.
struct SoakVerdict {
    let record: SoakRecord
    /// KiB of resident memory per hour, least squares over the samples after the warm-up.
    let memorySlope: Double

    /// The share of the time that is warm-up.
    static let warmUpShare = 1.0 / 6
    /// Seconds of warm-up after which the store's cache and memtables are full: until then memory grows, by at most their size.
    static let fillSeconds = 300.0
    /// KiB by which memory may grow in an hour: at 5,000 messages a second each way that is less than one byte for each. A
    /// shorter run may grow by the same amount: memory that the allocator keeps is not a leak.
    static let growthKiB = 32_768.0
    /// Factor by which a latency may be larger at the end than at the start,
    static let driftFactor = 2.0
    /// plus this many microseconds: smaller differences come from other work of the machine.
    static let driftMicroseconds = 5_000.0
    /// Seconds of messages that may wait for room at the end: beyond it the rate was not reached.
    static let lateSeconds = 2

    init(_ record: SoakRecord) {
        self.record = record
        let samples = Self.steady(record.samples)
        memorySlope = Self.slope(samples.map { ($0.seconds / 3_600, Double($0.residentKiB)) })
    }

    /// Returns the KiB by which memory may grow in an hour, as extrapolated from a run of `seconds`.
    static func slopeLimit(seconds: Double) -> Double {
        let isFull = seconds * warmUpShare >= fillSeconds
        let store = Double(Limits.Store.cacheBytes + Limits.Store.writeBuffersBytes) / 1_024
        return (growthKiB + (isFull ? 0 : store)) / max(0.000_1, min(1, seconds / 3_600))
    }

    /// Returns the samples after the warm-up.
    static func steady(_ samples: [SoakSample]) -> [SoakSample] {
        let end = samples.last?.seconds ?? 0
        return samples.filter { $0.seconds >= end * warmUpShare }
    }

    /// Returns the slope of the least-squares line through points; 0 for fewer than two.
    static func slope(_ points: [(x: Double, y: Double)]) -> Double {
        let count = Double(points.count)
        guard count > 1 else { return 0 }
        let x = points.reduce(0) { $0 + $1.x } / count
        let y = points.reduce(0) { $0 + $1.y } / count
        let square = points.reduce(0) { $0 + ($1.x - x) * ($1.x - x) }
        guard square > 0 else { return 0 }
        return points.reduce(0) { $0 + ($1.x - x) * ($1.y - y) } / square
    }

    /// Returns a figure in the first and in the last third after the warm-up: the lower quartile of the samples, since other
    /// work of the machine is temporary and a drift is not.
    func drift(_ figure: (SoakSample) -> Double) -> (first: Double, last: Double) {
        let values = Self.steady(record.samples).map(figure)
        let third = values.count / 3
        return (Self.quartile(Array(values.prefix(third))), Self.quartile(Array(values.suffix(third))))
    }

    private static func quartile(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 4]
    }

    /// All faults; empty if all figures were stable.
    var faults: [String] {
        var found = record.ended.map { "ended: \($0)" }
        if record.samples.count < 3 { found.append("too few samples for a verdict") }
        found += faults(of: record.down, "downstream") + faults(of: record.up, "upstream")
        if !record.auditHolds { found.append("the daemon's books do not balance") }
        if record.socketsAfter > record.socketsBefore {
            found.append("\(record.socketsAfter - record.socketsBefore) sockets more than at the start")
        }
        let limit = Self.slopeLimit(seconds: record.samples.last?.seconds ?? 0)
        if memorySlope > limit {
            found.append(
                "memory grows by \(Figure.whole(memorySlope)) KiB an hour; \(Figure.whole(limit)) is the limit"
            )
        }
        for (name, figure) in Self.latencies {
            let (first, last) = drift(figure)
            if last > first * Self.driftFactor + Self.driftMicroseconds {
                found.append("\(name) drifts from \(Figure.duration(first)) to \(Figure.duration(last))")
            }
        }
        return found
    }

    private func faults(of side: SoakRecord.Side, _ name: String) -> [String] {
        var found: [String] = []
        let counts = side.counts
        if counts.accepted == 0 { found.append("no message was accepted \(name)") }
        let lost = counts.accepted - counts.delivered
        if lost > 0 { found.append("\(lost) acknowledged messages lost \(name)") }
        if side.refused > 0 { found.append("\(side.refused) messages refused \(name)") }
        if side.unanswered > 0 { found.append("\(side.unanswered) messages not acknowledged \(name)") }
        if side.audited != counts.accepted || side.auditedDelivered != counts.delivered {
            found.append(
                "the daemon's audit shows \(side.audited) accepted and \(side.auditedDelivered) delivered \(name), the peers' \(counts.accepted) and \(counts.delivered)"
            )
        }
        if side.auditedPending > 0 {
            found.append("\(side.auditedPending) messages still stored \(name)")
        }
        if let late = record.samples.last.map({ name == "upstream" ? $0.up.late : $0.down.late }),
            late > record.rate * Self.lateSeconds
        {
            found.append("the rate was not reached: \(late) messages were due and not sent \(name)")
        }
        return found
    }

    /// The latencies that are checked for drift.
    private static let latencies: [(name: String, figure: @Sendable (SoakSample) -> Double)] = [
        ("downstream p50", { $0.downTimes.p50 }), ("downstream p99", { $0.downTimes.p99 }),
        ("upstream p50", { $0.upTimes.p50 }), ("upstream p99", { $0.upTimes.p99 }),
    ]

    // MARK: For people and programs

    /// The text for people.
    var text: String {
        let first = Self.steady(record.samples).first ?? SoakSample()
        let last = record.samples.last ?? SoakSample()
        let drifts = Self.latencies.map { name, figure in
            let (begin, end) = drift(figure)
            return "\(Figure.pad(name, 14)) \(Figure.duration(begin)), then \(Figure.duration(end))"
        }
        let loads = Self.steady(record.samples).map(\.serverLoad)
        return """
                        accepted   delivered  lost  twice
            downstream  \(Self.row(record.down.counts))
            upstream    \(Self.row(record.up.counts))
            memory: \(Figure.whole(memorySlope)) KiB an hour (\(Figure.whole(first.residentKiB)) KiB after the warm-up, \(Figure.whole(last.residentKiB)) KiB at the end)
            latency from due to arrival, first third, then last third of the time:
              \(drifts.joined(separator: "\n  "))
            sockets: \(record.socketsBefore) before, \(record.socketsAfter) after; descriptors \(first.descriptors) after the warm-up, \(last.descriptors) at the end
            \(Figure.whole(last.logins)) logins; store \(Figure.whole(Double(last.storeBytes) / 1e6)) MB at the end; server \(Figure.whole(Figure.median(loads) * 100)) % of a processor
            the conservation law \(record.auditHolds ? "holds" : "is broken"), \(record.down.auditedPending + record.up.auditedPending) messages left in the store
            """
    }

    private static func row(_ counts: SoakSample.Counts) -> String {
        [
            (counts.accepted, 11), (counts.delivered, 11), (counts.accepted - counts.delivered, 5),
            (counts.repeated, 6),
        ].map { Figure.padLeft(Figure.whole($0.0), $0.1) }.joined(separator: " ")
    }

    var json: JSONValue {
        let drifts = Self.latencies.map { name, figure in
            let (first, last) = drift(figure)
            return JSONValue.Member(
                name, .object([.init("first_us", .number(first)), .init("last_us", .number(last))]))
        }
        return .object([
            .init("rate", .integer(record.rate)),
            .init("seconds", .number(record.samples.last?.seconds ?? 0)),
            .init("memory_kib_per_hour", .number(memorySlope)), .init("latency", .object(drifts)),
            .init("sockets_before", .integer(record.socketsBefore)),
            .init("sockets_after", .integer(record.socketsAfter)),
            .init("downstream", Self.json(record.down)), .init("upstream", Self.json(record.up)),
            .init("audit_holds", .boolean(record.auditHolds)),
            .init("faults", .array(faults.map { .string($0) })),
        ])
    }

    private static func json(_ side: SoakRecord.Side) -> JSONValue {
        .object([
            .init("accepted", .integer(side.counts.accepted)),
            .init("delivered", .integer(side.counts.delivered)),
            .init("lost", .integer(side.counts.accepted - side.counts.delivered)),
            .init("twice", .integer(side.counts.repeated)), .init("refused", .integer(side.refused)),
            .init("stored", .integer(side.auditedPending)),
        ])
    }
}

/// A fault planted into the observations, which must make the command fail.
enum SoakPlant: String, CaseIterable {
    /// An acknowledged message that was never delivered.
    case loss
    /// Memory that grows with the messages.
    case leak
    /// Latencies that grow.
    case drift
    /// A socket that is never closed.
    case sockets
    /// Books that do not balance.
    case books

    /// Plants the fault into a record.
    func spoil(_ record: inout SoakRecord) {
        let seconds = record.samples.last?.seconds ?? 0
        // On a slow machine too: far more than any observed latency.
        let drift = 1e6 + 20 * (record.samples.map(\.downTimes.p50).max() ?? 0)
        let leak = 2 * SoakVerdict.slopeLimit(seconds: seconds) * seconds / 3_600
        for at in record.samples.indices {
            let share = Double(at) / Double(max(1, record.samples.count - 1))
            switch self {
            case .leak: record.samples[at].residentKiB += Int(share * leak)
            case .drift: record.samples[at].downTimes.p50 += share * drift
            case .loss, .sockets, .books: break
            }
        }
        switch self {
        case .loss:
            record.down.counts.delivered -= 1
            record.down.auditedDelivered -= 1
        case .sockets: record.socketsAfter = record.socketsBefore + 1
        case .books: record.auditHolds = false
        case .leak, .drift: break
        }
    }
}
