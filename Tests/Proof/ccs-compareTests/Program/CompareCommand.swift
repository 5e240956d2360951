import Basics
import Catalogue
import Wire

extension Bench {
    /// Compares the relay, ccsd and other servers.
    func comparison() throws(BenchError) {
        let (chosen, absent) = try contestants()
        for host in absent {
            Terminal.error(
                "\(host.rawValue) is not installed and skipped; Scripts/bootstrap --peers installs it\n")
        }
        guard !chosen.isEmpty else { throw BenchError("nothing is left to compare") }
        writesBatches = invocation.has("--batches")
        let crowd = invocation.integer("--idle") ?? 1_000
        let rounds = invocation.integer("--rounds") ?? 3
        let run = try CompareRun(self, chosen, pairs: connections, crowd: crowd)
        if crowd > 0 { try run.measureLogins(crowd, rounds: rounds) }
        try run.connect()
        for _ in 0..<rounds {
            try run.measure(seconds: seconds, half: invocation.has("--half")) { result in
                if !invocation.has("--json") { Terminal.error(result.line + "\n") }
            }
        }
        let curves =
            invocation.has("--curve")
            ? try run.curves(seconds: seconds, shares: [0.1, 0.25, 0.5, 0.75, 0.9]) : []
        let rows = run.rows
        let floor = CompareRow.floor(of: rows)
        printResult(
            CompareRow.table(rows),
            .object([
                .init("connections", .integer(connections)), .init("window", .integer(window)),
                .init("size", .integer(size)), .init("rows", .array(rows.map { $0.json(floor: floor) })),
                .init("rounds", .array(run.closed.map { .array($0.map(\.json)) })),
                .init("half", .array(run.half.map { .array($0.map(\.json)) })),
                .init("left_out", .array(absent.map { .string($0.rawValue) })),
                .init("curves", .array(curves)),
            ]))
    }

    /// Returns the contestants, and the servers that are skipped because they are not installed.
    private func contestants() throws(BenchError) -> ([Contestant], [Contestant.Host]) {
        let wanted = invocation.texts("--only")
        let known = Contestant.allCases.flatMap { [$0.rawValue, $0.host.rawValue] }
        let unknown = wanted.filter { !known.contains($0) }
        guard unknown.isEmpty else {
            throw BenchError(
                "unknown server \(unknown.joined(separator: ", ")): expected one of "
                    + Contestant.allCases.map(\.rawValue).joined(separator: ", "))
        }
        let chosen = Contestant.allCases.filter {
            wanted.isEmpty || wanted.contains($0.rawValue) || wanted.contains($0.host.rawValue)
        }
        let absent = Contestant.Host.allCases.filter { host in
            chosen.contains { $0.host == host } && host.program.map { $0.installed == nil } ?? false
        }
        return (chosen.filter { !absent.contains($0.host) }, absent)
    }
}
