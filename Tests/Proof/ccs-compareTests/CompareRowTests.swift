import Basics
import Testing

@testable import ccs_compare

/// Rows and tables of a comparison.
struct CompareRowTests {
    /// A measurement of one second with the given CPU time of server and generator.
    private static func result(messages: Int, server: Int64, own: Int64) -> LoadResult {
        let counters = LoadCounters()
        counters.answerTimes.record(2_000_000)
        var begin = LoadSample(counters, Idle())
        var end = begin
        begin.time = Instant(nanoseconds: 0)
        end.time = Instant(nanoseconds: 1_000_000_000)
        end.messages = begin.messages + messages
        end.server = begin.server + server
        end.own = begin.own + own
        return LoadResult("load", from: begin, to: end, counters: counters)
    }

    private final class Idle: Server {
        let name = "idle"
        let process: Int32 = 0
    }

    private static let rows = [
        CompareRow(
            .relay,
            closed: [
                result(messages: 100_000, server: 200_000_000, own: 990_000_000),
                result(messages: 90_000, server: 180_000_000, own: 980_000_000),
                result(messages: 10, server: 900_000_000, own: 970_000_000),
            ], half: [], login: CompareRun.Login(microseconds: [150, 170, 400], idleKiB: 14.5)),
        CompareRow(
            .ccsdDown, closed: [result(messages: 10_000, server: 90_000_000, own: 300_000_000)],
            half: [result(messages: 5_000, server: 90_000_000, own: 300_000_000)], login: nil),
    ]

    @Test("a row has the medians of its rounds, and its CPU relative to the baseline")
    func rows() {
        let rows = Self.rows
        #expect(rows[0].rate == 90_000 && abs(rows[0].serverMicroseconds - 2) < 1e-9)
        #expect(rows[0].login?.microseconds == 170 && rows[0].login?.idleKiB == 14.5)
        #expect(CompareRow.floor(of: rows)?.contestant == .relay)
        #expect(abs((rows[1].ratio(to: rows[0]) ?? 0) - 4.5) < 1e-9)
        #expect(rows[1].ratio(to: CompareRow.floor(of: [rows[1]])) == nil)
        #expect(rows[1].halfRateP99.map { abs($0 - 2_000) < 100 } == true && rows[0].halfRateP99 == nil)
    }

    @Test("Canary: the table has a warning when the generator uses all of its processor")
    func limit() {
        let table = CompareRow.table(Self.rows)
        #expect(Self.rows[0].isGeneratorFull && !Self.rows[1].isGeneratorFull)
        #expect(table.contains("The generator was at its limit with relay:"))
        #expect(!CompareRow.table([Self.rows[1]]).contains("generator was"))
    }

    @Test("the table has a line for each contestant and a column for each measured figure")
    func table() {
        let lines = CompareRow.table(Self.rows).split(separator: "\n").map(String.init)
        #expect(lines.count == 4)
        #expect(
            lines[0].hasPrefix("server") && lines[0].contains("p99 at half") && lines[0].contains("idle KiB"))
        #expect(lines[1].contains("90,000") && lines[1].contains("1.00") && lines[1].contains("14.5"))
        #expect(lines[2].contains("4.50") && lines[2].hasSuffix("synced to disk"))
        #expect(!CompareRow.table([Self.rows[1]]).contains("login us"))
    }

    @Test("every contestant has a distinct name and a server, and other projects' servers can be installed")
    func contestants() {
        #expect(Set(Contestant.allCases.map(\.rawValue)).count == Contestant.allCases.count)
        for host in Contestant.Host.allCases {
            #expect(Contestant.allCases.contains { $0.host == host })
        }
        #expect(Contestant.Host.ccsd.program == nil && Contestant.Host.mosquitto.program != nil)
        #expect(PeerProgram(paths: ["/nonexistent"]).installed == nil)
        #expect(PeerProgram(paths: ["/bin/sh"], needs: "/nonexistent").installed == nil)
        #expect(PeerProgram(paths: ["/nonexistent", "/bin/sh"]).installed == "/bin/sh")
    }
}
