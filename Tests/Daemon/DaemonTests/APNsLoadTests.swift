import Foundation
import Testing

/// The short form of `ccs-bench apns`, with the properties that hold on any machine.
@Suite("Load through Apple", .serialized)
struct APNsLoadTests {
    private func run(_ more: [String]) throws -> Tool {
        let scratch = try Scratch()
        let run = try Tool.run(
            "ccs-bench",
            [
                "apns", "--json", "--directory", scratch.url.path, "--seconds", "1", "--rounds", "1",
                "--devices", "8",
            ] + more)
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.url.path)
        #expect(left.isEmpty || run.code != 0, "\(left)")
        return run
    }

    @Test(
        "apns reports both loads, with at most one request in flight for each device token",
        arguments: [[], ["--durable", "--latency", "5"]])
    func loads(_ more: [String]) throws {
        let run = try run(more)
        #expect(run.code == 0, "\(run)")
        let result = try #require(run.object)
        let rounds = try #require(result["rounds"] as? [[String: Any]])
        #expect(rounds.compactMap { $0["name"] as? String } == ["now", "apns"])
        for round in rounds {
            #expect(round["delivered"] as? Int ?? 0 > 0, "\(round)")
            #expect(round["refused"] as? Int == 0, "\(round)")
            #expect(round["server_cpu_us_per_message"] as? Double ?? 0 > 0, "\(round)")
        }
        let medians = try #require(result["medians"] as? [String: [String: Double]])
        #expect(medians["apns"]?["cpu_ratio"] ?? 0 > 0, "\(result)")
        #expect(result["connections_most"] as? Int ?? 0 >= 1, "\(result)")
        #expect((1...8).contains(result["in_flight_most"] as? Int ?? 0), "\(result)")
        for key in ["resident_kib_start", "resident_kib_first_round", "resident_kib_end"] {
            #expect(result[key] as? Int ?? 0 > 0, "\(key) of \(result)")
        }
    }

    @Test("Canary: apns fails if the daemon cannot be started")
    func absent() throws {
        let run = try run(["--ccsd", "/bin/false"])
        #expect(run.code != 0 && run.object == nil, "\(run)")
    }
}
