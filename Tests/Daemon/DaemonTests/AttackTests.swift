import Foundation
import Testing

/// The short form of `ccs-bench attack`, with the properties that hold on a machine of any speed.
@Suite("Attacks", .serialized)
struct AttackTests {
    private static let attacks = [
        "none", "login-flood", "large-stanzas", "entity-bombs", "compression", "never-reading", "slow-bodies",
        "h2-resets", "h2-bodies", "mcs-lengths", "mcs-logins", "mcs-acks", "mcs-messages", "reload-storm",
        "renegotiation",
        "no-descriptors",
    ]

    /// Whether the programs are built with a sanitizer (Scripts/test).
    private static let isSanitized = ProcessInfo.processInfo.environment["CCS_SANITIZER"] != nil

    private func attack(
        _ names: [String], seconds: Int = 1, scale: Int = 10, _ more: [String] = []
    ) throws -> Tool {
        let scratch = try Scratch()
        return try Tool.run(
            "ccs-bench",
            ["attack", "--json", "--directory", scratch.url.path, "--seconds", "\(seconds)"]
                + ["--scale", "\(scale)", "--rate", "50", "--devices", "4"]
                + names.flatMap { ["--only", $0] } + more)
    }

    @Test(
        "The daemon serves legitimate peers during an attack, and afterwards accepts new ones and releases memory"
    )
    func attacks() throws {
        let run = try attack(Self.attacks)
        let faults = try #require(run.object?["faults"] as? [String], "\(run)")
        // A sanitizer keeps freed memory to detect its use after free.
        let grave = faults.filter { !Self.isSanitized || !$0.contains("of memory were not returned") }
        #expect(grave.isEmpty && run.code == (faults.isEmpty ? 0 : 1), "\(run)")
        let rows = try #require(run.object?["attacks"] as? [[String: Any]])
        #expect(rows.compactMap { $0["attack"] as? String }.sorted() == Self.attacks.sorted())
        for row in rows {
            let good = try #require(row["good"] as? [String: Any])
            #expect(good["acknowledged"] as? Int == good["delivered"] as? Int, "\(row)")
            #expect(good["acknowledged"] as? Int ?? 0 > 0, "\(row)")
            try expectReached(row)
        }
    }

    /// Checks that each attack reached the states that it is meant to reach, at least as often as its minimum.
    private func expectReached(_ row: [String: Any]) throws {
        let reached = try #require(row["reached"] as? [[String: Any]])
        #expect(reached.isEmpty == (row["attack"] as? String == "none"), "\(row)")
        for kind in reached {
            let count = try #require(kind["count"] as? Int)
            let floor = try #require(kind["floor"] as? Int)
            #expect(floor >= 1 && count >= floor, "\(row["attack"] ?? ""): \(kind)")
        }
    }

    @Test(
        "Unauthenticated requests share one memory bound over all connections; long ones end when it is exceeded"
    )
    func unauthenticatedRequests() throws {
        let run = try attack(["held-bodies"], seconds: 2, scale: 100)
        #expect(run.code == 0, "\(run)")
        let row = try #require((run.object?["attacks"] as? [[String: Any]])?.first)
        let memory = try #require(row["resident_kib"] as? [String: Int])
        #expect((row["bytes"] as? Int ?? 0) > 80_000_000, "\(row)")
        // 64 MiB, the spare capacity of growing vectors, and the TLS state of 200 connections.
        #expect((memory["peak"] ?? .max) - (memory["before"] ?? 0) < 150_000, "\(row)")
        #expect(((row["actions"] as? [String: Int])?["flood"] ?? 0) > 0, "\(row)")
    }

    @Test("The daemon returns memory to the system when dozens of large connections have closed")
    func memory() throws {
        // The bound for unauthenticated peers; malloc would keep it as fragments unless trimmed.
        let run = try attack(["h2-bodies"], seconds: 2, scale: 150)
        #expect(run.code == 0, "\(run)")
        let row = try #require((run.object?["attacks"] as? [[String: Any]])?.last)
        let memory = try #require(row["resident_kib"] as? [String: Int])
        let held = (memory["peak"] ?? 0) - (memory["before"] ?? 0)
        #expect(held > 40_000, "too little memory was in use to prove anything: \(row)")
    }

    @Test(
        "Canary: the command fails and prints the path of its folder when a fault is planted",
        arguments: ["loss", "memory", "silence"])
    func canary(plant: String) throws {
        let run = try attack(["none"], ["--plant", plant])
        #expect(run.code == 1, "\(run)")
        #expect(run.errors.contains("kept in "), "\(run)")
        #expect((run.object?["faults"] as? [Any])?.count == 1, "\(run)")
    }
}
