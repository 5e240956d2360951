import Basics
import Client
import ClientProtocol
import Operator
import Transport
import Wire

/// One message to a topic with many subscribers, in parallel with other messages.
final class FanoutRun {
    /// The result.
    struct Result {
        /// Seconds from the request to its response: the message is on disk.
        var acceptSeconds = 0.0
        /// Seconds from the request until all partitions had the message, and all online subscribers.
        var seconds = 0.0
        /// Server CPU in that time, in microseconds for each online subscriber; `nil` if none is online.
        var serverMicroseconds: Double?
        /// The same without what the other messages cost when they are alone.
        var netMicroseconds: Double?
        /// Latency from the request to the delivery to online subscribers.
        var delivery: Latencies
        /// Seconds from the request to the last of these deliveries.
        var deliverySeconds = 0.0
        /// Other messages, before the fan-out and during it.
        var before: LoadResult
        var meanwhile: LoadResult
        /// Resident memory of the server in KiB: before, the maximum, at the end.
        var residentKiB: (before: Int, most: Int, after: Int)
        /// Bytes of the store's files for each offline subscriber; `nil` if all are online.
        var storedBytes: Double?
        /// A message of its own to each online subscriber; `nil` if none is online.
        var own: LoadResult?
        /// Further messages to the topic, sent as fast as the windows allow; `nil` if there were none.
        var row: LoadResult?
    }

    private static let topic = "bench"
    private let bench: Bench
    private let target: DaemonTarget
    private let subscribers: Int
    private let online: [BenchDevice]
    private let others: [BenchDevice]

    /// Enrols devices: subscribers, of which `online` will be connected, and others.
    init(_ bench: Bench, subscribers: Int, online: Int, imports: Bool) throws(BenchError) {
        self.bench = bench
        self.subscribers = subscribers
        target = try DaemonTarget(bench, reactors: bench.reactors)
        others = try bench.devices(target)
        let enrolled = imports ? online : subscribers
        self.online = try Enrolment(
            target, bench, count: enrolled, kept: online, topics: [Self.topic]
        ).run { bench.progress.show("subscribers enrolled", $0, of: enrolled) }
        bench.progress.clear()
        if imports, subscribers > online {
            try Importation(bench: bench, target: target, topic: Self.topic).run(subscribers - online)
        }
        // The restart clears the memory used by the enrolment, and flushes its changes from the log into the store's files.
        try target.restart()
    }

    /// Sends the message; other messages are sent at `rate` a second for `seconds` before, and until it is done. Then `further` messages
    /// are sent to the topic.
    func run(seconds: Int, rate: Int, further: Int) throws(BenchError) -> Result {
        let own = online.isEmpty ? nil : try sendOwn()
        let storedBefore = target.storedBytes
        let receivers = try Receivers(bench, target, others)
        let members = try Receivers(bench, target, online)
        let load = try bench.appServers(
            target, others, receivers, name: "others", lifetimeSeconds: Bench.lifetime)
        bench.separate(target)
        load.begin(.rate(Double(rate)))
        bench.run(milliseconds: 1_000, "warming up")
        let first = load.beginMeasuring()
        bench.run(milliseconds: Int64(seconds) * 1_000, "other messages alone")
        let second = LoadSample(load.counters, target)
        let before = LoadResult("before", from: first, to: second, counters: load.counters)

        // What was acknowledged too late before the restart has come again.
        members.counters = LoadCounters()
        let probe = ProcessProbe(process: target.process)
        var resident = (before: probe.residentKiB, most: 0, after: 0)
        let third = load.beginMeasuring()
        let (start, accepted) = try send()
        resident.most = try waitUntilReached(probe, members)
        let end = Now.read().monotonic
        let fourth = LoadSample(load.counters, target)
        let meanwhile = LoadResult("meanwhile", from: third, to: fourth, counters: load.counters)
        resident.after = probe.residentKiB
        try load.awaitPending()
        guard members.counters.delivered == online.count, members.counters.failures.isEmpty else {
            throw BenchError(
                "\(members.counters.delivered) of \(online.count) online subscribers received the message: \(members.counters.failures)"
            )
        }
        try target.restart()
        let stored = target.storedBytes
        let row = further > 0 ? try sendMore(further) : nil
        let offline = subscribers - online.count
        let each =
            online.isEmpty ? nil : Double(fourth.server - third.server) / 1_000 / Double(online.count)
        let others = Double(meanwhile.messages) * before.serverMicroseconds / Double(max(1, online.count))
        return Result(
            acceptSeconds: Double(accepted.nanoseconds - start.nanoseconds) / 1e9,
            seconds: Double(end.nanoseconds - start.nanoseconds) / 1e9,
            serverMicroseconds: each, netMicroseconds: each.map { $0 - others },
            delivery: Latencies(members.counters.deliveryTimes),
            deliverySeconds: max(0, Double(members.counters.lastDelivery - start.nanoseconds) / 1e9),
            before: before, meanwhile: meanwhile, residentKiB: resident,
            storedBytes: offline > 0
                ? Double(stored - storedBefore) / Double(offline) : nil,
            own: own, row: row)
    }

