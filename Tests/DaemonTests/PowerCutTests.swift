import Foundation
import Testing

/// The real store after a power cut at any point, on a disk that also fails now and then (Scripts/bad-disk).
@Suite("Power cuts", .serialized, .enabled(if: DiskLibrary.canBeBuilt, "gcc is missing"))
struct PowerCutTests {
    /// Runs worlds from a seed; exit code and table.
    private func cut(_ count: Int, seed: UInt64, _ more: [String] = []) throws -> Tool {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let arguments = [
            "--cuts", "\(count)", "--per-round", "10", "--seed", "\(seed)", "--scratch", scratch.url.path,
            "--library", try DiskLibrary.path,
        ]
        // What is read after a cut need not be synced either: below the recording library it is not.
        let place = scratch.url.appendingPathComponent("cut").path
        return try Tool.run(
            "ccs-power-cut", arguments + more,
            environment: [
                "LD_PRELOAD": DiskLibrary.preload, "FAULTY_DISK_ROOT": place,
                "FAULTY_DISK_TRACE": "/dev/null",
            ])
    }

    /// What a run has reached, by kind; the lines behind `reached` end with their counts.
    private func reached(_ result: Tool) -> [String: Int] {
        let lines = result.output.split(separator: "\n").drop { $0 != "reached" }.dropFirst()
        let rows = lines.compactMap { line -> (String, Int)? in
            let words = line.split(separator: " ")
            return words.last.flatMap { Int($0) }.map { (words.dropLast().joined(separator: " "), $0) }
        }
        return Dictionary(rows) { $0 + $1 }
    }

    @Test(
        "nothing that was acknowledged is missing, nothing is there by halves, and every kind of cut is reached"
    )
    func fresh() throws {
        let seed = UInt64.random(in: 1...1 << 40)
        let result = try cut(60, seed: seed)
        #expect(result.code == 0, "seed \(seed): \(result)")
        #expect(result.output.contains("missing   none"), "seed \(seed): \(result)")
        let reached = reached(result)
        #expect(reached.count == 14, "\(result)")
        // Which way each cut goes is chance; sixty are enough for all but the rarest.
        #expect(reached.filter { $0.value == 0 && $0.key != "unanswered batch found" }.isEmpty, "\(result)")
    }

    @Test(
        "after each of many batches made one by one a cut that takes all that is not synced leaves what was acknowledged"
    )
    func sweep() throws {
        let result = try cut(1, seed: 8, ["--sweep", "150"])
        #expect(result.code == 0 && result.output.contains("missing   none"), "\(result)")
        let reached = reached(result)
        #expect(reached["journal file begun behind a lazy commit"] ?? 0 >= 2, "\(result)")
        #expect(reached["written commit that no sync covers"] ?? 0 >= 30, "\(result)")
    }

    @Test("worlds that once failed")
    func kept() throws {
        let file = Places.root.appendingPathComponent("Fixtures/disk/seeds.txt")
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
        "canary: an ACK before the commit, and a disk that lies about syncs, are found",
        arguments: ["early", "lying"])
    func canary(_ fault: String) throws {
        let result = try cut(400, seed: 1, ["--canary", fault])
        #expect(result.code == 1, "\(result)")
        // Where the disk lies about the journal, the store itself notices: its note, or a sorted file, is ahead of them.
        #expect(
            result.output.contains("was acknowledged and is missing")
                || fault == "lying"
                    && ["lost: ", "damaged: "].contains(where: result.output.contains),
            "\(result)")
    }
}
