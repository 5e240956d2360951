import Basics
import Transport

/// What was refused in one turn of a reactor, for the log: one call of it for many messages refused alike.
struct TurnRefusals {
    /// Messages or requests that were refused for one reason.
    struct Row {
        var interface: RefusalInterface
        var reason: RefusalReason
        /// The sender or device that asked; `nil` where nobody was recognized.
        var name: UInt64?
        /// Where the first of them came from.
        var peer: SocketAddress
        /// Where the first of them was addressed, cut; empty where that is not known.
        var to: [UInt8] = []
        /// The message ID of the first of them, cut.
        var messageID: [UInt8] = []
        /// How many they are.
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

    /// Adds a refusal; one like the last is counted with it, and beyond the limit all are.
    mutating func add(_ row: Row) {
        if let last = rows.indices.last, rows[last].isLike(row) || rows.count >= Limits.Log.refusalsPerTurn {
            rows[last].count += row.count
        } else {
            rows.append(row)
        }
    }

    /// Logs them, and begins anew.
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
            every: row.reason == .tooManyStrangers || row.reason == .registryFull
                ? Limits.Login.refusalLogSeconds : Limits.Log.repeatedEventSeconds,
            [
                "interface": LogValue(row.interface), "reason": .text(row.reason.word), "name": .text(name),
                "peer": .text("\(row.peer)"), "to": .text(String(decoding: row.to, as: UTF8.self)),
                "message_id": .text(String(decoding: row.messageID, as: UTF8.self)),
            ])
    }
}