    /// Sends one message to each online subscriber.
    private func sendOwn() throws(BenchError) -> LoadResult {
        let members = try Receivers(bench, target, online)
        let load = try bench.appServers(
            target, online, members, name: "own", lifetimeSeconds: Bench.lifetime)
        let result = try load.send(online.count, untilArrival: true)
        members.finish(bench)
        try target.restart()
        return result
    }

    /// Sends messages to the topic over XMPP.
    private func sendMore(_ count: Int) throws(BenchError) -> LoadResult {
        let load = try bench.appServers(
            target, sending: [.stanza(topic: Self.topic, size: bench.size)], nil, name: "in a row")
        return try load.send(count)
    }

    /// Sends the message over HTTP. Returns when it was sent, and when the response arrived.
    private func send() throws(BenchError) -> (start: Instant, accepted: Instant) {
        let time = Now.read().monotonic
        var value = ByteBuffer()
        value.append("~~0000000000000000")
        Digits.putTime(time.nanoseconds, at: 2, into: &value)
        let filler = String(repeating: "x", count: 100)
        var call = HTTPCall("POST", "/fcm/send")
        call.add("Content-Type", "application/json")
        call.headers.append(("Authorization", Redacted("key=" + String(decoding: target.key, as: UTF8.self))))
        call.body = Array(
            JSONValue.object([
                .init("to", .string("/topics/\(Self.topic)")),
                .init("time_to_live", .integer(Bench.lifetime)),
                .init(
                    "data",
                    .object([.init("n", .string(String(decoding: value.copied(), as: UTF8.self) + filler))])),
            ]).compact.utf8)
        let client = HTTPClient(
            reactor: bench.reactor,
            endpoint: Endpoint(address: target.https, serverName: "localhost", tls: bench.tls))
        defer { client.close() }
        do throws(ClientError) {
            let answer = try client.answer(to: call)
            guard answer.status == 200, !answer.text.contains("error") else {
                throw .status(answer.status, answer.text)
            }
        } catch { throw BenchError("the message to the topic was refused: \(error)") }
        return (time, Now.read().monotonic)
    }

    /// Turns the generator until all partitions and all online subscribers have the message. Returns the server's maximum memory in KiB.
    private func waitUntilReached(_ probe: ProcessProbe, _ members: Receivers) throws(BenchError) -> Int {
        let end = Now.read().monotonic.advanced(seconds: 60 + online.count / 500)
        var most = 0
        var pause = 5
        while true {
            most = max(most, probe.residentKiB)
            bench.progress.show("recipients", members.counters.delivered, of: online.count)
            // The server is not asked before, since its answer costs as much as many recipients.
            if members.counters.delivered >= online.count,
                try target.control(ShowStatus()).topics.inProgress == 0
            {
                bench.progress.clear()
                return most
            }
            guard Now.read().monotonic < end else { throw BenchError("the fan-out did not finish in time") }
            bench.turn(milliseconds: pause)
            // The request interrupts the generator: it is sent less often if the fan-out takes long.
            pause = min(200, pause + 5)
        }
    }
}

extension Bench {
    /// Turns the reactor for a time.
    func turn(milliseconds: Int) {
        let end = Now.read().monotonic.advanced(milliseconds: Int64(milliseconds))
        while Now.read().monotonic < end { turn(waitMilliseconds: 5) }
    }
}
