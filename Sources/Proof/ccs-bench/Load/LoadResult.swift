import Basics
import Wire

/// The counters at one moment.
struct LoadSample {
    var time: Instant
    var messages: Int
    var refused: Int
    var delivered: Int
    var leftOut: Int
    var server: Int64
    var own: Int64

    /// Reads the counters.
    init(_ counters: LoadCounters, _ target: any Server) {
        time = Now.read().monotonic
        messages = counters.acknowledged
        refused = counters.refused
        delivered = counters.delivered
        leftOut = counters.leftOut
        server = target.processes.reduce(0) { $0 + ProcessProbe(process: $1).cpuNanoseconds }
        own = ProcessProbe(process: ProcessProbe.own).cpuNanoseconds
    }
}

/// The result of one measurement.
struct LoadResult {
    let name: String
    let messages: Int
    let refused: Int
    let delivered: Int
    let leftOut: Int
    let seconds: Double
    /// CPU of the server for one message, in microseconds.
    let serverMicroseconds: Double
    /// CPU of the generator for one message, in microseconds.
    let ownMicroseconds: Double
    /// Shares of one processor used by server and generator.
    let serverLoad: Double
    let ownLoad: Double
    let answer: Latencies
    let delivery: Latencies
    /// Lateness of the generator; `nil` in a closed loop.
    let lag: Latencies?

    /// `all` is the number of messages of all loads on the server in that time, which share its CPU.
    init(
        _ name: String, from begin: LoadSample, to end: LoadSample, all: Int? = nil, counters: LoadCounters
    ) {
        self.name = name
        messages = end.messages - begin.messages
        refused = end.refused - begin.refused
        delivered = end.delivered - begin.delivered
        leftOut = end.leftOut - begin.leftOut
        seconds = Double(end.time.nanoseconds - begin.time.nanoseconds) / 1e9
        let count = Double(max(1, all ?? messages))
        serverMicroseconds = Double(end.server - begin.server) / 1_000 / count
        ownMicroseconds = Double(end.own - begin.own) / 1_000 / count
        serverLoad = Double(end.server - begin.server) / 1e9 / max(0.001, seconds)
        ownLoad = Double(end.own - begin.own) / 1e9 / max(0.001, seconds)
        answer = Latencies(counters.answerTimes)
        delivery = Latencies(counters.deliveryTimes)
        lag = counters.lag.total > 0 ? Latencies(counters.lag) : nil
    }

    /// Messages per second.
    var rate: Double { Double(messages) / max(0.001, seconds) }

    /// The text for people.
    var line: String {
        var columns = [
            Figure.pad(name, 11), Figure.padLeft(Figure.whole(rate), 9), "msg/s,",
            Figure.fixed(serverMicroseconds, 2), "us CPU/msg, answer", answer.text + ", delivery",
            delivery.text + ", server", Figure.whole(serverLoad * 100) + " %, generator",
            Figure.whole(ownLoad * 100) + " %",
        ]
        if let lag { columns.append("and p99 \(Figure.duration(lag.p99)) late") }
        if refused > 0 { columns.append("\(Figure.whole(refused)) refused") }
        if leftOut > 0 { columns.append("\(Figure.whole(leftOut)) never sent") }
        return columns.joined(separator: " ")
    }

    var json: JSONValue {
        .object([
            .init("name", .string(name)), .init("messages", .integer(messages)),
            .init("delivered", .integer(delivered)), .init("refused", .integer(refused)),
            .init("left_out", .integer(leftOut)), .init("seconds", .number(seconds)),
            .init("messages_per_second", .number(rate)),
            .init("server_cpu_us_per_message", .number(serverMicroseconds)),
            .init("generator_cpu_us_per_message", .number(ownMicroseconds)),
            .init("server_load", .number(serverLoad)), .init("generator_load", .number(ownLoad)),
            .init("answer", answer.json), .init("delivery", delivery.json),
            .init("generator_lag", lag?.json ?? .null),
        ])
    }
}
