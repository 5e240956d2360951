import Basics
import Catalogue
import Wire

extension Bench {
    /// Measures a message to a topic with many subscribers.
    func fanout() throws(BenchError) {
        let subscribers = invocation.integer("--subscribers") ?? 1_000
        let online = min(invocation.integer("--online") ?? 0, subscribers)
        let run = try FanoutRun(
            self, subscribers: subscribers, online: online, imports: invocation.has("--import"))
        let result = try run.run(
            seconds: seconds, rate: invocation.integer("--rate") ?? 500,
            further: invocation.integer("--further") ?? 0)
        printResult(
            text(result, subscribers, online),
            .object([
                .init("subscribers", .integer(subscribers)), .init("online", .integer(online)),
                .init("accept_seconds", .number(result.acceptSeconds)),
                .init("seconds", .number(result.seconds)),
                .init(
                    "server_cpu_us_per_online_subscriber",
                    result.serverMicroseconds.map { .number($0) } ?? .null),
                .init(
                    "net_cpu_us_per_online_subscriber", result.netMicroseconds.map { .number($0) } ?? .null),
                .init("stored_bytes_per_offline_subscriber", result.storedBytes.map { .number($0) } ?? .null),
                .init("online_delivery", result.delivery.json),
                .init("online_delivery_seconds", .number(result.deliverySeconds)),
                .init("others_before", result.before.json), .init("others_meanwhile", result.meanwhile.json),
                .init("of_their_own", result.own?.json ?? .null),
                .init("in_a_row", result.row?.json ?? .null),
                .init("resident_kib_before", .integer(result.residentKiB.before)),
                .init("resident_kib_most", .integer(result.residentKiB.most)),
                .init("resident_kib_after", .integer(result.residentKiB.after)),
            ]))
    }

    private func text(_ result: FanoutRun.Result, _ subscribers: Int, _ online: Int) -> String {
        var lines = [
            "fan-out to \(Figure.whole(subscribers)) subscribers, \(Figure.whole(online)) of them online: accepted after \(Figure.fixed(result.acceptSeconds * 1_000, 1)) ms, done after \(Figure.fixed(result.seconds, 2)) s"
        ]
        if let each = result.serverMicroseconds, let net = result.netMicroseconds {
            lines.append(
                "arrival at those online: \(result.delivery.text), the last after \(Figure.fixed(result.deliverySeconds, 2)) s, \(Figure.fixed(each, 1)) us CPU each, \(Figure.fixed(net, 1)) us without the other messages"
            )
        }
        if let bytes = result.storedBytes {
            lines.append("store: \(Figure.fixed(bytes, 1)) bytes for each offline subscriber")
        }
        lines.append(
            "resident: \(Figure.whole(result.residentKiB.before)) KiB before, at most \(Figure.whole(result.residentKiB.most)) KiB, \(Figure.whole(result.residentKiB.after)) KiB after"
        )
        lines.append("other messages, alone and during the fan-out:")
        lines += [result.before.line, result.meanwhile.line]
        if let own = result.own { lines.append(own.line) }
        if let row = result.row { lines.append(row.line) }
        return lines.joined(separator: "\n")
    }
}
