import Basics
import Catalogue
import Operator
import Transport
import Wire

extension Bench {
    /// Backs up the daemon under load, restores the backups, and reports what they contain.
    func backup() throws(BenchError) {
        let seed = SecureRandom.number()
        let run = try BackupRun(self, seed: seed)
        let load = try run.run(
            invocation.integer("--moments") ?? 10, rate: invocation.integer("--rate") ?? 10_000,
            pause: invocation.integer("--pause") ?? 4_000)
        let isRefused = try run.refusesRunning()
        let restored = try run.restoreAll().map(planted)
        let rows = restored.enumerated().map { at, backup in
            [
                "\(at + 1)", "\(backup.moment.answer.commit)", "\(backup.moment.answer.milliseconds)",
                "\(backup.moment.answer.bytes / 1_048_576)", "\(backup.moment.acknowledged)",
                "\(backup.audit.downstream.accepted)", "\(backup.moment.sent)",
                backup.audit.holds ? "holds" : "BROKEN",
            ].map { Figure.padLeft($0, 13) }.joined()
        }
        let head = [
            "backup", "commit", "ms", "MiB", "acked before", "accepted", "sent by end", "audit",
        ].map { Figure.padLeft($0, 13) }.joined()
        let json = JSONValue.object([
            .init("seed", .string("\(seed)")), .init("load", load.json),
            .init("refused_onto_running", .boolean(isRefused)),
            .init("backups", .array(restored.map(Self.json))),
        ])
        printResult(
            ([head] + rows + [
                load.line,
                "a restore onto the running server is \(isRefused ? "refused" : "NOT REFUSED"); seed \(seed)",
            ]).joined(separator: "\n"), json)
        guard isRefused else { throw BenchError("a restore onto the running server was not refused") }
        guard restored.allSatisfy(\.isComplete) else { throw BenchError("a backup is not complete") }
    }

    private static func json(_ backup: BackupRun.Restored) -> JSONValue {
        .object([
            .init("commit", .integer(backup.moment.answer.commit)),
            .init("milliseconds", .integer(backup.moment.answer.milliseconds)),
            .init("bytes", .integer(backup.moment.answer.bytes)),
            .init("linked_bytes", .integer(backup.moment.answer.linkedBytes)),
            .init("acknowledged_before", .integer(backup.moment.acknowledged)),
            .init("accepted", .integer(backup.audit.downstream.accepted)),
            .init("sent_by_end", .integer(backup.moment.sent)),
            .init("audit_holds", .boolean(backup.audit.holds)),
        ])
    }

    /// Falsifies the counts if a fault is planted.
    private func planted(_ backup: BackupRun.Restored) -> BackupRun.Restored {
        var backup = backup
        switch invocation.text("--plant") {
        case "loss": backup.audit.downstream.accepted = backup.moment.acknowledged - 1
        case "surplus": backup.audit.downstream.accepted = backup.moment.sent + 1
        default: break
        }
        return backup
    }
}
