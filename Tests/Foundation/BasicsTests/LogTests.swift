import Glibc
import Synchronization
import Testing

@testable import Basics

@Suite struct LogTests {
    /// Collects lines, with a clock that the test advances.
    final class Catcher: Sendable {
        private let state = Mutex((lines: [String](), now: Int64(0)))
        var lines: [String] { state.withLock { $0.lines } }
        func take(_ line: [UInt8]) {
            state.withLock { $0.lines.append(String(decoding: line, as: UTF8.self)) }
        }
        func advance(milliseconds: Int64) { state.withLock { $0.now += milliseconds } }
        var now: Now {
            state.withLock {
                Now(monotonic: Instant(nanoseconds: $0.now * 1_000_000), wall: 1_795_157_345_678 + $0.now)
            }
        }

        func log(_ level: Log.Level = .info, _ format: Log.Format = .text, journal: Bool = false) -> Log {
            Log(level: level, format: format, journal: journal, clock: { self.now }, write: { self.take($0) })
        }
    }

    @Test("an event has the expected line when the format is text, JSON or journald")
    func formats() {
        let catcher = Catcher()
        let fields: LogFields = ["port": 5_235, "name": "app server", "ready": true, "word": "plain"]
        catcher.log().info("listening", fields)
        catcher.log(.info, .json).info("listening", fields)
        catcher.log(.info, .text, journal: true).error("failed")
        #expect(
            catcher.lines == [
                "time=2026-11-20T06:49:05.678Z level=info event=listening port=5235 name=\"app server\" ready=true word=plain\n",
                "{\"time\":\"2026-11-20T06:49:05.678Z\",\"level\":\"info\",\"event\":\"listening\",\"port\":5235,\"name\":\"app server\",\"ready\":true,\"word\":\"plain\"}\n",
                "<3>level=error event=failed\n",
            ])
    }

    @Test(
        "a hostile value stays on one line and cannot forge another",
        arguments: [Log.Format.text, .json])
    func hostileValues(format: Log.Format) {
        let catcher = Catcher()
        let hostile = "a\nlevel=error event=\"x\"\\ \u{1B}[2J\u{7F}\u{85}\u{2028}\u{202E}\0=é"
        catcher.log(.info, format).info("peer", ["value": .text(hostile)])
        let line = catcher.lines.first ?? ""
        #expect(line.utf8.filter { $0 == 0x0A }.count == 1 && line.hasSuffix("\n"))
        #expect(
            line.unicodeScalars.dropLast().allSatisfy {
                $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && $0.value != 0x2028
                    && $0.value != 0x202E
            })
        #expect(
            line.contains(
                "\\nlevel=error event=\\\"x\\\"\\\\ \\u001b[2J\\u007f\\u0085\\u2028\\u202e\\u0000=é"))
    }

    @Test("printable text contains nothing that moves the cursor, and is cut at the limit")
    func printable() {
        #expect(Printable.text("a\u{1B}[2J\n\u{85}\u{202E}é") == "a?[2J???é")
        #expect(Printable.text("abcdef", limit: 3) == "abc...")
        #expect(Printable.text("abc", limit: 3) == "abc")
    }

    @Test("a long value is cut between characters")
    func longValues() {
        let catcher = Catcher()
        catcher.log().info("peer", ["value": .text(String(repeating: "é", count: 100_000))])
        let line = catcher.lines.first ?? ""
        #expect(line.utf8.count < Limits.Log.valueBytes + 100)
        #expect(line.hasSuffix("é...\"\n"))
    }

    @Test("a value is cut when it is one byte longer than the limit, and not at the limit")
    func valueLimit() {
        for (count, end) in [(Limits.Log.valueBytes, "a\n"), (Limits.Log.valueBytes + 1, "a...\n")] {
            let catcher = Catcher()
            catcher.log().info("peer", ["value": .text(String(repeating: "a", count: count))])
            let line = catcher.lines.first ?? ""
            #expect(line.hasSuffix(end))
            #expect(line.utf8.count(where: { $0 == UInt8(ascii: "a") }) >= Limits.Log.valueBytes)
        }
    }

    @Test("fields are evaluated only when the level is enabled, and the level can change")
    func levels() {
        let catcher = Catcher()
        let log = catcher.log(.warning)
        var built = 0
        func fields() -> LogFields {
            built += 1
            return ["n": 1]
        }
        log.debug("a", fields())
        log.info("b", fields())
        log.notice("c", fields())
        #expect(built == 0 && catcher.lines.isEmpty)
        log.warning("d", fields())
        let copy = log
        copy.level = .debug
        log.debug("e", fields())
        #expect(built == 2 && catcher.lines.count == 2)
        #expect(Log.Level(word: "notice") == .notice && Log.Level(word: "loud") == nil)
    }

    @Test("an event is suppressed and counted when it repeats too fast, and logged again later")
    func rateLimit() {
        let catcher = Catcher()
        let log = catcher.log()
        for _ in 0..<100 { log.info("storm") }
        log.info("other")
        #expect(catcher.lines.count == Limits.Log.linesPerEventAndSecond + 1)
        #expect(log.suppressed == 100 - Limits.Log.linesPerEventAndSecond)
        catcher.advance(milliseconds: 1_000)
        log.info("storm")
        #expect(catcher.lines.last?.contains("suppressed=\(100 - Limits.Log.linesPerEventAndSecond)") == true)
        log.info("storm")
        #expect(catcher.lines.last?.contains("suppressed") == false, "suppressed lines are counted only once")
    }

    @Test(
        "a failing event is logged at once, then every 30 s with its count, also when it has stopped"
    )
    func repeating() {
        let catcher = Catcher()
        let log = catcher.log()
        func fail(_ kind: String) {
            log.repeating(.error, "store_failed", by: kind, ["kind": .text(kind)])
        }
        for _ in 0..<400 {
            fail("full")
            catcher.advance(milliseconds: 100)
        }
        fail("read")
        #expect(catcher.lines.count == 3)
        #expect(catcher.lines[1].contains("kind=full repeated=300\n"), "\(catcher.lines)")
        #expect(log.suppressed == 398)
        log.flushRepeated()
        #expect(catcher.lines.count == 3, "not yet")
        catcher.advance(milliseconds: 30_000)
        log.flushRepeated()
        #expect(catcher.lines.count == 4)
        #expect(catcher.lines[3].contains("event=store_failed kind=full repeated=99 last_at=2026-"))
        log.level = .notice
        log.repeating(.info, "quiet", ["n": 1])
        #expect(catcher.lines.count == 4)
    }

    @Test("an operator's action is logged even when it repeats fast")
    func records() {
        let catcher = Catcher()
        for _ in 0..<200 { catcher.log().record(.notice, "operator_command", ["command": "status"]) }
        #expect(catcher.lines.count == 200)
    }

    @Test("lines stay whole when many threads write them")
    func threads() async {
        let catcher = Catcher()
        let log = catcher.log()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for _ in 0..<50 {
                        catcher.advance(milliseconds: 1_000)
                        log.info("line", ["task": LogValue(task), "text": "some words here"])
                    }
                }
            }
        }
        #expect(catcher.lines.count + log.suppressed == 400)
        #expect(catcher.lines.allSatisfy { $0.hasPrefix("time=") && $0.contains("\"some words here\"") })
    }

    @Test(
        "a log whose reader stands still loses lines and waits for nothing; they are counted in the next line that is read"
    )
    func readerStandsStill() {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let catcher = Catcher()
        let log = Log(level: .info, descriptor: ends[1], clock: { catcher.now })
        let value = LogValue.text(String(repeating: "x", count: 400))
        for _ in 0..<1_000 {
            catcher.advance(milliseconds: 1_000)
            log.info("line", ["value": value])
        }
        let lost = log.suppressed
        #expect(lost > 0 && lost < 1_000)
        func read() -> [Substring] {
            var bytes = [UInt8](repeating: 0, count: 1_048_576)
            let count = Glibc.read(ends[0], &bytes, bytes.count)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        }
        let first = read()
        #expect(first.count == 1_000 - lost && first.allSatisfy { $0.hasSuffix("x") })
        log.record(.notice, "after")
        let second = read()
        #expect(second.count == 2 && second.last?.contains("event=after") == true)
        #expect(second.first?.contains("event=log_lines_lost lines=\(lost)") == true)
        log.record(.notice, "again")
        #expect(read().count == 1, "counted once")
    }

    @Test("a log whose reader is gone loses lines, too")
    func readerIsGone() {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        let log = Log(level: .info, descriptor: ends[1])
        log.record(.notice, "line")
        #expect(log.suppressed == 1)
    }

    @Test("a redacted secret is hidden in descriptions, dumps and mirrors")
    func redacted() {
        let key = Redacted("AIzaSecret")
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), String(describing: [key]), dumped] {
            #expect(!text.contains("AIzaSecret"))
        }
        #expect(key.revealed == "AIzaSecret")
    }

    @Test("canary: the hostile value makes two lines when it is not escaped")
    func canary() { #expect("a\nlevel=error".split(separator: "\n").count == 2) }
}
