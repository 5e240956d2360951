import Testing

@testable import Basics

@Suite struct MetricsTests {
    static func text(_ metrics: Metrics) -> String {
        var buffer = ByteBuffer()
        metrics.render(to: &buffer)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }

    @Test("the metrics table is in the order of the cases, and its names follow the rules")
    func table() {
        #expect(Metric.rows.map(\.metric) == Metric.allCases)
        #expect(Set(Metric.rows.map(\.name)).count == Metric.rows.count)
        for metric in Metric.allCases {
            #expect(metric.name.hasPrefix("ccs_") || metric.name.hasPrefix("process_"))
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
            #expect(metric.help.hasSuffix(".") && (metric.labels.count <= 2 || !metric.isListed))
            #expect(metric.bounds.isEmpty == (metric.kind != .histogram), "\(metric.name)")
            #expect(zip(metric.bounds, metric.bounds.dropFirst()).allSatisfy { $0 < $1 }, "\(metric.name)")
            for label in metric.labels { #expect(Set(label.values).count == label.values.count) }
        }
    }

    @Test("a metric is the sum of its shards, and cells do not overlap")
    func sums() {
        let metrics = Metrics(shards: 3)
        var expected = 0
        let plain = Metric.allCases.filter { $0.isListed && !$0.isMicroseconds }
        for metric in plain {
            let second = metric.labels.count > 1 ? metric.labels[1].values.count : 1
            for cell in 0..<metric.cells {
                expected += 1
                metrics.shards[expected % 3].add(expected, to: metric, cell / second, cell % second)
                metrics.shards[0].add(1, to: metric, cell / second, cell % second)
            }
        }
        var seen = 0
        let others = Metric.allCases.filter { !plain.contains($0) }.map(\.name)
        for line in Self.text(metrics).split(separator: "\n")
        where !line.hasPrefix("#") && !others.contains(where: { line.hasPrefix($0) }) {
            seen += 1
            #expect(line.hasSuffix(" \(seen + 1)"), "\(line)")
        }
        #expect(seen == expected)
    }

    @Test("rendered metrics have the Prometheus text format")
    func rendering() {
        let metrics = Metrics(shards: 2)
        metrics.shards[1].add(7, to: .messages, 1, 3)
        metrics.shards[0].set(.draining, to: 1)
        metrics.shards[0].add(to: .connectionsClosed, CloseReason.slowConsumer.position)
        metrics.shards[1].add(3, to: .connectionsRefused, 2, ConnectionRefusal.addressFull.position)
        let text = Self.text(metrics)
        #expect(
            text.contains(
                "# HELP ccs_messages_total Messages that reached a milestone.\n# TYPE ccs_messages_total counter\n"
            ))
        #expect(text.contains("\nccs_messages_total{direction=\"upstream\",milestone=\"delivered\"} 7\n"))
        #expect(text.contains("\nccs_draining 1\n"))
        #expect(text.contains("\nccs_connections_closed_total{reason=\"slow_consumer\"} 1\n"))
        #expect(
            text.contains(
                "\nccs_connections_refused_total{listener=\"device\",reason=\"address_full\"} 3\n"))
        #expect(metrics.value(.messages, 1, 3) == 7)
        let helps = text.split(separator: "\n").filter { $0.hasPrefix("# HELP") }
        #expect(helps.count == Metric.allCases.count)
    }

    @Test("a histogram counts durations up to each bound, and adds them up")
    func histogram() {
        let metrics = Metrics(shards: 2)
        metrics.shards[0].observe(microseconds: 0, in: .apnsAnswerTimes, 1)
        metrics.shards[1].observe(microseconds: 5_000, in: .apnsAnswerTimes, 1)
        metrics.shards[1].observe(microseconds: 5_001, in: .apnsAnswerTimes, 1)
        metrics.shards[1].observe(microseconds: 10_000_001, in: .apnsAnswerTimes, 1)
        let name = Metric.apnsAnswerTimes.name
        let lines = Self.text(metrics).split(separator: "\n").filter { $0.contains(name) }
        #expect(lines[1] == "# TYPE \(name) histogram")
        let bounds = [
            "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf",
        ]
        func expected(_ environment: String, _ counts: [Int], _ sum: String) -> [String] {
            zip(bounds, counts).map {
                "\(name)_bucket{environment=\"\(environment)\",le=\"\($0)\"} \($1)"
            } + [
                "\(name)_sum{environment=\"\(environment)\"} \(sum)",
                "\(name)_count{environment=\"\(environment)\"} \(counts.last ?? -1)",
            ]
        }
        let own = [2] + Array(repeating: 3, count: 10) + [4]
        #expect(
            lines.dropFirst(2).map(String.init)
                == expected("production", Array(repeating: 0, count: 12), "0")
                + expected("sandbox", own, "10.010002"))
    }

    @Test("a histogram with two labels keeps its series apart, and leaves out those without durations")
    func twoLabels() {
        let metrics = Metrics(shards: 1)
        let endpoint = Metric.httpEndpoints.firstIndex(of: "POST /fcm/send") ?? 0
        metrics.shards[0].observe(microseconds: 6_000, in: .httpTimes, endpoint, 1, count: 3)
        metrics.shards[0].observe(microseconds: 1, in: .httpTimes, endpoint, 2)
        let lines = Self.text(metrics).split(separator: "\n").filter {
            $0.hasPrefix("ccs_http_request_seconds")
        }
        #expect(lines.count == 2 * (Metric.httpTimes.bounds.count + 3))
        let labels = "endpoint=\"POST /fcm/send\",class=\"4xx\""
        #expect(lines.contains("ccs_http_request_seconds_bucket{\(labels),le=\"0.005\"} 0"))
        #expect(lines.contains("ccs_http_request_seconds_bucket{\(labels),le=\"0.01\"} 3"))
        #expect(lines.contains("ccs_http_request_seconds_sum{\(labels)} 0.018"))
        #expect(lines.contains("ccs_http_request_seconds_count{\(labels)} 3"))
        #expect(!lines.contains { $0.contains("2xx") })
    }

    @Test("microseconds are rendered as seconds, and series that are not in the table with escaped labels")
    func rendered() {
        let metrics = Metrics(shards: 1)
        metrics.shards[0].set(.processCPU, to: 1_250_000)
        var buffer = ByteBuffer()
        metrics.render(
            [
                MetricSeries(.buildInfo, labels: ["1\"\\\n"], 1),
                MetricSeries(.senderMessages, labels: ["5", "downstream", "accepted"], 9),
            ], to: &buffer)
        let text = String(decoding: buffer.copied(), as: UTF8.self)
        #expect(text.contains("\nprocess_cpu_seconds_total 1.25\n"))
        #expect(text.contains("\nccs_build_info{version=\"1\\\"\\\\\\n\"} 1\n"))
        #expect(
            text.contains(
                "# TYPE ccs_sender_messages_total counter\nccs_sender_messages_total{sender=\"5\",direction=\"downstream\",milestone=\"accepted\"} 9\n"
            ))
    }

    @Test("start times of one turn share an entry, and end with the same reading of the clock")
    func startTimes() {
        func at(_ milliseconds: Int64) -> Instant {
            Instant(nanoseconds: 0).advanced(milliseconds: milliseconds)
        }
        var times = StartTimes()
        #expect(times.isEmpty)
        times.add(at(5))
        times.add(at(5), count: 2)
        var others = StartTimes()
        others.add(at(7))
        others.add(at(90))
        times.move(from: &others)
        #expect(others.isEmpty)
        let shard = MetricShard()
        shard.observe(&times, until: at(10), in: .ackTimes, 1)
        #expect(times.isEmpty)
        let bounds = Metric.ackTimes.bounds
        let counts = (0...bounds.count).map { shard.value(.ackTimes, 1, $0) }
        #expect(counts.reduce(0, +) == 5)
        #expect(bounds.firstIndex(of: 5_000).map { counts[$0] } == 4, "three of 5 ms and one of 3 ms")
        #expect(counts[0] == 1, "a start after the end counts as 0")
        #expect(shard.value(.ackTimes, 1, bounds.count + 1) == 3 * 5_000 + 3_000)
    }

    @Test("each refusal is a value of the label in its position")
    func refusals() {
        let all: [Refusal] =
            [
                .missingTarget, .wrongType(field: "", expected: "", found: ""),
                .outOfRange(field: "", value: "", lowest: 0, highest: 0),
                .notAllowed(field: "", value: "", allowed: ""),
                .tooLarge(field: "", bytes: 0, limit: 0), .reservedKey(""), .conflict(field: "", reason: ""),
                .repeatedMessageID, .badAck(.missing(field: "")), .invalidToken, .senderMismatch,
                .notRegistered,
                .packageMismatch, .senderSuspended,
                .deviceRateExceeded, .senderRateExceeded, .topicRateExceeded, .unavailable, .storeDamaged,
                .internalError,
                .draining, .unknownMessage, .messageSent, .scheduleFull(.device),
            ] + APNsRefusal.Kind.allCases.map { .apns(APNsRefusal($0)) }
        #expect(all.map(\.word) == Metric.refusalWords)
        #expect(all.map(\.position) == Array(all.indices))
        let reasons =
            all.map { RefusalReason.refusal($0) }
            + [.malformed, .unauthorized, .tooManyUnauthenticated, .registryFull]
        #expect(reasons.map(\.word) == Metric.refusalReasons)
        #expect(reasons.map(\.position) == Array(reasons.indices))
    }

    @Test("a metric omits zeros when it has hundreds of cells, and shows all cells otherwise")
    func manyCells() {
        let metrics = Metrics(shards: 2)
        metrics.shards[1].add(
            4, to: .httpResponses, Metric.httpEndpoints.firstIndex(of: "POST /fcm/send") ?? 0,
            Metric.httpStatuses.firstIndex(of: 401) ?? 0)
        let lines = Self.text(metrics).split(separator: "\n")
        #expect(
            lines.filter { $0.hasPrefix("ccs_http_responses_total") } == [
                "ccs_http_responses_total{endpoint=\"POST /fcm/send\",status=\"401\"} 4"
            ])
        #expect(
            lines.count { $0.hasPrefix("ccs_refusals_total{interface=\"xmpp\"") }
                == Metric.refusalReasons.count)
    }

    @Test("a counter loses nothing when many threads add to it")
    func threads() async {
        let metrics = Metrics(shards: 1)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<1_000 { metrics.shards[0].add(to: .keepalives) } } }
        }
        #expect(metrics.value(.keepalives) == 8_000)
    }

    @Test("canary: an untouched cell stays zero")
    func canary() {
        let metrics = Metrics(shards: 1)
        metrics.shards[0].add(to: .messages, 0, 1)
        #expect(metrics.value(.messages, 0, 0) == 0 && metrics.value(.messages, 0, 1) == 1)
    }
}
