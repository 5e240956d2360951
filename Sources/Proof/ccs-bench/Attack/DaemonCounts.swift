import Basics

/// The counters of a ccsd, as its administrative port reports them.
struct DaemonCounts: Equatable {
    /// Values by metric, then by the values of its labels.
    private var values: [Metric: [[String]: Int]] = [:]

    private static let byName = Dictionary(uniqueKeysWithValues: Metric.allCases.map { ($0.name, $0) })

    /// Parses the Prometheus text format; lines of other metrics are ignored.
    init(_ text: String = "") {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ")
            guard parts.count >= 2, let last = parts.last, let value = Int(last) else { continue }
            let sample = parts.dropLast().joined(separator: " ")
            let name = String(sample.prefix { $0 != "{" })
            guard let metric = Self.byName[name] else { continue }
            // Every second part between quotation marks is the value of a label.
            let labels = sample.split(separator: "\"", omittingEmptySubsequences: false)
                .enumerated().filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
            values[metric, default: [:]][labels] = value
        }
    }

    /// Returns the sum of a metric over all samples that have each of `labels` as the value of a label.
    func count(_ metric: Metric, _ labels: String...) -> Int {
        values[metric, default: [:]].reduce(0) { sum, sample in
            labels.allSatisfy(sample.key.contains) ? sum + sample.value : sum
        }
    }

    /// Returns the increase of each counter since `old` was read.
    func since(_ old: DaemonCounts) -> DaemonCounts {
        var change = self
        for (metric, samples) in old.values {
            change.values[metric, default: [:]].merge(samples.mapValues { -$0 }, uniquingKeysWith: +)
        }
        return change
    }

    /// Listeners for public connections.
    private static let listeners = ["app_server", "device", "https"]

    /// Connections accepted by the public listeners.
    var accepted: Int { Self.listeners.reduce(0) { $0 + count(.connectionsAccepted, $1) } }

    /// Connections refused by the public listeners, for any reason.
    var refused: Int { Self.listeners.reduce(0) { $0 + count(.connectionsRefused, $1) } }

    /// Returns the fate of `begun` connections: close reasons, refusals, and how many were never accepted.
    func words(begun: Int) -> [(word: String, count: Int)] {
        let ended = CloseReason.allCases.map { ($0.rawValue, count(.connectionsClosed, $0.rawValue)) }
        let refusedAtAccept = ConnectionRefusal.allCases.map {
            ($0.rawValue, count(.connectionsRefused, $0.rawValue))
        }
        let waited = begun - accepted - refused
        return
            (ended.sorted { $0.0 < $1.0 } + refusedAtAccept.sorted { $0.0 < $1.0 } + [
                ("never accepted", waited)
            ])
            .filter { $0.1 > 0 }.map { ($0.0, $0.1) }
    }
}
