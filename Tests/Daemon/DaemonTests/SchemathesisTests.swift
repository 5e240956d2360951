import Client
import Foundation
import Testing
import Wire

/// Schemathesis 4.32 calls all operations of the OpenAPI document with valid and invalid requests, and validates every response.
@Suite(
    "Schemathesis", .serialized,
    .enabled(if: TestPaths.hasSchemathesis, "run Scripts/bootstrap --tests first"))
struct SchemathesisTests {
    /// The pages of the administrative port.
    private static let pages = "^/(healthz|readyz|metrics)$"
    /// Operations that always return 404: the server has no locations of accounts, and no message with an invented ID.
    private static let hopeless: Set = [
        "DELETE /v1/projects/{project}/registrations/{registration}/messages/{message}",
        "GET /v1/projects/{project}/serviceAccounts/{account}/allowedLocations",
    ]

    /// A daemon, and Schemathesis with the credentials that requests need to pass authentication.
    private final class Bench {
        let daemon: RunningDaemon
        let tool: Driver

        init(flags: [String] = []) throws {
            daemon = try RunningDaemon(flags: flags)
            let (sender, key) = try daemon.firstSender
            let keyFile = daemon.directory.appendingPathComponent("key.json").path
            _ = try daemon.ctl("service-accounts", "add", sender, "--out", keyFile)
            tool = try Driver(
                "schemathesis_run.py",
                [String(try daemon.port("https")), sender, keyFile, daemon.directory.path], secret: key,
                environment: ["REQUESTS_CA_BUNDLE": daemon.authority])
            try tool.expect(event: "ready", seconds: 60)
        }

        /// Runs Schemathesis. Returns its exit code, the count of each status by operation, and its output.
        func run(
            _ command: [String: Any]
        ) throws -> (code: Int?, statuses: [String: [String: Int]], text: String) {
            try tool.command(["do": "run"].merging(command) { $1 })
            let finished = try tool.expect(event: "finished", seconds: 3_600)
            return (
                finished["code"] as? Int, finished["statuses"] as? [String: [String: Int]] ?? [:],
                finished["text"] as? String ?? ""
            )
        }

        /// Writes a document to a file and returns its path.
        func file(_ document: [String: Any]) throws -> String {
            let path = daemon.directory.appendingPathComponent("\(UUID()).json")
            try JSONSerialization.data(withJSONObject: document).write(to: path)
            return path.path
        }
    }

    /// Returns the OpenAPI document that `ccsd openapi` prints.
    private static func document() throws -> (text: String, object: [String: Any]) {
        let tool = try Tool.run("ccsd", ["openapi"])
        return (tool.output, try #require(tool.object, "\(tool)"))
    }

    @Test("no request gets a 5xx status or an undeclared response")
    func services() throws {
        let environment = ProcessInfo.processInfo.environment
        let bench = try Bench()
        var command: [String: Any] = ["examples": 16, "exclude": Self.pages]
        // Scripts/schemathesis sends more requests, with another seed each time.
        if let examples = environment["CCS_SCHEMATHESIS_EXAMPLES"].flatMap({ Int($0) }) {
            let seed = environment["CCS_SCHEMATHESIS_SEED"].flatMap { Int($0) } ?? .random(in: 1...1_000_000)
            print("CCS_SCHEMATHESIS_SEED=\(seed)")
            command.merge(["examples": examples, "seed": seed]) { $1 }
        }
        let result = try bench.run(command)
        #expect(result.code == 0, "\(result.text)")
        #expect(result.statuses.count >= 37, "all operations are called: \(result.statuses.keys.sorted())")
        // With a random seed, the operations that succeed vary.
        guard command["seed"] == nil else { return }
        let failing = result.statuses.filter { !$1.keys.contains { $0.hasPrefix("2") } }.keys
        #expect(Set(failing) == Self.hopeless, "each operation succeeds at least once: \(result.statuses)")
    }

    @Test("the pages of the administrative port return declared responses")
    func administration() throws {
        let port = String(try RunningDaemon.freePort())
        let bench = try Bench(flags: ["--admin-port", port])
        let result = try bench.run(["include": Self.pages, "origin": "http://127.0.0.1:\(port)"])
        #expect(result.code == 0, "\(result.text)")
        #expect(
            result.statuses.count == 3 && result.statuses.values.allSatisfy { $0["200"] != nil },
            "\(result.statuses)")
    }

