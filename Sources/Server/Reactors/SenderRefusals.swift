import Basics

/// Refused messages and requests by sender, for `ccsctl senders stats`. Counting is off the path of accepted messages.
struct SenderRefusals {
    private var table: [UInt64: [Int]] = [:]

    /// Counts refusals. Those of a device, and those of a peer without a login, are not counted.
    mutating func add(_ row: TurnRefusals.Row) {
        guard row.interface != .device, let name = row.name else { return }
        guard table[name] != nil || table.count < Limits.Operator.countedSenders else { return }
        table[name, default: Array(repeating: 0, count: Metric.refusalReasons.count)][row.reason.position] +=
            row.count
    }

    /// Returns the counts of a sender in the order of `Metric.refusalReasons`; `nil` if there are none.
    func counts(of sender: SenderID) -> [Int]? { table[sender.number] }

    /// The counts of all senders.
    var all: [SenderID: [Int]] {
        Dictionary(uniqueKeysWithValues: table.map { (SenderID($0.key), $0.value) })
    }
}
