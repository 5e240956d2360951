import Basics
import Catalogue
import Transport
import Wire

extension Bench {
    /// Restarts the daemon under load, and reports what happened to all accepted messages.
    func restart() throws(BenchError) {
        let run = try RestartRun(
            self, connections: invocation.integer("--connections") ?? 1_000,
            devices: invocation.integer("--devices") ?? 10_000, rate: invocation.integer("--rate") ?? 500)
        _ = run.load(seconds: seconds)
        let before = run.down.accepted
        let start = Now.read().monotonic
        let times = try run.target.rollOver { _ = run.load(seconds: 1, until: $0) }
        let isBack = run.load(seconds: 300) { run.connected == run.peers }
        let back = Now.read().monotonic.milliseconds(since: start)
        _ = run.load(seconds: seconds)
        let hasNothingPending = run.awaitPending(seconds: 120)
        let holds = try run.target.auditHolds()
        let refusedAccepted = run.refusals.filter { $0.key != "CONNECTION_DRAINING" }
        let json = JSONValue.object([
            .init("peers", .integer(run.peers)), .init("accepted_before", .integer(before)),
            .init("drain_ms", .integer(Int(times.drained))), .init("start_ms", .integer(Int(times.started))),
            .init("all_back_ms", .integer(Int(back))), .init("connections_ended", .integer(run.closes)),
            .init("downstream", Self.json(run.down)), .init("upstream", Self.json(run.up)),
            .init(
                "refusals",
                .object(
                    run.refusals.sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value)) })),
            .init("audit_holds", .boolean(holds)),
        ])
        let refusals = run.refusals.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        printResult(
            """
                          accepted  delivered  lost  twice
            downstream  \(Self.row(run.down))
            upstream    \(Self.row(run.up))
            \(run.peers) peers; drained in \(times.drained) ms, started in \(times.started) ms, all back \(back) ms after SIGTERM; \(run.closes) connections ended
            refused and sent again: \(refusals.isEmpty ? "none" : refusals.joined(separator: ", ")); the conservation law \(holds ? "holds" : "is broken")
            """, json)
        guard isBack, hasNothingPending, holds, run.down.missing == 0, run.up.missing == 0,
            refusedAccepted.isEmpty
        else { throw BenchError("the restart was not seamless") }
    }

    private static func row(_ books: Books) -> String {
        [(books.accepted, 10), (books.delivered, 11), (books.missing, 6), (books.repeated, 7)].map {
            let text = String($0.0)
            return String(repeating: " ", count: max(0, $0.1 - text.count)) + text
        }.joined()
    }

    private static func json(_ books: Books) -> JSONValue {
        .object([
            .init("accepted", .integer(books.accepted)), .init("delivered", .integer(books.delivered)),
            .init("lost", .integer(books.missing)), .init("twice", .integer(books.repeated)),
        ])
    }
}
