import Basics
import Foundation
import Operator
import Testing
import Wire

/// What attackers may try at the operator API.
@Suite("Attacks on the operator API", .serialized)
struct OperatorAPIAttackTests {
    @Test("without a valid token nothing is shown or changed, whatever the path")
    func anonymous() throws {
        let bench = try OperatorAPIBench()
        let alice = bench.tokens["alice"] ?? ""
        let tries: [[String: String]] = [
            [:], ["Authorization": "Bearer ccso_AAAA"], ["Authorization": "Basic YTpi"],
            ["Authorization": "Bearer \(alice)x"], ["Authorization": "Bearer \(alice.dropLast())"],
            ["Authorization": "key=\(alice)"], ["Cookie": "ccsd_session=\(alice)"],
            ["Cookie": "ccsd_session="], ["X-Forwarded-User": "alice"],
        ]
        for headers in tries {
            for path in [
                "/operator/v1/status", "/operator/v1/nothing", "/operator/v1/openapi.json",
                "/operator/v1/session",
            ] {
                let answer = try bench.ask("GET", path, as: nil, headers)
                #expect([401, 429].contains(answer.status), "\(headers) \(path): \(answer)")
                #expect(answer.json.members?.map(\.key) == ["title", "status", "detail", "hint"])
            }
        }
        let log = bench.daemon.words
        #expect(log.contains("event=login_refused listener=admin"))
        #expect(!log.contains(alice))
        #expect(try bench.daemon.ctl("senders", "list")["senders"].debugDescription.contains("first"))
    }

    @Test("a viewer can call no command of an operator, and every one that only reads")
    func roles() throws {
        let bench = try OperatorAPIBench()
        for route in OperatorRoute.all {
            let summary = route.operation.summary
            let path = route.path.replacing(/\{[a-z_]+\}/, with: "5")
            let answer = try bench.ask(route.method.rawValue, path, as: "victor")
            if summary.role == .operator {
                #expect(answer.status == 403, "\(summary.name): \(answer)")
            } else {
                #expect([200, 400, 409].contains(answer.status), "\(summary.name): \(answer)")
            }
        }
        let entries =
            try bench.daemon.ctl("audit-log", "--user", "victor", "--failed", "--limit", "1000")["entries"]
            as? [[String: Any]]
        #expect(entries?.contains { $0["command"] as? String == "senders remove" } == true)
    }

