import Catalogue
import Foundation
import Testing

/// The Containerfile and the Kubernetes example agree with the programs; no container engine runs here.
@Suite struct ContainerTests {
    private static func read(_ path: String) throws -> String {
        try String(contentsOf: TestPaths.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The defaults of the public ports.
    private static let ports = [
        ConfigKey.appServerPort, .appServerPreproductionPort, .devicePort, .httpsPort,
    ].compactMap { Int($0.entry.preset.plain) }

    /// Returns the environment variables without meaning for a program.
    private static func unknown(_ variables: [String]) -> [String] {
        let known =
            ConfigKey.allCases.map(\.variable) + Program.all.flatMap { $0.variables.map(\.name) }
        return variables.filter { !known.contains($0) }
    }

    /// Parses a command line of a program, which must be in `/usr/bin`.
    private static func parse(_ words: [String]) throws {
        let path = try #require(words.first)
        let program = try #require(Program.packaged.first { path == "/usr/bin/\($0.name)" }, "\(words)")
        _ = try ArgumentParser.parse(Array(words.dropFirst()), for: program)
    }

    @Test("the Containerfile follows the rules of hadolint, and its ports, variables and commands exist")
    func containerfile() throws {
        let file = Containerfile(try Self.read("Containerfile"))
        #expect(file.violations() == [])
        #expect(file.stages.count == 2)
        #expect(
            file.final("EXPOSE").flatMap { $0.split(separator: " ").compactMap { Int($0) } } == Self.ports)
        let assignments = file.final("ENV").flatMap { $0.split(separator: " ") }
        let variables = assignments.map { String($0.prefix { $0 != "=" }) }
        #expect(variables.count >= 4 && Self.unknown(variables) == [])
        let volume = try #require(file.final("VOLUME").first)
        #expect(assignments.contains("CCSD_DATA_DIRECTORY=\(volume)"))
        for text in file.final("ENTRYPOINT") + file.final("HEALTHCHECK") {
            try Self.parse(#require(Containerfile.execForm(text)))
        }
        let build = file.stages[0].map(\.text).joined(separator: "\n")
        for script in ["Scripts/bootstrap", "Scripts/package"] {
            let text = try Self.read(script)
            #expect(build.contains(script) && text.hasPrefix("#!"))
        }
        #expect(try Self.read("Scripts/bootstrap").contains("--package) packages+="))
    }

    @Test("canary: every rule finds its violation")
    func canary() {
        let bad = """
            FROM debian
            ADD a b
            WORKDIR here
            RUN cd /x && sudo apt-get update | cat && apt-get install \\
                # a comment
                a
            ENTRYPOINT ccsd
            USER root
            """
        #expect(Containerfile(bad).violations().count == 13, "\(Containerfile(bad).violations())")
        #expect(Self.unknown(["CCSD_DATA_DIRECTORY", "CCSD_CONFIG", "CCSD_DATA"]) == ["CCSD_DATA"])
    }

    /// Returns the documents of a YAML file as objects.
    private func documents(_ path: String) throws -> [[String: Any]] {
        let script = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))"
        let tool = try Tool.run(
            TestPaths.python, ["-c", script, TestPaths.root.appendingPathComponent(path).path])
        #expect(tool.code == 0, "\(tool)")
        return try #require(
            JSONSerialization.jsonObject(with: Data(tool.output.utf8)) as? [[String: Any]])
    }

    @Test(
        "the Kubernetes example is valid YAML with one pod, probes, a budget and a drain, for the ports of ccsd",
        .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests"))
    func kubernetes() throws {
        let path = "docs/examples/kubernetes.yaml"
        let documents = try documents(path)
        #expect(
            documents.compactMap { $0["kind"] as? String } == [
                "ConfigMap", "StatefulSet", "Service", "PodDisruptionBudget",
            ])
        let spec = try #require(documents[1]["spec"] as? [String: Any])
        #expect(spec["replicas"] as? Int == 1)
        let template = try #require(spec["template"] as? [String: Any])
        let pod = try #require(template["spec"] as? [String: Any])
        let container = try #require((pod["containers"] as? [[String: Any]])?.first)
        #expect((container["image"] as? String)?.hasSuffix(":\(Program.version)") == true)
        let ports = (container["ports"] as? [[String: Any]])?.compactMap { $0["containerPort"] as? Int }
        #expect(ports == Self.ports)
        for probe in ["startupProbe", "livenessProbe"] {
            let exec = (container[probe] as? [String: Any])?["exec"] as? [String: Any]
            try Self.parse(#require(exec?["command"] as? [String], "\(probe)"))
        }
        #expect(container["readinessProbe"] != nil)
        let hook = (container["lifecycle"] as? [String: Any])?["preStop"] as? [String: Any]
        let stop = try #require((hook?["exec"] as? [String: Any])?["command"] as? [String])
        let steps = try #require(stop.last).components(separatedBy: " && ")
        try Self.parse(steps[0].split(separator: " ").map(String.init))
        let pause = try #require(Int(steps[1].dropFirst("sleep ".count)))
        let grace = try #require(pod["terminationGracePeriodSeconds"] as? Int)
        let shutdown = try #require(Int(ConfigKey.shutdownSeconds.entry.preset.plain))
        #expect(grace > shutdown + pause, "a stop is not cut short")
        let variables = (container["env"] as? [[String: Any]])?.compactMap { $0["name"] as? String }
        #expect(Self.unknown(variables ?? []) == [])
        let user = (pod["securityContext"] as? [String: Any])?["runAsUser"] as? Int
        #expect(Containerfile(try Self.read("Containerfile")).final("USER") == ["\(user ?? 0):\(user ?? 0)"])

        // The configuration in it, checked by ccsd, with its paths in a temporary folder.
        let data = try #require(documents[0]["data"] as? [String: String])
        let scratch = try Scratch()
        var text = try #require(data["ccsd.yaml"])
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
            "ccsd",
            [
                "check", "--config", file.path, "--app-server-port", "0", "--app-server-preproduction-port",
                "0", "--device-port", "0", "--https-port", "0",
            ])
        #expect(check.code == 0, "\(check)")
    }
}
