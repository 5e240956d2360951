import Basics
import Catalogue
import Wire

extension Bench {
    /// Measures whether cost stays flat as the number of devices and stored messages grows.
    func flat() throws(BenchError) {
        let run = try FlatRun(
            self, registered: invocation.integer("--registered") ?? 1_000_000,
            messages: invocation.integer("--messages") ?? 10)
        let pairs = try run.measure(rounds: invocation.integer("--rounds") ?? 3)
        for (few, many) in pairs where !invocation.has("--json") {
            for median in [few, many] { Terminal.print(median.line(against: few) + "\n") }
        }
        let starts = try run.restart()
        printResult(
            starts.map(\.line).joined(separator: "\n"),
            .object([
                .init("registered", .integer(run.registered)), .init("stored", .integer(run.stored)),
                .init("loads", .array(pairs.map(loads))),
                .init("starts", .array(starts.map(\.json))),
            ]))
    }

    private func loads(_ pair: (few: Medians, many: Medians)) -> JSONValue {
        .object([
            .init(pair.few.name, pair.few.json(against: pair.few)),
            .init(pair.many.name, pair.many.json(against: pair.few)),
        ])
    }
}

/// One start of the server with all its stored data.
struct FlatStart {
    /// How the previous process had ended.
    let name: String
    /// From the start of the program until its control socket answered, to about 20 ms.
    let readyMilliseconds: Int64
    /// From the start of the program until a device was logged in.
    let servedMilliseconds: Int64
    /// Resident memory of the server at that time, in KiB.
    let residentKiB: Int

    /// The text for people.
    var line: String {
        "\(Figure.pad(name, 11)) started in \(Figure.whole(Int(readyMilliseconds))) ms, a device logged in after \(Figure.whole(Int(servedMilliseconds))) ms, \(Figure.whole(residentKiB)) KiB resident"
    }

    var json: JSONValue {
        .object([
            .init("after", .string(name)), .init("ready_ms", .integer(Int(readyMilliseconds))),
            .init("served_ms", .integer(Int(servedMilliseconds))),
            .init("resident_kib", .integer(residentKiB)),
        ])
    }
}