    @Test("a token ends with its time, and at once with its operator, which ends streams too")
    func revocation() throws {
        let bench = try OperatorAPIBench()
        try bench.add("brief", role: "viewer", "--expires", "5s")
        #expect(try bench.ask("GET", "/operator/v1/status", as: "brief").status == 200)
        let console = try bench.console()
        try console.command(["do": "login"])
        #expect(try console.expect(event: "answer")["status"] as? Int == 200)
        try console.command(["do": "stream", "path": "/top/stream"])
        #expect(try console.expect(event: "answer")["status"] as? Int == 200)
        #expect(try console.expect(event: "event")["name"] as? String == "figures")
        try eventually("the token has expired") {
            (try? bench.ask("GET", "/operator/v1/status", as: "brief").status) == 401
        }
        _ = try bench.daemon.ctl("operators", "remove", "alice", "--yes")
        try console.expect(event: "ended")
        try console.command(["do": "ask", "method": "GET", "path": "/session"])
        #expect(try console.expect(event: "answer")["status"] as? Int == 401)
        #expect(try bench.ask("GET", "/operator/v1/status").status == 401)
        #expect(
            try bench.daemon.ctl("status")["connections"].debugDescription.contains("credentials_revoked"))
        // The name may be used again, and the old token stays invalid.
        let old = bench.tokens["alice"] ?? ""
        try bench.add("alice", role: "operator")
        #expect(
            try bench.ask("GET", "/operator/v1/status", as: nil, ["Authorization": "Bearer \(old)"]).status
                == 401)
        #expect(try bench.ask("GET", "/operator/v1/status").status == 200)
    }

    @Test("a session is safe from other sites, and ends with a logout")
    func sessions() throws {
        let bench = try OperatorAPIBench()
        let console = try bench.console()
        func ask(
            _ method: String, _ path: String, _ headers: [String: String] = [:], json: [String: Any]? = nil
        ) throws
            -> [String: Any]
        {
            var command: [String: Any] = ["do": "ask", "method": method, "path": path, "headers": headers]
            if let json { command["json"] = json }
            try console.command(command)
            return try console.expect(event: "answer")
        }
        try console.command(["do": "login"])
        let login = try console.expect(event: "answer")
        let cookie = try #require(login["cookie"] as? String)
        let name = try #require(cookie.split(separator: "=").first)
        #expect(
            name.hasPrefix("__Host-ccsd_session_") && name.count >= 36,
            "browsers share cookies among ports: \(name)"
        )
        for flag in ["Secure", "HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="] {
            #expect(cookie.contains(flag))
        }
        #expect(!cookie.contains("Domain") && !cookie.contains(bench.tokens["alice"] ?? "-"))
        let own = "https://localhost:\(bench.port)"
        let change = ["X-CCSD-Request": "1"]
        #expect(try ask("GET", "/senders")["status"] as? Int == 200)
        #expect(try ask("POST", "/senders", json: ["label": "csrf"])["status"] as? Int == 403)
        let foreign = change.merging(["Origin": "https://evil.example"]) { $1 }
        #expect(try ask("POST", "/senders", foreign, json: ["label": "csrf"])["status"] as? Int == 403)
        #expect(
            try ask(
                "POST", "/senders", change.merging(["Sec-Fetch-Site": "cross-site"]) { $1 },
                json: ["label": "csrf"])["status"] as? Int == 403)
        #expect(try ask("GET", "/senders", ["Origin": "null"])["status"] as? Int == 403)
        let senders = try bench.daemon.ctl("senders", "list").debugDescription
        #expect(!senders.contains("csrf"))
        #expect(
            try ask("POST", "/senders", change.merging(["Origin": own]) { $1 }, json: ["label": "mine"])[
                "status"] as? Int == 200)
        #expect(try bench.daemon.ctl("operators", "list").debugDescription.contains("sessions"))
        #expect(try ask("POST", "/session", change)["status"] as? Int == 400, "a session opens no other one")
        #expect(try ask("DELETE", "/session", change)["status"] as? Int == 200)
        #expect(try ask("GET", "/senders")["status"] as? Int == 401)
        let value = try #require(cookie.split(separator: ";").first)
        #expect(
            try bench.ask("GET", "/operator/v1/senders", as: nil, ["Cookie": String(value)]).status == 401,
            "replayed")
        let preflight = try bench.ask(
            "OPTIONS", "/operator/v1/senders", as: nil,
            ["Origin": "https://evil.example", "Access-Control-Request-Method": "POST"])
        #expect(preflight.status == 401 && !preflight.head.lowercased().contains("access-control-allow"))
    }

    @Test("31 wrong tokens in a minute stop the guessing, and leave valid tokens and sessions alone")
    func guessing() throws {
        let bench = try OperatorAPIBench()
        let console = try bench.console()
        try console.command(["do": "login"])
        try console.expect(event: "answer")
        var statuses: [Int] = []
        for number in 0..<31 {
            statuses.append(
                try bench.ask(
                    "GET", "/operator/v1/status", as: nil, ["Authorization": "Bearer ccso_\(number)"]
                ).status)
        }
        #expect(statuses == Array(repeating: 401, count: 30) + [429])
        let refused = try bench.ask(
            "GET", "/operator/v1/status", as: nil, ["Authorization": "Bearer ccso_32"])
        #expect(refused.status == 429 && refused.head.contains("Retry-After: 60"), "\(refused)")
        for name in ["alice", "victor"] {
            let valid = try bench.ask("GET", "/operator/v1/status", as: name)
            #expect(valid.status == 200, "from the same address: \(valid)")
        }
        try console.command(["do": "ask", "method": "GET", "path": "/status"])
        #expect(try console.expect(event: "answer")["status"] as? Int == 200)
    }

    @Test("a name that was rebound to this server by DNS reads nothing, and / leads to the console")
    func hosts() throws {
        let bench = try OperatorAPIBench()
        for path in ["/metrics", "/healthz", "/operator/v1/status", "/console/", "/"] {
            let answer = try bench.ask("GET", path, ["Host": "evil.example:\(bench.port)"])
            #expect(answer.status == 421, "\(path): \(answer)")
            #expect(answer.json.text?.contains("host_names") == true, "\(answer)")
        }
        for host in ["localhost", "127.0.0.1:1", "[::1]:\(bench.port)"] {
            #expect(try bench.ask("GET", "/metrics", ["Host": host]).status == 200)
        }
        let start = try bench.ask("GET", "/", as: nil)
        #expect(start.status == 307 && start.head.contains("Location: /console/"), "\(start)")
    }

    @Test("paths do not leave the API, and no body is read beyond the limits")
    func paths() throws {
        let bench = try OperatorAPIBench()
        for path in [
            "/operator/v1/../../etc/passwd", "/operator/v1/%2e%2e/%2e%2e/etc/passwd",
            "/operator/v1/..%2f..%2fetc%2fpasswd",
            "/operator/v1/devices/../status", "/operator/v1//status", "/operator/v1/status/",
            "/operator/v1/status%00",
            "/operator/v1",
        ] {
            #expect(try bench.ask("GET", path).status == 404, "\(path)")
        }
        for device in ["..%2f..%2fetc", "%00"] {
            let answer = try bench.ask("GET", "/operator/v1/devices/\(device)")
            #expect(answer.status == 400 && answer.json["field"]?.text == "device", "no token: \(answer)")
        }
        #expect(try bench.ask("GET", "/operator/v1/senders%zz").status == 400)
        let long = "{\"rows\":[" + String(repeating: " ", count: 500_000) + "]}"
        #expect(try bench.ask("POST", "/operator/v1/import", body: long).status == 200, "an operator's")
        let start = Date()
        let anonymous = try bench.ask("POST", "/operator/v1/import", as: nil, body: long)
        #expect(anonymous.status == 413 && start.timeIntervalSinceNow > -10, "\(anonymous)")
        #expect(
            try bench.ask("POST", "/operator/v1/import", as: nil, ["Authorization": "Bearer x"], body: long)
                .status == 413)
        let tooLong = String(repeating: " ", count: 1_048_577)
        #expect(try bench.ask("POST", "/operator/v1/import", body: tooLong).status == 413)
        #expect(try bench.daemon.ctl("status")["connections"].debugDescription.contains("too_large"))
    }

    @Test("a reader that does not read is closed with a named reason, and delays no other caller")
    func slowReader() throws {
        let bench = try OperatorAPIBench()
        let console = try bench.console()
        try console.command(["do": "stall", "path": "/openapi.json", "count": 80, "seconds": 40])
        #expect(try bench.ask("GET", "/operator/v1/status").status == 200)
        let stalled = try console.expect("the stalled connection", seconds: 120) {
            $0["event"] as? String == "stalled"
        }
        #expect((stalled["received"] as? Int ?? 0) < 80 * 140_000, "\(stalled)")
        #expect(try bench.daemon.ctl("status")["connections"].debugDescription.contains("slow_consumer"))
    }

    /// Sends the same request many times at once with curl, which gives up after a time. Returns the statuses, 0 for those without one.
    private func statuses(
        _ bench: OperatorAPIBench, _ path: String, as name: String, count: Int, seconds: Int
    ) throws -> [Int: Int] {
        let url = "https://localhost:\(bench.port)\(path)"
        let tool = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/curl"),
            [
                "--silent", "--cacert", bench.daemon.authority, "--max-time", "\(seconds)", "--parallel",
                "--parallel-immediate", "--parallel-max", "\(count)", "--write-out",
                "\nstatus=%{http_code}\n",
                "--header", "Authorization: Bearer \(bench.tokens[name] ?? "")",
            ] + Array(repeating: url, count: count))
        let found = tool.output.split(separator: "\n").compactMap { line in
            line.hasPrefix("status=") ? Int(line.dropFirst("status=".count)) : nil
        }
        return Dictionary(grouping: found) { $0 }.mapValues(\.count)
    }

    @Test("three viewers that open all streams they can leave places for the status of operators and viewers")
    func viewers() throws {
        let bench = try OperatorAPIBench()
        var taken: [String: Int] = [:]
        let viewers = try ["vera", "vito", "vlad"].map { name in
            try bench.add(name, role: "viewer")
            return try bench.console(as: name)
        }
        for viewer in viewers {
            try viewer.command([
                "do": "hold", "path": "/top/stream", "count": Limits.OperatorAPI.commandsPerOperator,
            ])
            let found = try viewer.expect(event: "held")["statuses"] as? [String: Int] ?? [:]
            taken.merge(found, uniquingKeysWith: +)
        }
        let most = Limits.OperatorAPI.viewerStreams
        #expect(taken == ["200": most, "503": 3 * Limits.OperatorAPI.commandsPerOperator - most])
        #expect(try bench.ask("GET", "/operator/v1/status").status == 200)
        #expect(try bench.ask("GET", "/operator/v1/status", as: "victor").status == 200)
        let console = try bench.console()
        try console.command(["do": "login"])
        try console.expect(event: "answer")
        try console.command(["do": "stream", "path": "/top/stream", "events": 1])
        #expect(try console.expect(event: "answer")["status"] as? Int == 200, "an operator's stream")
        withExtendedLifetime(viewers) {}
    }

    @Test("one operator cannot take the places of all others with streams")
    func places() throws {
        let bench = try OperatorAPIBench()
        let most = Limits.OperatorAPI.commandsPerOperator
        let found = try statuses(bench, "/operator/v1/top/stream", as: "victor", count: most + 6, seconds: 10)
        #expect(found == [200: most, 503: 6], "\(found)")
        #expect(try bench.ask("GET", "/operator/v1/status").status == 200)
    }

    @Test("waits for messages end with the connections of their callers, and leave their places to others")
    func waits() throws {
        let bench = try OperatorAPIBench(flags: ["--test-bench"])
        let sender = try bench.daemon.firstSender.id
        let device = try bench.daemon.ctl("virtual-devices", "add", sender, "org.example.app")
        let id = try #require(device["device"] as? String)
        _ = try bench.daemon.ctl("recorders", "add", sender)
        let wait = Limits.TestBench.waitSeconds
        for path in ["virtual-devices/\(id)/messages", "recorders/\(sender)/messages"] {
            let path = "/operator/v1/\(path)?wait=\(wait)"
            let count = Limits.TestBench.waiting / 2 + 4
            let first = try statuses(bench, path, as: "alice", count: count, seconds: 3)
            #expect(first == [0: count], "canary: all of them wait: \(first)")
            try eventually("the next callers wait too", seconds: 30) {
                try statuses(bench, path, as: "alice", count: count, seconds: 3) == [0: count]
            }
        }
    }

    @Test("beyond loopback the API needs TLS, and without admin_port it is no API")
    func configuration() throws {
        let scratch = try Scratch()
        func run(_ flags: String...) throws -> Tool {
            try Tool.run(
                "ccsd",
                ["check", "--json", "--data-directory", scratch.url.path] + flags + RunningDaemon.noPorts)
        }
        let plain = try run(
            "--admin-port", "9100", "--admin-address", "0.0.0.0", "--operator-api", "--admin-plain-http")
        #expect(plain.code == 78 && plain.output.contains("operator_api needs TLS"), "\(plain)")
        let none = try run("--operator-api")
        #expect(none.code == 78 && none.output.contains("needs admin_port"), "\(none)")
        #expect(
            try run("--admin-port", "9100", "--admin-address", "0.0.0.0", "--operator-api", "--admin-tls")
                .code == 0)
        let off = try RunningDaemon(flags: ["--admin-port", "\(try RunningDaemon.freePort())"])
        #expect(
            try PlainHTTP.get("/operator/v1/status", port: UInt16(off.port("admin"))).hasPrefix(
                "HTTP/1.1 404"), "off by default"
        )
        withExtendedLifetime(off) {}
    }
}
