import Foundation
import Testing

/// A client that openapi-python-client 0.29 generates from the daemon's OpenAPI document.
@Suite(
    "Generated client", .serialized,
    .enabled(
        if: TestPaths.hasPython && TestPaths.hasClientGenerator, "run Scripts/bootstrap --tests first"))
struct GeneratedClientTests {
    /// Operations that always return 404: the server has no locations of accounts, and no message with an invented ID.
    private static let hopeless: Set = [
        "get_v1_projects_project_serviceAccounts_account_allowedLocations",
        "delete_v1_projects_project_registrations_registration_messages_message",
    ]

    /// A daemon, and the driver with its generated client.
    private final class Bench {
        let daemon: RunningDaemon
        let tool: Driver
        let generated: [String: Any]

        init() throws {
            daemon = try RunningDaemon()
            let (sender, key) = try daemon.firstSender
            let keyFile = daemon.directory.appendingPathComponent("key.json").path
            _ = try daemon.ctl("service-accounts", "add", sender, "--out", keyFile)
            tool = try Driver(
                "generated_client.py",
                [
                    String(try daemon.port("https")), sender, keyFile, daemon.directory.path,
                    TestPaths.clientGenerator.path,
                ], secret: key,
                environment: [
                    "REQUESTS_CA_BUNDLE": daemon.authority, "SSL_CERT_FILE": daemon.authority,
                ])
            generated = try tool.expect(event: "generated", seconds: 120)
        }
    }

    /// Whether the generator succeeded without a warning.
    private static func isClean(_ generated: [String: Any]) -> Bool {
        let words = generated["words"] as? String ?? "WARNING"
        return generated["code"] as? Int == 0 && !words.contains("WARNING") && !words.contains("Warning")
    }

    @Test(
        "the generated client can call every JSON operation of the OpenAPI document"
    )
    func calls() throws {
        let bench = try Bench()
        #expect(Self.isClean(bench.generated), "\(bench.generated)")
        try bench.tool.command(["do": "call"])
        var called: Set<String> = []
        while true {
            let event = try bench.tool.expect("an answer", seconds: 120) { _ in true }
            guard event["event"] as? String == "called" else {
                #expect(event["event"] as? String == "finished", "\(event)")
                break
            }
            let name = try #require(event["operation"] as? String)
            #expect(called.insert(name).inserted)
            #expect(event["error"] == nil, "\(name): \(event)")
            let status = event["status"] as? Int
            #expect(status == (Self.hopeless.contains(name) ? 404 : 200), "\(name): \(event)")
            let type = event["type"] as? String
            #expect(
                type != "NoneType" && type != "bytes" && (type != "str" || status == 404), "\(name): \(event)"
            )
        }
        #expect(called.count >= 32 && called.isSuperset(of: Self.hopeless), "\(called.sorted())")
    }

    @Test("canary: the generator fails when a schema is `true`, and warns when a body has none")
    func canary() throws {
        let bench = try Bench()
        let document = try #require(try Tool.run("ccsd", ["openapi"]).object)
        for (path, schema) in [("/fcm/send", true as Any?), ("/wp/{token}", nil)] {
            var changed = document
            var paths = try #require(changed["paths"] as? [String: [String: Any]])
            var operation = try #require(paths[path]?["post"] as? [String: Any])
            let type = path == "/fcm/send" ? "application/json" : "application/octet-stream"
            operation["requestBody"] = ["content": [type: schema.map { ["schema": $0] } ?? [:]]]
            paths[path]?["post"] = operation
            changed["paths"] = paths
            let file = bench.daemon.directory.appendingPathComponent("changed.json")
            try JSONSerialization.data(withJSONObject: changed).write(to: file)
            try bench.tool.command(["do": "generate", "document": file.path])
            let generated = try bench.tool.expect(event: "generated", seconds: 120)
            #expect(!Self.isClean(generated), "\(path): \(generated)")
        }
    }
}
