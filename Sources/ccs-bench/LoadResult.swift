import Basics
import Wire

/// What one measurement found.
struct LoadResult {
    let target: String
    let messages: Int
    let refused: Int
    let delivered: Int
    let seconds: Double
    /// CPU of the server for one message, in microseconds.
    let serverMicroseconds: Double
    /// CPU of the generator for one message, in microseconds.
    let ownMicroseconds: Double
    /// Share of one processor that the server used.
    let serverLoad: Double
    let answer: (p50: Double, p99: Double)
    let delivery: (p50: Double, p99: Double)

    init(target: String, from begin: LoadSample, to end: LoadSample, counters: LoadCounters) {
        self.target = target
        messages = end.messages - begin.messages
        refused = end.refused - begin.refused
        delivered = end.delivered - begin.delivered
        seconds = Double(end.time.nanoseconds - begin.time.nanoseconds) / 1e9
        let count = Double(max(1, messages))
        serverMicroseconds = Double(end.server - begin.server) / 1_000 / count
        ownMicroseconds = Double(end.own - begin.own) / 1_000 / count
        serverLoad = Double(end.server - begin.server) / 1e9 / max(0.001, seconds)
        answer = (
            counters.answerTimes.microseconds(at: 0.5) ?? 0, counters.answerTimes.microseconds(at: 0.99) ?? 0
        )
        delivery = (
            counters.deliveryTimes.microseconds(at: 0.5) ?? 0,
            counters.deliveryTimes.microseconds(at: 0.99) ?? 0
        )
    }

    /// Messages in a second.
    var rate: Double { Double(messages) / max(0.001, seconds) }

    /// One line for people.
    var line: String {
        let columns = [
            Figure.pad(target, 6), Figure.padLeft(Figure.whole(rate), 9), "msg/s,",
            Figure.fixed(serverMicroseconds, 2), "us CPU/msg,", "ACK p50", Figure.duration(answer.p50), "p99",
            Figure.duration(answer.p99) + ",", "delivery p50", Figure.duration(delivery.p50), "p99",
            Figure.duration(delivery.p99) + ",", "server", Figure.whole(serverLoad * 100) + " %,",
            "generator",
            Figure.fixed(ownMicroseconds, 2), "us/msg" + (refused > 0 ? ", \(refused) refused" : ""),
        ]
        return columns.joined(separator: " ")
    }

    /// The same for programs.
    var json: JSONValue {
        .object([
            .init("target", .string(target)), .init("messages", .integer(messages)),
            .init("delivered", .integer(delivered)), .init("refused", .integer(refused)),
            .init("seconds", .number(seconds)), .init("messages_per_second", .number(rate)),
            .init("server_cpu_us_per_message", .number(serverMicroseconds)),
            .init("generator_cpu_us_per_message", .number(ownMicroseconds)),
            .init("server_load", .number(serverLoad)), .init("ack_p50_us", .number(answer.p50)),
            .init("ack_p99_us", .number(answer.p99)), .init("delivery_p50_us", .number(delivery.p50)),
            .init("delivery_p99_us", .number(delivery.p99)),
        ])
    }
}

/// Numbers as text, without Foundation.
enum Figure {
    /// With so many decimals.
    static func fixed(_ value: Double, _ decimals: Int) -> String {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let scaled = Int((value * scale).rounded())
        guard decimals > 0 else { return String(scaled) }
        let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int(scale))
        return "\(whole)." + padLeft(String(rest), decimals, "0")
    }

    /// Rounded, with commas between thousands.
    static func whole(_ value: Double) -> String {
        let digits = Array(String(Int(value.rounded())))
        var text = ""
        for (at, digit) in digits.enumerated() {
            if at > 0, (digits.count - at).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// Microseconds in the unit that reads best.
    static func duration(_ microseconds: Double) -> String {
        microseconds < 1_000 ? "\(whole(microseconds)) us" : "\(fixed(microseconds / 1_000, 1)) ms"
    }

    /// Filled up to a width.
    static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Filled up to a width from the left.
    static func padLeft(_ text: String, _ width: Int, _ filler: Character = " ") -> String {
        String(repeating: filler, count: max(0, width - text.count)) + text
    }

    /// The middle of some figures; 0 for none.
    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
