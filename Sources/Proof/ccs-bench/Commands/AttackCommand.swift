import Basics
import Catalogue
import Wire

extension Bench {
    /// Runs attacks, one after the other, in parallel with good messages.
    func attack() throws(BenchError) {
        let wanted = invocation.texts("--only")
        let attacks = Attack.all.filter { wanted.isEmpty || wanted.contains($0.name) }
        let unknown = wanted.filter { name in !Attack.all.contains { $0.name == name } }
        guard unknown.isEmpty else {
            throw BenchError(
                "unknown attack \(unknown.joined(separator: ", ")): expected one of "
                    + Attack.all.map(\.name).joined(separator: ", "))
        }
        let run = try AttackRun(
            self, rate: invocation.integer("--rate") ?? 1_000, scale: invocation.integer("--scale") ?? 100)
        let plant = invocation.text("--plant").flatMap { AttackPlant(rawValue: $0) }
        var rows: [AttackRow] = []
        for attack in attacks {
            var row = try run.run(attack)
            plant?.spoil(&row)
            rows.append(row)
            if !invocation.has("--json") { Terminal.error("\(row.cells.joined(separator: " | "))\n") }
            // Nothing is left to attack.
            guard row.isRunning else { break }
        }
        let faults = AttackRow.faults(of: rows)
        printResult(
            AttackRow.table(rows) + "\n\n" + AttackRow.reachTable(rows),
            .object([
                .init("attacks", .array(rows.map(\.json))),
                .init("faults", .array(faults.map { .string($0) })),
            ]))
        guard faults.isEmpty else { throw BenchError(faults.joined(separator: "; ")) }
    }
}
