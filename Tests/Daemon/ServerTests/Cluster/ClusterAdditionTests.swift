import Basics
import ClusterSetup
import Testing
import Transport
import Wire

@testable import Server

/// Nodes that are added after the founding.
@Suite("Adding a node") struct ClusterAdditionTests {
    private let folder: ServerFolder
    private var directory: String { "\(folder.path)/cluster" }
    private let file: ClusterFile

    init() throws {
        folder = try ServerFolder()
        let log = ClusterFile.LogServers(servers: ["127.0.0.1:4222"], replicas: 1, prefix: "ccs")
        let founding = ClusterFounding(addresses: ["a:5240", "b:5240"], partitions: 4, log: log)
        file = try founding.write(to: "\(folder.path)/cluster", now: Now.read().wall)
    }

    private func add(_ address: String) -> Result<ClusterFile, ClusterAddition.Problem> {
        Result { () throws(ClusterAddition.Problem) in
            try ClusterAddition.add(address, to: directory, now: Now.read().wall)
        }
    }

    private func problem(_ address: String) -> ClusterAddition.Problem? {
        if case .failure(let problem) = add(address) { problem } else { nil }
    }

    private func content(_ path: String) throws -> [UInt8] { try SmallFile.read("\(directory)/\(path)") }

    @Test("it gets the next number, the secrets of the cluster, and a certificate of its authority")
    func added() throws {
        let third = try add("c:5240").get()
        #expect(third.node == NodeNumber(3) && third.cluster == file.cluster && third.partitions == 4)
        #expect(third.nodes.map(\.address) == ["a:5240", "b:5240", "c:5240"])
        #expect(third.listen == "0.0.0.0:5240" && third.log == file.log)
        let read = try ClusterFile(parsing: content("node-3/cluster.json"))
        #expect(read == third && read != file)
        for name in ClusterFile.secretNames {
            #expect(read.secrets[name]?.revealed == file.secrets[name]?.revealed)
        }
        #expect(try content("node-3/ca.pem") == content("authority/ca.pem"))
        let isTrusted = try folder.verifies("node-3/node.pem", "authority/ca.pem", in: "cluster")
        #expect(isTrusted)
        #expect(
            try ClusterFile(parsing: content("node-1/cluster.json")) == file, "no other folder is changed")
        let fourth = try add("[::1]:5241").get()
        #expect(fourth.node == NodeNumber(4) && fourth.nodes.count == 4 && fourth.listen == "0.0.0.0:5241")
    }

    @Test(
        "a node listens for others where it does for clients, unless that is loopback and they are elsewhere")
    func listens() throws {
        func host(_ listen: String, clients: String, nodes: [String]) throws -> String {
            var file = file
            file.listen = listen
            for (at, address) in nodes.enumerated() { file.nodes[at].address = address }
            let (host, port) = file.listenHost(clients: clients)
            #expect(port == "5240")
            return host
        }
        let far = ["10.0.0.1:5240", "10.0.0.2:5240"]
        let near = ["127.0.0.1:5240", "127.0.0.2:5240"]
        #expect(try host("0.0.0.0:5240", clients: "10.0.0.1", nodes: far) == "10.0.0.1")
        #expect(try host("0.0.0.0:5240", clients: "::", nodes: far) == "::")
        #expect(try host("0.0.0.0:5240", clients: "127.0.0.1", nodes: far) == "0.0.0.0")
        #expect(try host("0.0.0.0:5240", clients: "::1", nodes: far) == "0.0.0.0")
        #expect(try host("0.0.0.0:5240", clients: "127.0.0.2", nodes: near) == "127.0.0.2")
        #expect(try host("192.168.0.1:5240", clients: "10.0.0.1", nodes: far) == "192.168.0.1")
        #expect(try host("[::]:5240", clients: "10.0.0.1", nodes: far) == "::")
    }

    @Test(
        "a certificate of another node, and a key of another certificate, are refused by the name of the file"
    )
    func certificates() throws {
        let own = "\(directory)/node-1"
        let settings = try ClusterSettings(folder: own, software: "test", clientAddress: "127.0.0.1")
        #expect(settings.certificateWarnings == [])
        func problem() -> String? {
            do throws(ClusterSettingsProblem) {
                _ = try ClusterSettings(folder: own, software: "test", clientAddress: "127.0.0.1")
                return nil
            } catch { return error.text }
        }
        try folder.run("cp cluster/node-2/node.key cluster/node-1/node.key")
        #expect(problem()?.contains("node-1/node.key") == true)
        try folder.run("cp cluster/node-2/node.pem cluster/node-1/node.pem")
        #expect(problem()?.contains("node-1/node.pem: it is not the certificate of node-1.") == true)
    }

    @Test(
        "an address that is none is refused by its field",
        arguments: ["a", "a:", ":1", "a:b", "a:0", "a:70000", "a b:1", "a:1\n"])
    func addresses(_ text: String) throws {
        let written = String(decoding: try content("node-1/cluster.json"), as: UTF8.self)
        let json = JSONValue.string(text).compact
        for (field, old) in [("nodes[0].address", "\"a:5240\""), ("listen", "\"0.0.0.0:5240\"")] {
            let changed = written.replacing(old, with: json)
            #expect(changed != written)
            do throws(ClusterFileProblem) {
                _ = try ClusterFile(parsing: Array(changed.utf8))
                Issue.record("\(field): \(text)")
            } catch { #expect(error.field == field, "\(error)") }
        }
    }

    @Test(
        "a field that is given twice is refused by its name",
        arguments: ["listen", "log.replicas", "log.prefix"])
    func twice(_ field: String) throws {
        let written = String(decoding: try content("node-1/cluster.json"), as: UTF8.self)
        let name = "\"\(field.split(separator: ".").last ?? "")\":"
        let line = try #require(written.split(separator: "\n").first { $0.contains(name) })
        // The last field of an object has no comma.
        let again = line.hasSuffix(",") ? line : line + ","
        do throws(ClusterFileProblem) {
            _ = try ClusterFile(parsing: Array(written.replacing(line, with: "\(again)\n\(line)").utf8))
            Issue.record("\(field) is accepted")
        } catch { #expect(error.description == "\(field): it is given twice") }
    }

    @Test("what is missing or wrong is named, and nothing is written")
    func refusals() throws {
        #expect(problem("b:5240") == .addressInUse(NodeNumber(2)))
        try folder.run("mv cluster/node-2/cluster.json kept; echo '{}' > cluster/node-2/cluster.json")
        guard case .file(let path, let words) = problem("c:5240") else {
            Issue.record("the file is accepted")
            return
        }
        #expect(path.hasSuffix("node-2/cluster.json") && words.contains("format: it is missing"))
        try folder.run(
            "mv kept cluster/node-2/cluster.json; cp cluster/node-1/node.key cluster/authority/ca.key")
        guard case .system(let mixed) = problem("c:5240") else {
            Issue.record("another key is accepted")
            return
        }
        #expect(mixed.contains("the key does not belong to the certificate"))
        try folder.run("rm -r cluster/authority")
        guard case .system(let missing) = problem("c:5240") else {
            Issue.record("a missing authority is accepted")
            return
        }
        #expect(missing.contains("authority/ca.pem"))
        try folder.run("test ! -e cluster/node-3 && rm -r cluster/node-1 cluster/node-2")
        #expect(problem("c:5240") == .noNode)
    }
}

extension ServerFolder {
    /// Whether OpenSSL verifies a certificate with an authority.
    fileprivate func verifies(_ certificate: String, _ authority: String, in folder: String) throws -> Bool {
        do {
            try run("openssl verify -CAfile \(folder)/\(authority) \(folder)/\(certificate)")
            return true
        } catch { return false }
    }
}
