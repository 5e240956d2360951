import Foundation
import Testing

/// The short form of `ccs-bench soak`, with the properties that hold on a machine of any speed.
@Suite("Soak", .serialized)
struct SoakTests {
    private func soak(_ more: [String], seconds: Int) throws -> (tool: Tool, samples: [[String: Any]]) {
        let scratch = try Scratch()
        let file = scratch.url.appending(path: "samples.json")
        let run = try Tool.run(
            "ccs-bench",
            ["soak", "--json", "--directory", scratch.url.path, "--seconds", "\(seconds)", "--rate", "50"]
                + ["--devices", "20", "--connections", "2", "--flapping", "50", "--samples", file.path] + more
        )
        let written = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        return (run, written?["samples"] as? [[String: Any]] ?? [])
    }

    @Test("no message is lost and no socket leaks while devices disconnect and reconnect")
    func soak() throws {
        let (run, samples) = try soak([], seconds: 12)
        // Latencies and their drift depend on the machine.
        let faults = try #require(run.object?["faults"] as? [String]).filter { !$0.contains(" drifts from ") }
        #expect(faults.isEmpty, "\(run)")
        #expect(run.object?["audit_holds"] as? Bool == true, "\(run)")
        for direction in ["downstream", "upstream"] {
            let books = try #require(run.object?[direction] as? [String: Int])
            #expect(books["accepted"] ?? 0 > 0 && books["lost"] == 0 && books["stored"] == 0, "\(run)")
        }
        #expect(samples.count >= 9)
        let logins = samples.compactMap { $0["logins"] as? Int }
        #expect(logins.first == 20 && logins.last ?? 0 > 20, "devices reconnect: \(logins)")
        #expect(samples.contains { ($0["devices"] as? Int ?? 20) < 20 }, "devices disconnect")
    }

    @Test(
        "Canary: the command fails when a fault is planted",
        arguments: ["loss", "leak", "drift", "sockets", "books"])
    func canary(plant: String) throws {
        let (run, _) = try soak(["--plant", plant], seconds: 2)
        #expect(run.code == 1, "\(run)")
        let words = ["loss": "lost", "leak": "memory grows", "drift": "drifts", "sockets": "sockets more"]
        let faults = try #require(run.object?["faults"] as? [String])
        #expect(faults.contains { $0.contains(words[plant] ?? "do not balance") }, "\(run)")
    }
}
