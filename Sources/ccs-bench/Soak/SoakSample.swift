import Wire

/// What was seen of the soak at one moment, or since the one before.
struct SoakSample: Equatable {
    /// Latencies of one direction since the sample before, in microseconds from the time at which a message was due: its answer,
    /// and its arrival. Those whose device was away meanwhile are not in them.
    struct Times: Equatable {
        var answerP50 = 0.0
        var answerP99 = 0.0
        var p50 = 0.0
        var p99 = 0.0
    }

    /// Counts of one direction since the begin.
    struct Counts: Equatable {
        var sent = 0
        var accepted = 0
        var delivered = 0
        var repeated = 0
        /// Messages that were due and that no connection had room for yet.
        var late = 0
    }

    /// Seconds since the begin.
    var seconds = 0.0
    /// The daemon's resident memory.
    var residentKiB = 0
    /// The daemon's descriptors, and how many of them are sockets.
    var descriptors = 0
    var sockets = 0
    /// Shares of one processor that daemon and generator used.
    var serverLoad = 0.0
    var ownLoad = 0.0
    var downTimes = Times()
    var upTimes = Times()
    /// From a device's coming back, handshake and login included, to the arrival of what had waited for it.
    var fetchP99 = 0.0
    /// How late the generator was.
    var lagP99 = 0.0
    var down = Counts()
    var up = Counts()
    /// Bytes of the store's files.
    var storeBytes = 0
    /// Devices that are logged in, and logins so far.
    var devices = 0
    var logins = 0

    /// Messages that were accepted and have not arrived.
    var pending: Int { down.accepted - down.delivered + up.accepted - up.delivered }

    /// For programs.
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

    /// One line for people who watch.
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
