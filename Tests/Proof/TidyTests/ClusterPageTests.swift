import Basics
import Catalogue
import Testing

/// docs/cluster.md and the tables of the code say the same.
@Suite("The page on clusters") struct ClusterPageTests {
    private static func page() throws -> String { try #require(SourceTree.read("docs/cluster.md")) }

    /// Returns the words in code in the first cells of the tables of a section.
    private static func words(_ title: String) throws -> Set<String> {
        let page = try page()
        let start = try #require(page.firstRange(of: "\n## \(title)\n"))
        let section = String(page[start.upperBound...].split(separator: "\n## ").first ?? "")
        let cells = DocumentTests.firstCells(section).flatMap { $0.split(separator: ", ").map(String.init) }
        // Without the heads of the tables.
        return Set(cells).subtracting(["alarm", "event"])
    }

    /// The events of the cluster that the server logs.
    private static var logged: Set<String> {
        let files = SourceTree.product.filter { $0.path.hasPrefix("Sources/Daemon/Server/") }
        let names = files.flatMap { $0.text.matches(of: /"(cluster_[a-z_]+)"/).map { String($0.1) } }
        // Names of settings of the store.
        return Set(names).subtracting(["cluster_id", "cluster_roster"])
    }

    @Test("it explains every alarm, and no other")
    func alarms() throws {
        let rows = try Self.words("Watching it")
        #expect(rows == Set(ClusterAlarmCause.allCases.map(\.rawValue)))
    }

    @Test("it explains every event of a cluster that is logged, and no other")
    func events() throws {
        let rows = try Self.words("Events in the log")
        #expect(Self.logged.count > 20 && !Self.logged.contains("cluster_nonsense"), "canary")
        #expect(rows == Self.logged)
    }

    @Test("its figures are the limits of the code")
    func figures() throws {
        let page = try Self.page()
        let texts = [
            "silent for \(tenths(Limits.Cluster.suspicionMilliseconds)) s",
            "from a second on the node decides nothing",
            "wait \(Limits.ClusterHost.heldMilliseconds / 1_000) s, and fail as unavailable",
            "up to \(Limits.ClusterHost.logBytes >> 30) GiB for each partition",
            "more than 10,000 records", "there are more than \(Limits.Cluster.nodes) nodes",
            "differ by more than two seconds", "no owner for ten seconds", "(\(Limits.Partition.count), or",
            "503 from two seconds",
            "after \(tenths(Limits.ClusterHost.unconfirmedMilliseconds)) s; until then",
            "for five seconds", "been silent for ten seconds",
        ]
        expectNone(texts.filter { !page.contains($0) }.map { "it does not say: \($0)" })
        #expect(Limits.ClusterHost.recordsBehind == 10_000 && Limits.Cluster.clockMilliseconds == 2_000)
        #expect(Limits.Cluster.unownedMilliseconds == 10_000)
        #expect(Limits.ClusterHost.readyMilliseconds == 2_000)
        #expect(
            Limits.Cluster.clockPatienceMilliseconds == 5_000 && Limits.Cluster.silentMilliseconds == 10_000)
        // NATS calls a replica current for ten seconds after its last word: then it is an alarm within a minute.
        let seen = Int64(Limits.JetStream.silentLooks) * Limits.ClusterHost.examineMilliseconds
        #expect(10_000 + seen < 60_000)
        #expect(Int64(Limits.JetStream.behindLooks) * Limits.ClusterHost.examineMilliseconds < 60_000)
    }

    private func tenths(_ milliseconds: Int64) -> String {
        "\(milliseconds / 1_000).\(milliseconds % 1_000 / 100)"
    }

    @Test("every word of a cluster has a meaning in ccsctl explain")
    func explained() {
        let words =
            ClusterAlarmCause.allCases.map(\.rawValue) + MemberStatus.allCases.map(\.rawValue)
            + PartitionRole.allCases.map(\.rawValue) + Metric.UnreachedReason.allCases.map(\.rawValue)
        expectNone(words.filter { Glossary.meanings(of: $0).isEmpty }.map { "\($0) has no meaning" })
        #expect(Glossary.meanings(of: "nonsense_of_a_cluster").isEmpty, "canary")
    }
}
