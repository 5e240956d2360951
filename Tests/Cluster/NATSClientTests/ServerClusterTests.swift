import Basics
import ClusterLog
import Glibc
import NATSServerSupport
import Testing

@testable import NATSClient

extension ServerTests {
    @Suite("three servers", .serialized) struct Cluster {
        private func settings(_ servers: [NATSServerProcess]) -> NATSSettings {
            NATSSettings(
                servers: servers.map { NATSServerAddress(host: "127.0.0.1", port: $0.port) }, name: "tests")
        }

        /// Creates the stream as soon as the servers have a leader.
        private func createStream(_ test: TestClient, replicas: Int = 3) throws -> StreamInfo {
            for _ in 1...100 {
                try test.jetStream.createStream(0, StreamSettings(replicas: replicas))
                let info = try test.next { event -> StreamInfo?? in
                    switch event {
                    case .stream(0, let info, let problems):
                        #expect(problems == [])
                        return .some(info)
                    case .streamFailed(0, _): return .some(nil)
                    default: return nil
                    }
                }
                if let info { return info }
                test.run(milliseconds: 200)
            }
            throw TestClient.TimedOut()
        }

        private func turn(
            _ nodes: [LogNode], _ what: String = "", seconds: Int = 90,
            _ location: SourceLocation = #_sourceLocation, until isDone: () -> Bool
        ) throws {
            let end = Now.read().monotonic.advanced(seconds: seconds)
            while !isDone() {
                guard Now.read().monotonic < end else {
                    Issue.record("timed out: \(what)", sourceLocation: location)
                    throw TestClient.TimedOut()
                }
                for node in nodes { node.turn() }
            }
        }

        /// Lets an owner make numbered frames.
        private func make(_ numbers: ClosedRange<Int>, _ owner: LogNode, _ nodes: [LogNode]) throws {
            for number in numbers {
                try turn(nodes, "room for frame \(number)") { owner.owner?.canMake == true }
                owner.make("frame \(number)")
            }
        }

        @Test("two takeovers through a lost leader: all nodes apply the same, and no confirmed frame is lost")
        func takeovers() throws {
            let cluster = try NATSCluster()
            let nodes = try (1...3).map { _ in try LogNode(settings(cluster.servers)) }
            let operatorClient = try TestClient(settings(cluster.servers))
            try operatorClient.connected()
            let info = try createStream(operatorClient)
            #expect(info.replicas.count == 2 && cluster[info.leader] != nil)
            try turn(nodes, "connected") { nodes.allSatisfy { $0.test.client?.isConnected == true } }
            for node in nodes { try node.follow() }

            try nodes[0].claim()
            try turn(nodes, "first owner") { nodes[0].isOwner }
            try make(1...100, nodes[0], nodes)
            // The leader of the log dies under load: the owner goes on after the election.
            let victim = try #require(cluster[info.leader])
            victim.kill()
            try make(101...200, nodes[0], nodes)
            try turn(nodes, "confirmed after the election") { nodes[0].confirmed.count == 200 }

            try nodes[1].claim()
            try turn(nodes, "second owner") { nodes[1].isOwner }
            // The first owner does not know it yet.
            if nodes[0].owner?.canMake == true { nodes[0].make("too late") }
            try make(201...300, nodes[1], nodes)
            try turn(nodes, "the first owner is deposed") { nodes[0].owner?.state.isActive == false }
            try nodes[0].follow()
            try victim.start()
            // The server of the second owner stops while it writes.
            let used = try #require(cluster[nodes[1].test.client?.server?.name ?? ""])
            try make(301...320, nodes[1], nodes)
            used.send(SIGSTOP)
            try turn(nodes, "the client leaves the stopped server") {
                nodes[1].test.client?.server.map { $0.name != used.name } ?? false
            }
            used.send(SIGCONT)
            try make(321...350, nodes[1], nodes)
            try turn(nodes, "confirmed by the second owner") { nodes[1].confirmed.count == 150 }

            try nodes[2].claim()
            try turn(nodes, "third owner") { nodes[2].isOwner }
            try make(351...400, nodes[2], nodes)
            try turn(nodes, "confirmed by the third owner") { nodes[2].confirmed.count == 50 }
            try turn(nodes, "the second owner is deposed") { nodes[1].owner?.state.isActive == false }
            try nodes[1].follow()
            let expected = (1...400).map { "frame \($0)" }
            try turn(nodes, "all have applied the same") { nodes.allSatisfy { $0.applied.count >= 400 } }
            for node in nodes { #expect(node.applied == expected) }
            #expect(nodes.flatMap(\.confirmed) == expected)
        }

        @Test("a client returns to the server that it prefers after that has started again, and goes on")
        func returns() throws {
            let cluster = try NATSCluster()
            var settings = settings(cluster.servers)
            settings.preferred = [settings.servers[1]]
            let test = try TestClient(settings)
            #expect(try test.connected() == "n2")
            _ = try createStream(test)
            try test.jetStream.follow(0, after: .start)
            cluster.servers[1].kill()
            try test.run("another server is used") {
                try test.jetStream.server.map { $0.name != "n2" } ?? false
            }
            try cluster.servers[1].start()
            try test.next("the return") { if case .disconnected(_, .returned) = $0 { true } else { nil } }
            #expect(try test.connected() == "n2")
            try test.run("the log goes on") {
                try test.jetStream.append([1], frame(1), to: 0)
                test.run(milliseconds: 200)
                return test.takeEvents().contains { if case .followed(0, _, _) = $0 { true } else { false } }
            }
        }

        @Test("a stream whose configuration is wrong is reported with each problem")
        func problems() throws {
            let cluster = try NATSCluster()
            let test = try TestClient(settings(cluster.servers))
            try test.connected()
            _ = try createStream(test, replicas: 1)
            try test.jetStream.createStream(0, StreamSettings(replicas: 3, maximumBytes: 1 << 30))
            let problems = try test.next { event -> [StreamProblem]? in
                if case .stream(0, _, let problems) = event { problems } else { nil }
            }
            #expect(problems == [.replicas(1, expected: 3), .maximumBytes(-1, expected: 1 << 30)])
        }
    }
}
