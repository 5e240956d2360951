import Foundation

/// What the load costs without faults.
struct ClusterCost {
    /// Acknowledged messages per second.
    var rate: Double
    /// Microseconds of all ccsd processes together per acknowledged message.
    var microseconds: Double
}

/// The figures of a run, which Scripts/cluster prints.
struct ClusterResults {
    var world: ClusterWorld
    var pauses: [ClusterPauses]
    var faults: [ClusterFault]
    var single: ClusterCost
    var cluster: ClusterCost

    private static func columns(_ words: [String]) -> String {
        words.map { String(repeating: " ", count: max(1, 14 - $0.count)) + $0 }.joined()
    }

    private static func row(_ name: String, _ words: [String]) {
        print("cluster: " + name.padding(toLength: 20, withPad: " ", startingAt: 0) + columns(words))
    }

    /// The values that these percentages of all do not exceed, or "-" for each if there are none.
    private static func shares(_ percents: [Int], of values: [Int64]) -> [String] {
        let sorted = values.sorted()
        return percents.map { percent in
            sorted.isEmpty ? "-" : "\(sorted[(sorted.count * percent + 99) / 100 - 1])"
        }
    }

    /// Prints the figures.
    func show() {
        Self.row("\(pauses.count) faults", ["acknowledged", "lost", "twice", "refused"])
        for (name, record) in [
            ("downstream", world.downstream), ("upstream", world.upstream), ("topic", world.topics),
        ] {
            Self.row(
                name,
                [
                    record.acknowledged.count, record.lost.count, record.twice,
                    record.refusals.values.reduce(0, +),
                ].map { "\($0)" })
        }
        Self.row("changes of members", ["acknowledged", "arrivals"])
        Self.row(
            "topic and groups",
            [world.members.reduce(0) { $0 + $1.changes }, world.memberArrivals].map { "\($0)" })
        print("cluster: false answers, messages to removed members, wrong order: \(world.wrongs.count)")
        for wrong in world.wrongs.prefix(20) { print("cluster: \(wrong)") }
        Self.row(
            "longest wait, ms",
            [
                "faults", "down p50", "max", "up p50", "max", "others", "p50", "p99", "max", "dependent",
                "p50", "max", "return p50", "max",
            ])
        for fault in faults {
            let own = pauses.filter { $0.fault == fault }
            guard !own.isEmpty else { continue }
            let (elsewhere, dependent) = (own.flatMap(\.elsewhere), own.compactMap(\.dependent))
            Self.row(
                fault.rawValue,
                ["\(own.count)"] + Self.shares([50, 100], of: own.map(\.downstream))
                    + Self.shares([50, 100], of: own.map(\.upstream))
                    + ["\(elsewhere.count)"] + Self.shares([50, 99, 100], of: elsewhere)
                    + ["\(dependent.count)"] + Self.shares([50, 100], of: dependent)
                    + Self.shares([50, 100], of: own.map(\.whenBack)))
        }
        for (name, cost) in [("one daemon", single), ("the cluster", cluster)] {
            print(
                "cluster: \(name) with this load: \(String(format: "%.0f", cost.rate)) messages a second, \(String(format: "%.0f", cost.microseconds)) us of ccsd each"
            )
        }
        print("cluster: ended connections and the like: \(world.oddities.sorted { $0.key < $1.key })")
    }
}