    @Test("no operation of the operator API gets a 5xx status or an undeclared response")
    func operatorAPI() throws {
        let port = String(try RunningDaemon.freePort())
        // Each operation is called with invalid credentials, more often than an address may in a minute.
        let bench = try Bench(flags: [
            "--admin-port", port, "--admin-tls", "--operator-api", "--failed-logins-per-address", "10000",
            "--failed-logins-per-minute", "10000",
        ])
        let added = try bench.daemon.ctl("operators", "add", "alice", "--role", "operator")
        let token = try #require(added["token"] as? String)
        let document = try #require(try Tool.run("ccsd", ["openapi", "operator"]).object)
        let result = try bench.run([
            "document": try bench.file(document), "origin": "https://localhost:\(port)", "examples": 4,
            "credentials": ["operatorToken": ["bearer": token]],
            // A backup would be written anywhere; streams last.
            "exclude": "^/operator/v1/(backup|top/stream|devices/.device./trace)$",
        ])
        #expect(result.code == 0, "\(result.text)")
        let paths = try #require(document["paths"] as? [String: Any])
        #expect(paths.count >= 45 && result.statuses.count >= 50, "\(result.statuses.keys.sorted())")
        #expect(
            result.statuses.values.count { $0["200"] != nil } >= 25,
            "many operations succeed: \(result.statuses)")
        try bench.tool.command(["do": "validate", "document": try bench.file(document)])
        let sound = try bench.tool.expect(event: "validated")
        #expect(sound["complaint"] is NSNull, "\(sound)")
    }

    @Test("canary: an undeclared status, member or content type is found")
    func canary() throws {
        let bench = try Bench()
        func run(_ path: String, _ change: (inout [String: Any]) -> Void) throws -> String {
            var document = try Self.document().object
            var paths = try #require(document["paths"] as? [String: [String: Any]])
            var operation = try #require(paths[path]?["post"] as? [String: Any])
            var responses = try #require(operation["responses"] as? [String: Any])
            change(&responses)
            operation["responses"] = responses
            paths[path]?["post"] = operation
            document["paths"] = paths
            let result = try bench.run([
                "document": try bench.file(document), "include": "^\(path)$", "examples": 3,
            ])
            #expect(result.code == 1, "\(path): \(result.text)")
            return result.text
        }
        let status = try run("/iid/v1:batchAdd") { $0["400"] = nil }
        #expect(status.contains("Undocumented status code"), "\(status)")
        let member = try run("/iid/v1:batchAdd") { responses in
            let schema: [String: Any] = ["type": "object", "maxProperties": 0]
            responses["200"] = [
                "description": "", "content": ["application/json": ["schema": schema]],
            ]
        }
        #expect(member.contains("Response violates schema"), "\(member)")
        let type = try run("/iid/v1:batchAdd") { responses in
            responses["400"] = ["description": "", "content": ["text/html": [String: Any]()]]
        }
        #expect(type.contains("Undocumented Content-Type"), "\(type)")
    }

    @Test("the daemon serves the valid OpenAPI 3.1 document that ccsd openapi prints")
    func served() throws {
        let bench = try Bench()
        let (text, object) = try Self.document()
        let device = try TestDevice(bench.daemon, sender: try bench.daemon.firstSender.id)
        let answer = try device.call(bench.daemon, HTTPCall("GET", "/openapi.json"))
        #expect(answer.status == 200 && answer.text + "\n" == text)
        try bench.tool.command(["do": "validate", "document": try bench.file(object)])
        let sound = try bench.tool.expect(event: "validated")
        #expect(sound["complaint"] is NSNull, "\(sound)")
        var broken = object
        broken["paths"] = ["/x": ["get": ["responses": ["abc": [String: Any]()]]]]
        try bench.tool.command(["do": "validate", "document": try bench.file(broken)])
        #expect(try bench.tool.expect(event: "validated")["complaint"] is String, "canary")
    }
}
