import Basics
import Transport

/// The refusals of one turn of a reactor, grouped for the log.
struct TurnRefusals {
    /// Messages or requests refused for the same reason.
    struct Row {
        var interface: RefusalInterface
        var reason: RefusalReason
        /// The number of the sender or device; `nil` if the peer is not authenticated.
        var name: UInt64?
        /// The address of the first one.
        var peer: SocketAddress
        /// The recipient of the first one, truncated; empty if it is unknown.
        var to: [UInt8] = []
        /// The message ID of the first one, truncated.
        var messageID: [UInt8] = []
        /// The number of refusals.
        var count = 1

        init(_ kind: Link.Kind, _ reason: RefusalReason, name: UInt64?, peer: SocketAddress) {
            interface = kind.refusalInterface
            self.reason = reason
            self.name = name
            self.peer = peer
        }

        fileprivate func isLike(_ other: Row) -> Bool {
            interface == other.interface && reason.position == other.reason.position && name == other.name
                && (name != nil || peer == other.peer)
        }
    }

    private var rows: [Row] = []

    /// Adds a refusal. One equal to the last row is counted there; beyond the limit of rows all are.
    mutating func add(_ row: Row) {
        if let last = rows.indices.last, rows[last].isLike(row) || rows.count >= Limits.Log.refusalsPerTurn {
            rows[last].count += row.count
        } else {
            rows.append(row)
        }
    }

    /// Logs all rows and empties the list.
    mutating func flush(to log: Log) {
        guard !rows.isEmpty else { return }
        for row in rows { Self.write(row, to: log) }
        rows.removeAll(keepingCapacity: true)
    }

    private static func write(_ row: Row, to log: Log) {
        let name = row.name.map { String($0) } ?? ""
        log.repeating(
            .info, "refused",
            by:
                "\(row.interface) \(row.reason.word) \(name.isEmpty ? (row.peer.network ?? row.peer).host : name)",
            occurrences: row.count,
            every: row.reason == .tooManyUnauthenticated || row.reason == .registryFull
                ? Limits.Login.refusalLogSeconds : Limits.Log.repeatedEventSeconds,
            [
                "interface": LogValue(row.interface), "reason": .text(row.reason.word), "name": .text(name),
                "peer": .text("\(row.peer)"), "to": .text(String(decoding: row.to, as: UTF8.self)),
                "message_id": .text(String(decoding: row.messageID, as: UTF8.self)),
            ])
    }
}
