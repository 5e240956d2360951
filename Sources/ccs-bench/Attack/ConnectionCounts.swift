import Basics
import Wire

/// What ccsd has counted of connections, as `ccsctl status` tells it.
struct ConnectionCounts: Equatable {
    /// Connections that had a machine of their own.
    var accepted = 0
    /// Of these, those that have ended, by why.
    var closed: [String: Int] = [:]
    /// Those that were closed as soon as they were accepted, by why.
    var refused: [String: Int] = [:]

    /// None.
    init(accepted: Int = 0, closed: [String: Int] = [:], refused: [String: Int] = [:]) {
        self.accepted = accepted
        self.closed = closed
        self.refused = refused
    }

    /// Reads them out of the member `connections`.
    init(_ told: JSONValue?) {
        accepted = told?["accepted"]?.integer ?? 0
        closed = Self.counts(told?["closed"])
        refused = Self.counts(told?["refused"])
    }

    private static func counts(_ value: JSONValue?) -> [String: Int] {
        var counts: [String: Int] = [:]
        for member in value?.members ?? [] { counts[member.key] = member.value.integer }
        return counts
    }

    /// What has become of `begun` connections since `old` was asked for: why they ended, why they were refused, and how many
    /// never were accepted.
    func words(since old: ConnectionCounts, begun: Int) -> [(word: String, count: Int)] {
        // The question for `old` was a connection itself.
        var ended = Self.change(from: old.closed, to: closed)
        ended[CloseReason.peerClosed.rawValue, default: 0] -= 1
        let turnedAway = Self.change(from: old.refused, to: refused)
        let waited = begun - (accepted - old.accepted - 1) - turnedAway.values.reduce(0, +)
        return Self.sorted(ended) + Self.sorted(turnedAway) + (waited > 0 ? [("never accepted", waited)] : [])
    }

    private static func change(from old: [String: Int], to new: [String: Int]) -> [String: Int] {
        new.merging(old.mapValues { -$0 }, uniquingKeysWith: +)
    }

    private static func sorted(_ counts: [String: Int]) -> [(word: String, count: Int)] {
        counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
