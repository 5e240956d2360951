import Foundation
import Testing

/// A registry of any size is imported, listed and exported in bounded memory, and no page of a list costs more than another.
///
/// `CCS_REGISTRY_DEVICES` sets the number of devices; the results are then printed (Scripts/registry).
@Suite("Large registry", .serialized)
struct RegistryScaleTests {
    private static let asked = ProcessInfo.processInfo.environment["CCS_REGISTRY_DEVICES"].flatMap { Int($0) }
    private static let devices = asked ?? 4_000
    /// The most memory of ccsd and of ccsctl: what ccsd needs for its caches and buffers, whatever the number of devices.
    private static let mostDaemonBytes = 768 << 20
    private static let mostToolBytes = 256 << 20

    /// How long a step took, and the most memory of the daemon in it.
    private struct Step {
        var seconds: Double
        var peak: Int
    }

    private func report(_ text: String) { if Self.asked != nil { print("registry: \(text)") } }

    /// Runs a step with a fresh peak of the daemon's memory.
    private func measure(_ daemon: RunningDaemon, _ name: String, _ step: () throws -> Void) throws -> Step {
        try "5".write(toFile: "/proc/\(daemon.pid)/clear_refs", atomically: false, encoding: .utf8)
        let start = Date()
        try step()
        let seconds = -start.timeIntervalSinceNow
        let status = try String(contentsOfFile: "/proc/\(daemon.pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        let peak = try #require(kibibytes) << 10
        report("\(name): \(Int(seconds * 1_000)) ms, ccsd up to \(peak >> 20) MiB")
        #expect(peak < Self.mostDaemonBytes, "\(name)")
        return Step(seconds: seconds, peak: peak)
    }

    /// Reads all pages of a list. Returns the devices in it, and the seconds of each page.
    private func list(
        _ daemon: RunningDaemon, limit: Int, _ conditions: [String] = []
    ) throws -> (numbers: [Int], seconds: [Double]) {
        var (numbers, seconds): ([Int], [Double]) = ([], [])
        var place: [String] = []
        repeat {
            let start = Date()
            let tool = try Tool.run(
                "ccsctl",
                ["--socket", daemon.controlSocket, "--json", "devices", "list", "--limit", "\(limit)"]
                    + conditions + place)
            seconds.append(-start.timeIntervalSinceNow)
            let rows = try #require(tool.object?["devices"] as? [[String: Any]], "\(tool.errors)")
            numbers += rows.compactMap { ($0["device"] as? String).flatMap { Int($0) } }
            place = (tool.object?["next_after"] as? String).map { ["--after", $0] } ?? []
        } while !place.isEmpty
        return (numbers, seconds)
    }

    /// Returns the medians of the first and the last third of the pages.
    private func ends(_ seconds: [Double]) -> (first: Double, last: Double) {
        let third = max(1, seconds.count / 3)
        func median(_ part: ArraySlice<Double>) -> Double { part.sorted()[part.count / 2] }
        return (median(seconds.prefix(third)), median(seconds.suffix(third)))
    }

    @Test(
        "an import, lists and an export of many devices take bounded memory, and late pages no longer than early ones"
    )
    func scale() throws {
        let (count, scratch) = (Self.devices, try Scratch())
        let daemon = try RunningDaemon()
        let tenth = count / 10
        var steps: [Step] = []
        for (name, numbers) in [("import of a tenth", 1...tenth), ("import of the rest", tenth + 1...count)] {
            let file = scratch.url.appendingPathComponent("\(numbers.lowerBound).jsonl")
            try RegistryExport(sender: "4711").write(numbers, to: file)
            steps.append(
                try measure(daemon, "\(name), \(numbers.count) devices with a registration each") {
                    let tool = try Tool.run(
                        "ccsctl", ["--socket", daemon.controlSocket, "--json", "import", file.path])
                    let added = tool.object?["added"] as? Int ?? 0
                    #expect(tool.code == 0 && added >= 2 * numbers.count, "\(tool)")
                })
            try FileManager.default.removeItem(at: file)
        }
        #expect(steps[1].peak - steps[0].peak < Self.mostDaemonBytes / 2, "not nine times as much")

        let limit = max(200, count / 200)
        var pages: [Double] = []
        _ = try measure(daemon, "list of all, \(limit) on a page") {
            let all = try list(daemon, limit: limit)
            #expect(
                all.numbers.count == count && all.numbers == Array(1...count), "each device once, in order")
            pages = all.seconds
        }
        var searched: [Double] = []
        _ = try measure(daemon, "search for an app that no device has") {
            let none = try list(daemon, limit: limit, ["--app", "com.example.none"])
            #expect(none.numbers == [])
            searched = none.seconds
        }
        for (name, seconds) in [("list", pages), ("search", searched)] {
            let (first, last) = ends(seconds)
            report(
                "\(name): \(seconds.count) pages; median of the first third \(Int(first * 1_000)) ms, of the last \(Int(last * 1_000)) ms"
            )
            // The pages of a short list are too few to compare.
            if Self.asked != nil, seconds.count > 10 { #expect(last < 1.5 * first + 0.01, "\(name)") }
        }

        let file = scratch.url.appendingPathComponent("export.jsonl")
        _ = try measure(daemon, "export") {
            let tool = try Tool.run(
                "ccsctl", ["--socket", daemon.controlSocket, "--json", "export", file.path])
            #expect(tool.code == 0, "\(tool)")
            // The secret, two senders.
            #expect(tool.object?["rows"] as? Int == 2 * count + 3)
        }
        let audit = try daemon.ctl("audit")
        #expect(audit["devices"] as? Int == count && audit["registrations"] as? Int == count)
        // The most of all programs that the tests have run: only that of ccsctl if they have run nothing else.
        guard Self.asked != nil else { return }
        var usage = rusage()
        getrusage(Int32(RUSAGE_CHILDREN.rawValue), &usage)
        report("ccsctl up to \(usage.ru_maxrss >> 10) MiB")
        #expect(usage.ru_maxrss << 10 < Self.mostToolBytes)
    }
}
