import Wire

/// The figures of the soak at one moment, or since the previous sample.
struct SoakSample: Equatable {
    /// Latencies of one direction since the previous sample, in microseconds from the time at which a message was due: to its
    /// acknowledgement, and to its arrival. Messages whose device was disconnected are excluded.
    struct Times: Equatable {
        var answerP50 = 0.0
        var answerP99 = 0.0
        var p50 = 0.0
        var p99 = 0.0
    }

    /// Counts of one direction since the start.
    struct Counts: Equatable {
        var sent = 0
        var accepted = 0
        var delivered = 0
        var repeated = 0
        /// Messages that are due and that no connection had room for yet.
        var late = 0
    }

    /// Seconds since the start.
    var seconds = 0.0
    var residentKiB = 0
    /// The daemon's descriptors, and how many of them are sockets.
    var descriptors = 0
    var sockets = 0
    /// Shares of one processor used by daemon and generator.
    var serverLoad = 0.0
    var ownLoad = 0.0
    var downTimes = Times()
    var upTimes = Times()
    /// From the start of a device's reconnect, handshake and login included, to the arrival of its waiting messages.
    var fetchP99 = 0.0
    /// Lateness of the generator.
    var lagP99 = 0.0
    var down = Counts()
    var up = Counts()
    /// Size of the store's files in bytes.
    var storeBytes = 0
    /// Logged-in devices, and logins so far.
    var devices = 0
    var logins = 0

    /// Accepted messages that have not arrived.
    var pending: Int { down.accepted - down.delivered + up.accepted - up.delivered }

    var json: JSONValue {
        .object([
            .init("seconds", .number(seconds)), .init("resident_kib", .integer(residentKiB)),
            .init("descriptors", .integer(descriptors)), .init("sockets", .integer(sockets)),
            .init("server_load", .number(serverLoad)), .init("generator_load", .number(ownLoad)),
            .init("generator_lag_p99_us", .number(lagP99)), .init("downstream", Self.json(down, downTimes)),
            .init("upstream", Self.json(up, upTimes)), .init("fetch_p99_us", .number(fetchP99)),
            .init("store_bytes", .integer(storeBytes)), .init("pending", .integer(pending)),
            .init("devices", .integer(devices)), .init("logins", .integer(logins)),
        ])
    }

    private static func json(_ counts: Counts, _ times: Times) -> JSONValue {
        .object([
            .init("sent", .integer(counts.sent)), .init("accepted", .integer(counts.accepted)),
            .init("delivered", .integer(counts.delivered)), .init("repeated", .integer(counts.repeated)),
            .init("late", .integer(counts.late)), .init("answer_p50_us", .number(times.answerP50)),
            .init("answer_p99_us", .number(times.answerP99)), .init("arrival_p50_us", .number(times.p50)),
            .init("arrival_p99_us", .number(times.p99)),
        ])
    }

    /// The progress line for people.
    var line: String {
        let columns = [
            "\(Figure.padLeft(Figure.fixed(seconds / 60, 1), 6)) min",
            "\(Figure.padLeft(Figure.fixed(Double(residentKiB) / 1_024, 1), 6)) MiB",
            "down \(Figure.whole(down.delivered)) p99 \(Figure.duration(downTimes.p99))",
            "up \(Figure.whole(up.delivered)) p99 \(Figure.duration(upTimes.p99))",
            "pending \(Figure.whole(pending))", "late \(Figure.whole(down.late + up.late))",
            "devices \(Figure.whole(devices))", "descriptors \(Figure.whole(descriptors))",
            "store \(Figure.whole(Double(storeBytes) / 1e6)) MB",
            "server \(Figure.whole(serverLoad * 100)) %",
        ]
        return columns.joined(separator: ", ")
    }
}
