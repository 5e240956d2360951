import Wire

/// The result for one contestant: medians of its rounds.
struct CompareRow {
    let contestant: Contestant
    let rate: Double
    let serverMicroseconds: Double
    let answer: (p50: Double, p99: Double)
    /// p99 at half of the maximum rate; `nil` if it was not measured.
    let halfRateP99: Double?
    /// CPU of a login in microseconds, and KiB of an idle connection; `nil` if another row of the same server has them.
    let login: (microseconds: Double, idleKiB: Double)?
    let serverLoad: Double
    let ownLoad: Double
    let refused: Int

    /// Share of a processor from which on the generator counts as the bottleneck.
    static let fullLoad = 0.95

    init(
        _ contestant: Contestant, closed: [LoadResult], half: [LoadResult], login: CompareRun.Login?
    ) {
        self.contestant = contestant
        rate = Figure.median(closed.map(\.rate))
        serverMicroseconds = Figure.median(closed.map(\.serverMicroseconds))
        answer = (Figure.median(closed.map(\.answer.p50)), Figure.median(closed.map(\.answer.p99)))
        halfRateP99 = half.isEmpty ? nil : Figure.median(half.map(\.answer.p99))
        self.login = login.map { (Figure.median($0.microseconds), $0.idleKiB) }
        serverLoad = Figure.median(closed.map(\.serverLoad))
        ownLoad = Figure.median(closed.map(\.ownLoad))
        refused = closed.reduce(0) { $0 + $1.refused }
    }

    /// Whether the generator was the bottleneck.
    var isGeneratorFull: Bool { ownLoad >= Self.fullLoad }

    /// Returns the CPU of a message as a multiple of the baseline's; `nil` without a baseline.
    func ratio(to floor: CompareRow?) -> Double? {
        floor.map { serverMicroseconds / max(0.001, $0.serverMicroseconds) }
    }

    /// Returns the baseline among some rows: the tuned relay, or else the other.
    static func floor(of rows: [CompareRow]) -> CompareRow? {
        rows.first { $0.contestant == .relay } ?? rows.first { $0.contestant == .relayPlain }
    }

    /// Returns all rows as a table.
    static func table(_ rows: [CompareRow]) -> String {
        let floor = floor(of: rows)
        let hasHalfRate = rows.contains { $0.halfRateP99 != nil }
        let hasLogin = rows.contains { $0.login != nil }
        var head = ["server", "msg/s", "CPU us/msg", "x floor", "ACK p50", "p99"]
        if hasHalfRate { head.append("p99 at half") }
        if hasLogin { head += ["login us", "idle KiB"] }
        head += ["server %", "generator %", "an ACK means"]
        let lines = rows.map { row in
            var cells = [
                row.contestant.rawValue, Figure.whole(row.rate), Figure.fixed(row.serverMicroseconds, 2),
                row.ratio(to: floor).map { Figure.fixed($0, 2) } ?? "-", Figure.duration(row.answer.p50),
                Figure.duration(row.answer.p99),
            ]
            if hasHalfRate { cells.append(row.halfRateP99.map(Figure.duration) ?? "-") }
            if hasLogin {
                cells += [
                    row.login.map { Figure.whole($0.microseconds) } ?? "",
                    row.login.map { Figure.fixed($0.idleKiB, 1) } ?? "",
                ]
            }
            cells += [
                Figure.whole(row.serverLoad * 100), Figure.whole(row.ownLoad * 100), row.contestant.promise,
            ]
            return cells
        }
        let full = rows.filter(\.isGeneratorFull).map(\.contestant.rawValue)
        let note =
            full.isEmpty
            ? ""
            : "\nThe generator was at its limit with \(full.joined(separator: ", ")): the server can handle more messages a second; CPU per message is valid."
        return Table.text([head] + lines, lastIsWords: true) + note
    }

    func json(floor: CompareRow?) -> JSONValue {
        .object([
            .init("name", .string(contestant.rawValue)), .init("server", .string(contestant.host.rawValue)),
            .init("messages_per_second", .number(rate)),
            .init("server_cpu_us_per_message", .number(serverMicroseconds)),
            .init("cpu_ratio", ratio(to: floor).map { .number($0) } ?? .null),
            .init("answer_p50_us", .number(answer.p50)), .init("answer_p99_us", .number(answer.p99)),
            .init("answer_p99_us_at_half", halfRateP99.map { .number($0) } ?? .null),
            .init("login_cpu_us", login.map { .number($0.microseconds) } ?? .null),
            .init("idle_kib", login.map { .number($0.idleKiB) } ?? .null),
            .init("server_load", .number(serverLoad)), .init("generator_load", .number(ownLoad)),
            .init("generator_is_full", .boolean(isGeneratorFull)), .init("refused", .integer(refused)),
        ])
    }
}
