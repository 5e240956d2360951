import Foundation
import Testing

/// The metrics of a real daemon: their numbers agree with what was sent, also while they are read under load.
@Suite("Metrics", .serialized)
struct MetricsTests {
    static let promtool = URL(fileURLWithPath: "/usr/bin/promtool")
    static var hasPromtool: Bool { FileManager.default.isExecutableFile(atPath: promtool.path) }

    /// The lines of a page by series.
    struct Page {
        var values: [String: Double] = [:]
        var text = ""

        init(_ answer: String) throws {
            guard answer.hasPrefix("HTTP/1.1 200"), let body = answer.range(of: "\r\n\r\n") else {
                throw HarnessFailure("no metrics: \(answer.prefix(200))")
            }
            text = String(answer[body.upperBound...])
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                guard let space = line.lastIndex(of: " "),
                    let value = Double(line[line.index(after: space)...])
                else { throw HarnessFailure("invalid line: \(line)") }
                values[String(line[..<space])] = value
            }
        }

        subscript(series: String) -> Double { values[series] ?? -1 }

        /// The histograms whose last bucket differs from their count, or whose buckets fall.
        var inconsistent: [String] {
            values.keys.filter { $0.contains("_bucket{") && $0.contains("le=\"+Inf\"") }.filter { series in
                let name = series.replacingOccurrences(of: "_bucket{", with: "_count{")
                    .replacingOccurrences(of: ",le=\"+Inf\"", with: "")
                    .replacingOccurrences(of: "{le=\"+Inf\"}", with: "")
                return values[name] != values[series]
            }
        }
    }

    private func page(_ port: Int) throws -> Page {
        try Page(PlainHTTP.get("/metrics", port: UInt16(port)))
    }

    /// Reads pages on another thread until it is stopped, and remembers each counter that has fallen.
    private final class Scraper: @unchecked Sendable {
        private let lock = NSLock()
        private var isStopping = false
        private var pages = 0
        private var faults: [String] = []
        private let ended = DispatchSemaphore(value: 0)

        init(port: Int) {
            Thread.detachNewThread { [self] in
                var last: [String: Double] = [:]
                while !lock.withLock({ isStopping }) {
                    do {
                        let page = try Page(PlainHTTP.get("/metrics", port: UInt16(port)))
                        // The shards are not read at one instant, but no counter may fall.
                        let fallen = last.filter { series, value in
                            (series.contains("_total") || series.contains("_bucket"))
                                && page.values[series] ?? 0 < value
                        }
                        lock.withLock {
                            pages += 1
                            faults += fallen.map { "\($0.key) fell from \($0.value)" }
                        }
                        last = page.values
                    } catch { lock.withLock { faults.append("\(error)") } }
                    usleep(10_000)
                }
                ended.signal()
            }
        }

        func stop() -> (pages: Int, faults: [String]) {
            lock.withLock { isStopping = true }
            ended.wait()
            return (pages, faults)
        }
    }

    @Test("counts and histograms agree with the messages sent while the metrics are read")
    func numbers() throws {
        let start = Date()
        let port = try RunningDaemon.freePort()
        let daemon = try RunningDaemon(flags: ["--admin-port", "\(port)"], reactors: 2)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try TestAppServer(daemon, sender: sender)
        let scraper = Scraper(port: port)
        let (down, up, refused) = (200, 20, 5)
        for number in 1...down {
            #expect(try server.send("d-\(number)", to: device.token) == "ACK")
            if number % 20 == 0 { try device.expectMessage { $0["id"] == "d-\(number)" } }
        }
        for number in 1...up {
            device.send(id: "u-\(number)", pairs: [("n", "\(number)")])
            try device.expectStored("u-\(number)")
            try server.expectUpstream("u-\(number)")
        }
        for number in 1...refused {
            #expect(try server.send("r-\(number)", to: "nonsense") == "BAD_REGISTRATION")
        }
        try device.heartbeat()
        let scraped = scraper.stop()
        #expect(scraped.pages > 1 && scraped.faults == [], "\(scraped)")
        func own(_ direction: String, _ milestone: String) -> String {
            "ccs_sender_messages_total{sender=\"\(sender.id)\",direction=\"\(direction)\",milestone=\"\(milestone)\"}"
        }
        try eventually("all messages are delivered in both directions") {
            let page = try self.page(port)
            return page["ccs_messages_waiting{direction=\"downstream\"}"] == 0
                && page[own("upstream", "delivered")] == Double(up)
                // Counted every two seconds.
                && page["ccs_devices"] == 1 && page["ccs_registrations"] == 1
        }
        let page = try self.page(port)
        for (series, expected) in [
            ("ccs_messages_total{direction=\"downstream\",milestone=\"accepted\"}", down),
            ("ccs_messages_total{direction=\"downstream\",milestone=\"delivered\"}", down),
            ("ccs_ack_seconds_count{direction=\"downstream\"}", down),
            ("ccs_ack_seconds_count{direction=\"upstream\"}", up), ("ccs_delivery_seconds_count", down),
            (own("downstream", "accepted"), down), (own("downstream", "delivered"), down),
            (own("downstream", "refused"), refused), (own("upstream", "accepted"), up),
            (own("upstream", "delivered"), up), ("ccs_senders", 1), ("ccs_devices", 1),
            ("ccs_registrations", 1), ("ccs_ready", 1), ("ccs_store_healthy", 1),
            ("ccs_build_info{version=\"0.1.0\"}", 1),
            ("ccs_http_request_seconds_count{endpoint=\"POST /checkin\",class=\"2xx\"}", 1),
        ] { #expect(page[series] == Double(expected), "\(series)") }
        #expect(page.inconsistent == [])
        let seconds = -start.timeIntervalSinceNow
        for histogram in ["ccs_ack_seconds", "ccs_delivery_seconds", "ccs_store_sync_seconds"] {
            let sum = page.values.filter { $0.key.hasPrefix("\(histogram)_sum") }.values.reduce(0, +)
            // The device acknowledges several messages at once, so their times overlap.
            let most = histogram == "ccs_delivery_seconds" ? seconds * Double(down) : seconds
            #expect(sum > 0 && sum < most, "\(histogram): \(sum) of \(most) s")
        }
        try checkProcess(page, daemon, port, since: start)
    }

    @Test("the counters agree with the audit after each kind of ending")
    func audited() throws {
        let daemon = try RunningDaemon(flags: ["--admin-port", "0"], reactors: 2)
        let port = try daemon.port("admin")
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try TestAppServer(daemon, sender: sender)
        for number in 1...3 {
            #expect(try server.send("d-\(number)", to: device.token) == "ACK")
            try device.expectMessage { $0["id"] == "d-\(number)" }
            device.send(id: "u-\(number)", pairs: [("n", "\(number)")])
            try device.expectStored("u-\(number)")
            try server.expectUpstream("u-\(number)")
        }
        try device.heartbeat()
        device.stop()
        func send(_ words: String...) throws {
            _ = try Tool.run(
                "ccsctl",
                ["--socket", daemon.controlSocket, "--json", "send", sender.id, device.token, "n=1"] + words)
        }
        for _ in 0..<2 { try send("--collapse-key", "k") }
        for _ in 0..<4 { try send("--time-to-live", "1") }
        try send("--time-to-live", "600")
        func audit(_ direction: String, _ name: String) throws -> Int {
            (try daemon.ctl("audit")[direction] as? [String: Any])?[name] as? Int ?? -1
        }
        try eventually("messages expire", seconds: Patience.seconds) {
            try audit("downstream", "expired") == 4
        }
        try device.unregister(daemon)
        try eventually("messages are removed") { try audit("downstream", "removed") == 2 }
        #expect(try audit("downstream", "replaced") == 1 && audit("downstream", "delivered") == 3)
        #expect(try audit("upstream", "delivered") == 3)
        let page = try self.page(port)
        let endings = ["accepted", "delivered", "forwarded", "replaced", "expired", "discarded", "removed"]
        for direction in ["downstream", "upstream"] {
            for name in endings {
                let series = "ccs_messages_total{direction=\"\(direction)\",milestone=\"\(name)\"}"
                #expect(page[series] == Double(try audit(direction, name)), "\(series)")
            }
        }
    }

    /// Compares the figures of the process with those of the kernel.
    private func checkProcess(_ page: Page, _ daemon: RunningDaemon, _ port: Int, since start: Date) throws {
        let pages = try String(contentsOfFile: "/proc/\(daemon.pid)/statm", encoding: .utf8)
            .split(separator: " ").compactMap { Double($0) }
        #expect(abs(page["process_resident_memory_bytes"] / (pages[1] * 4_096) - 1) < 0.5)
        #expect(abs(page["process_virtual_memory_bytes"] / (pages[0] * 4_096) - 1) < 0.5)
        #expect(abs(page["process_start_time_seconds"] - start.timeIntervalSince1970) < 60)
        let cpu = page["process_cpu_seconds_total"]
        #expect(cpu > 0 && cpu < 8 * -start.timeIntervalSinceNow)
        try eventually("the number of descriptors is that of the kernel") {
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon.pid)/fd").count
            return try abs(self.page(port)["process_open_fds"] - Double(open)) <= 5
        }
        #expect(page["process_max_fds"] >= page["process_open_fds"])
        #expect(page["ccs_store_bytes"] > 0 && page["ccs_store_bytes"] >= page["ccs_journal_bytes"])
        #expect(page["ccs_disk_free_bytes"] > 0 && page["ccs_disk_size_bytes"] > page["ccs_disk_free_bytes"])
    }

    @Test(
        "promtool finds nothing to improve in the metrics of a daemon",
        .enabled(if: hasPromtool, "run Scripts/bootstrap --tests first"))
    func promtool() throws {
        let port = try RunningDaemon.freePort()
        let daemon = try RunningDaemon(flags: ["--admin-port", "\(port)"])
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try TestAppServer(daemon, sender: sender)
        #expect(try server.send("m-1", to: device.token) == "ACK")
        let checked = try Tool.run(Self.promtool, ["check", "metrics"], input: page(port).text)
        #expect(checked.code == 0 && checked.output == "" && checked.errors == "", "\(checked)")
    }

    @Test("messages that wait are counted")
    func waiting() throws {
        let port = try RunningDaemon.freePort()
        let daemon = try RunningDaemon(flags: ["--admin-port", "\(port)"])
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        device.stop()
        let server = try TestAppServer(daemon, sender: sender)
        for number in 1...7 { #expect(try server.send("m-\(number)", to: device.token) == "ACK") }
        try eventually("seven messages wait") {
            try self.page(port)["ccs_messages_waiting{direction=\"downstream\"}"] == 7
        }
        let page = try self.page(port)
        #expect(page["ccs_delivery_seconds_count"] == 0)
    }

    @Test("the admin port listens on admin_address, and outside of loopback only if that is set")
    func address() throws {
        let port = try RunningDaemon.freePort()
        let daemon = try RunningDaemon(flags: ["--admin-port", "\(port)", "--admin-address", "127.0.0.5"])
        #expect(throws: HarnessFailure.self, "not on 127.0.0.1") {
            try PlainHTTP.get("/healthz", port: UInt16(port))
        }
        let curl = URL(fileURLWithPath: "/usr/bin/curl")
        for (path, expected) in [("healthz", "ok"), ("readyz", "ready"), ("metrics", "ccs_ready 1")] {
            let tool = try Tool.run(curl, ["--silent", "http://127.0.0.5:\(port)/\(path)"])
            #expect(tool.code == 0 && tool.output.contains(expected), "\(path): \(tool)")
        }
        let scratch = try Scratch()
        let flags = [
            "--data-directory", scratch.url.path, "--admin-port", "\(port)", "--admin-address", "0.0.0.0",
        ]
        let refused = try Tool.run("ccsd", flags + RunningDaemon.noPorts)
        #expect(refused.code == 78, "\(refused)")
        #expect(
            refused.errors.contains("--admin-address: 0.0.0.0 is outside of loopback")
                && refused.errors.contains("admin_plain_http"), "\(refused)")
        withExtendedLifetime(daemon) {}
    }

    @Test("canary: a page whose histogram does not add up is found")
    func canary() throws {
        let lines = "a_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 3\na_sum 1\na_count 4\n"
        let page = try Page("HTTP/1.1 200 OK\r\n\r\n" + lines)
        #expect(page.inconsistent == ["a_bucket{le=\"+Inf\"}"])
        #expect(throws: HarnessFailure.self) { try Page("HTTP/1.1 503 No\r\n\r\n") }
        #expect(throws: HarnessFailure.self) { try Page("HTTP/1.1 200 OK\r\n\r\na one\n") }
    }
}
