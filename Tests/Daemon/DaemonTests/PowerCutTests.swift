import Foundation
import Testing

/// The real store after power cuts at arbitrary points, on a disk that also fails at times (Scripts/bad-disk).
@Suite("Power cuts", .serialized, .enabled(if: DiskLibrary.canBeBuilt, "gcc is missing"))
struct PowerCutTests {
    /// Runs a number of worlds from a seed and returns the exit code and the printed table.
    private func cut(_ count: Int, seed: UInt64, _ more: [String] = []) throws -> Tool {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let arguments = [
            "--cuts", "\(count)", "--per-round", "10", "--seed", "\(seed)", "--scratch", scratch.url.path,
            "--library", try DiskLibrary.path,
        ]
        // The stores that are read after a cut need no real syncs.
        let place = scratch.url.appendingPathComponent("cut").path
        return try Tool.run(
            "ccs-power-cut", arguments + more,
            environment: [
                "LD_PRELOAD": DiskLibrary.preload, "FAULTY_DISK_ROOT": place,
                "FAULTY_DISK_TRACE": "/dev/null",
            ])
    }

    /// Returns how often a run reached each event, from the lines after `reached`.
    private func reached(_ result: Tool) -> [String: Int] {
        let lines = result.output.split(separator: "\n").drop { $0 != "reached" }.dropFirst()
        let rows = lines.compactMap { line -> (String, Int)? in
            let words = line.split(separator: " ")
            return words.last.flatMap { Int($0) }.map { (words.dropLast().joined(separator: " "), $0) }
        }
        return Dictionary(rows) { $0 + $1 }
    }

    @Test(
        "every acknowledged batch is present and every batch is atomic after a power cut of any kind"
    )
    func fresh() throws {
        let seed = UInt64.random(in: 1...1 << 40)
        let result = try cut(60, seed: seed)
        #expect(result.code == 0, "seed \(seed): \(result)")
        #expect(result.output.contains("missing   none"), "seed \(seed): \(result)")
        let reached = reached(result)
        #expect(reached.count == 14, "\(result)")
        // The kind of each cut is random; sixty cuts reach all but the rarest event.
        #expect(reached.filter { $0.value == 0 && $0.key != "unanswered batch present" }.isEmpty, "\(result)")
    }

    @Test(
        "every acknowledged batch is present when a power cut after any batch removes all unsynced data"
    )
    func sweep() throws {
        let result = try cut(1, seed: 8, ["--sweep", "150"])
        #expect(result.code == 0 && result.output.contains("missing   none"), "\(result)")
        let reached = reached(result)
        #expect(reached["journal file started after a lazy commit"] ?? 0 >= 2, "\(result)")
        #expect(reached["written commit that no sync covers"] ?? 0 >= 30, "\(result)")
    }

    @Test("seeds that failed in the past pass")
    func kept() throws {
        let file = TestPaths.root.appendingPathComponent("Fixtures/disk/seeds.txt")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter {
            !$0.hasPrefix("#")
        }
        #expect(!lines.isEmpty)
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            let seed = try #require(words.first.flatMap { UInt64($0) })
            let result = try cut(20, seed: seed, words.count > 1 ? ["--fault", words[1]] : [])
            #expect(result.code == 0, "\(line): \(result)")
        }
    }

    @Test(
        "canary: a run fails when ACKs precede commits or the disk ignores syncs",
        arguments: ["early", "lying"])
    func canary(_ fault: String) throws {
        let result = try cut(400, seed: 1, ["--canary", fault])
        #expect(result.code == 1, "\(result)")
        // If the disk ignores syncs, the store may detect the loss itself: its record of synced positions is ahead of the journal.
        #expect(
            result.output.contains("was acknowledged and is missing")
                || fault == "lying"
                    && ["lost: ", "damaged: "].contains(where: result.output.contains),
            "\(result)")
    }
}
