import Basics
import Catalogue
import Foundation
import Testing

/// The Kubernetes example agrees with the programs and with itself; no cluster runs here.
@Suite(.enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests"))
struct KubernetesTests {
    /// The objects of the example.
    private struct Example {
        var kinds: [String]
        var configuration: String
        var pod: [String: Any]
        var container: [String: Any]
        var service: [String: Any]
        var policy: [String: Any]

        init(_ documents: [[String: Any]]) throws {
            kinds = documents.compactMap { $0["kind"] as? String }
            func object(_ kind: String) throws -> [String: Any] {
                try #require(documents.first { $0["kind"] as? String == kind })
            }
            configuration = try #require((object("ConfigMap")["data"] as? [String: String])?["ccsd.yaml"])
            let set = try #require(object("StatefulSet")["spec"] as? [String: Any])
            #expect(set["replicas"] as? Int == 1)
            pod = try #require((set["template"] as? [String: Any])?["spec"] as? [String: Any])
            container = try #require((pod["containers"] as? [[String: Any]])?.first)
            service = try #require(object("Service")["spec"] as? [String: Any])
            policy = try #require(object("NetworkPolicy")["spec"] as? [String: Any])
        }

        /// Returns the value of a key in the configuration.
        func setting(_ key: ConfigKey) throws -> String {
            let line = configuration.split(separator: "\n").first { $0.hasPrefix("\(key.rawValue): ") }
            return try String(#require(line, "\(key)").dropFirst(key.rawValue.count + 2))
        }

        func seconds(_ key: ConfigKey) throws -> Int { try #require(Int(setting(key))) }

        /// The commands of preStop: a drain, and a pause.
        var stop: [String] {
            let hook = (container["lifecycle"] as? [String: Any])?["preStop"] as? [String: Any]
            let words = (hook?["exec"] as? [String: Any])?["command"] as? [String]
            return words?.last?.components(separatedBy: " && ") ?? []
        }

        /// Returns the seconds that are left of the grace period after a stop, and of the time without readiness after a drain.
        func spare() throws -> (stop: Int, drain: Int) {
            let slack = Int(Limits.Shutdown.drainSlackMilliseconds / 1_000)
            let drain = try seconds(.drainGraceSeconds) + seconds(.drainSpreadSeconds) + slack
            let pause = try #require(stop.last.flatMap { Int($0.dropFirst("sleep ".count)) })
            let shutdown = try seconds(.shutdownSeconds) + Limits.Shutdown.slackSeconds
            let grace = try #require(pod["terminationGracePeriodSeconds"] as? Int)
            let ready = try #require(container["readinessProbe"] as? [String: Any])
            let period = try #require(ready["periodSeconds"] as? Int)
            let unready = try #require(ready["failureThreshold"] as? Int) * period
            return (grace - drain - pause - shutdown, unready - drain)
        }
    }

    private static func example() throws -> Example {
        try Example(documents("docs/examples/kubernetes.yaml"))
    }

    /// Returns the documents of a YAML file as objects.
    private static func documents(_ path: String) throws -> [[String: Any]] {
        let script = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))"
        let tool = try Tool.run(
            TestPaths.python, ["-c", script, TestPaths.root.appendingPathComponent(path).path])
        #expect(tool.code == 0, "\(tool)")
        return try #require(
            JSONSerialization.jsonObject(with: Data(tool.output.utf8)) as? [[String: Any]])
    }

    @Test("the example is one pod, whose stop waits for its drain, and whose drain keeps it in the service")
    func stop() throws {
        let example = try Self.example()
        #expect(
            example.kinds == [
                "ConfigMap", "StatefulSet", "Service", "PodDisruptionBudget", "NetworkPolicy",
            ])
        #expect((example.container["image"] as? String)?.hasSuffix(":\(Program.version)") == true)
        try ContainerTests.parse(#require(example.stop.first).split(separator: " ").map(String.init))
        let spare = try example.spare()
        #expect(spare.stop >= 0, "a stop is not cut short")
        #expect(spare.drain > 0, "app servers that are drained can reconnect to the pod")
        let variables = (example.container["env"] as? [[String: Any]])?.compactMap { $0["name"] as? String }
        #expect(ContainerTests.unknown(variables ?? []) == [])
        let user = (example.pod["securityContext"] as? [String: Any])?["runAsUser"] as? Int
        let container = Containerfile(try ContainerTests.read("Containerfile"))
        #expect(container.final("USER") == ["\(user ?? 0):\(user ?? 0)"])
    }

    @Test("canary: a drain over two minutes, the default, is longer than the stop and the readiness allow")
    func canary() throws {
        var example = try Self.example()
        let spread = "drain_spread_seconds: \(ConfigKey.drainSpreadSeconds.entry.preset.plain)"
        example.configuration.replace("drain_spread_seconds: 10", with: spread)
        let spare = try example.spare()
        #expect(spare.stop < 0 && spare.drain < 0)
    }

    @Test("the probes ask pages of the admin port, which other pods cannot reach except for the monitoring")
    func probes() throws {
        let example = try Self.example()
        let ports = try #require(example.container["ports"] as? [[String: Any]])
        let admin = try example.seconds(.adminPort)
        #expect(ports.compactMap { $0["containerPort"] as? Int } == ContainerTests.ports + [admin])
        let names = ports.compactMap { $0["name"] as? String }
        for (probe, path) in [
            ("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz"),
        ] {
            let get = (example.container[probe] as? [String: Any])?["httpGet"] as? [String: Any]
            #expect(get?["path"] as? String == path && get?["port"] as? String == names.last, "\(probe)")
        }
        #expect(try example.setting(.adminPlainHTTP) == "true")
        let published = (example.service["ports"] as? [[String: Any]])?.compactMap {
            $0["targetPort"] as? String
        }
        #expect(published == names.dropLast())
        let rules = try #require(example.policy["ingress"] as? [[String: Any]])
        let admitted = rules.map { rule in
            (rule["ports"] as? [[String: Any]])?.compactMap { $0["port"] as? String } ?? []
        }
        #expect(admitted == [names.dropLast(), names.suffix(1)].map { Array($0) })
        #expect(rules[0]["from"] == nil && (rules[1]["from"] as? [Any])?.count == 1)
    }

    @Test("ccsd accepts the configuration of the example, with its paths in a temporary folder")
    func configuration() throws {
        var text = try Self.example().configuration
        let scratch = try Scratch()
        for folder in ["/var/lib/ccsd", "/run/ccsd", "/etc/ccsd-tls"] {
            #expect(text.contains(folder))
            text = text.replacingOccurrences(of: folder, with: scratch.url.path)
        }
        let openssl = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "90", "-subj", "/CN=a", "-keyout",
                scratch.url.path + "/tls.key", "-out", scratch.url.path + "/tls.crt",
            ])
        #expect(openssl.code == 0)
        let file = scratch.url.appendingPathComponent("ccsd.yaml")
        try Data(text.utf8).write(to: file)
        let check = try Tool.run(
            "ccsd", ["check", "--config", file.path, "--admin-port", "0"] + RunningDaemon.noPorts)
        #expect(check.code == 0, "\(check)")
    }
}
