import Basics
import Operator
import Testing
import Wire

@testable import ccsctl

/// The text of `ccsctl top`.
@Suite struct TopScreenTests {
    private func answer(
        milliseconds: Int, accepted: Int, refused: Int = 0, buckets: [WordCount] = [],
        senders: [ShowFigures.Sender] = []
    ) -> ShowFigures.Answer {
        ShowFigures.Answer(
            version: "0.1.0", state: "serving", uptimeMilliseconds: milliseconds,
            downstream: [WordCount("accepted", accepted)], upstream: [],
            waiting: [WordCount("downstream", 3)], connections: [WordCount("device", 2)],
            sessions: [WordCount("device", 2)],
            refusals: refused > 0 ? [WordCount("invalid_token", refused)] : [],
            latencies: [
                ShowFigures.Latency(
                    name: "ack_downstream", count: buckets.reduce(0) { $0 + $1.count }, microseconds: 0,
                    buckets: buckets)
            ], senders: senders, process: [WordCount("cpu_microseconds", milliseconds * 500)])
    }

    private func row(_ name: String, _ screen: TopScreen) -> [String] {
        let line = screen.lines(width: nil, height: nil).first { $0.hasPrefix(name) }
        return (line ?? "").split(separator: " ").map(String.init)
    }

    @Test("rates are the differences of two answers by the time between them, or averages since the start")
    func rates() {
        let (first, second) = (
            answer(milliseconds: 10_000, accepted: 100), answer(milliseconds: 12_000, accepted: 500)
        )
        #expect(row("downstream", TopScreen(previous: first, current: second))[1] == "200")
        #expect(row("downstream", TopScreen(previous: nil, current: first))[1] == "10.0")
        #expect(row("downstream", TopScreen(previous: first, current: second)).last == "3")
        // After a restart of the daemon counters begin again: no rate is negative.
        #expect(row("downstream", TopScreen(previous: second, current: first))[1] == "0.0")
        let head = TopScreen(previous: first, current: second).lines(width: nil, height: nil)[0]
        #expect(head.contains("cpu 50.0 %") && head.contains("serving"))
    }

    @Test("quantiles are those of the durations between both answers")
    func quantiles() {
        let old = [WordCount("1000", 1_000), WordCount("2000", 0), WordCount("more", 0)]
        let new = [WordCount("1000", 1_000), WordCount("2000", 98), WordCount("more", 2)]
        let screen = TopScreen(
            previous: answer(milliseconds: 1_000, accepted: 0, buckets: old),
            current: answer(milliseconds: 2_000, accepted: 0, buckets: new))
        #expect(
            row("ack_downstream", screen) == [
                "ack_downstream", "100", "1.5", "ms", "1.9", "ms", ">2.0", "ms",
            ])
        let silent = TopScreen(
            previous: answer(milliseconds: 1_000, accepted: 0, buckets: new),
            current: answer(milliseconds: 2_000, accepted: 0, buckets: new))
        #expect(row("ack_downstream", silent) == ["ack_downstream", "0.0", "-", "-", "-"])
        #expect(Distribution.span(250) == "250 us" && Distribution.span(2_500_000) == "2.5 s")
    }

    @Test("the busiest senders are first, and one without earlier figures has no rate yet")
    func senders() {
        func sender(_ number: UInt64?, _ accepted: Int) -> ShowFigures.Sender {
            ShowFigures.Sender(
                sender: number.map(SenderID.init), downstream: [WordCount("accepted", accepted)], upstream: []
            )
        }
        let screen = TopScreen(
            previous: answer(milliseconds: 1_000, accepted: 0, senders: [sender(5, 10), sender(nil, 0)]),
            current: answer(
                milliseconds: 2_000, accepted: 0, senders: [sender(5, 11), sender(7, 900), sender(nil, 50)]))
        let lines = screen.lines(width: nil, height: nil)
        let at = lines.firstIndex { $0.hasPrefix("SENDER") } ?? 0
        let names = lines[(at + 1)...(at + 3)].map {
            $0.split(separator: " ").prefix(2).joined(separator: " ")
        }
        #expect(names == ["other 50.0", "5 1.0", "7 0.0"])
    }

    @Test("the screen is cut at the size of the terminal, and control characters are replaced")
    func size() {
        var current = answer(milliseconds: 1_000, accepted: 1, refused: 4)
        current.state = "\u{1B}[2Jbad"
        let lines = TopScreen(previous: nil, current: current).lines(width: 20, height: 5)
        #expect(lines.count == 5 && lines.allSatisfy { $0.count <= 20 })
        #expect(!lines.joined().contains("\u{1B}"))
        #expect(row("invalid_token", TopScreen(previous: nil, current: current)).last == "4")
    }
}
