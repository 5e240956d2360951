import Basics
import ClusterLog
import Glibc
import NATSServerSupport
import Testing

@testable import NATSClient

extension ServerTests {
    @Suite("servers that die, stop or leave") struct Failures {
        /// Appends a frame until it is stored, as the owner of a log does in doubt.
        private func store(_ bytes: [UInt8], _ name: FrameName, _ test: TestClient) throws {
            var isStored = false
            while !isStored {
                try test.jetStream.append(bytes, name, to: 0)
                isStored = try test.next("stored") {
                    switch $0 {
                    case .stored(0, name, _): true
                    case .refused(0, name, .disconnected):
                        // The next attempt has to wait for a connection.
                        try test.jetStream.isConnected ? false : nil
                    case .refused(0, name, _), .connected: false
                    default: nil
                    }
                }
                if !isStored { test.run(milliseconds: 50) }
            }
        }

        @Test("a server that is left is followed by another one at once, each time")
        func left() throws {
            let servers = [try NATSServerProcess(name: "one"), try NATSServerProcess(name: "two")]
            let test = try TestClient(servers[0], servers[1])
            var name = try test.connected()
            for _ in 1...4 {
                try test.jetStream.leave()
                #expect(try test.disconnected() == .left)
                let next = try test.connected()
                #expect(next != name)
                name = next
            }
            test.run(milliseconds: 50)
            // Without a connection there is nothing to leave.
            servers.forEach { $0.kill() }
            _ = try test.disconnected()
            try test.jetStream.leave()
            let failed: NATSFailure = try test.next {
                if case .attemptFailed(_, let why) = $0 { why } else { nil }
            }
            #expect(failed != .left)
        }

        @Test("a killed server is reached again, and a follower goes on without a gap or a repetition")
        func restart() throws {
            let server = try NATSServerProcess()
            let test = try TestClient(server)
            try test.connected()
            try test.createStream(0)
            var followed: [LogPosition] = []
            var lost: NATSFailure?
            test.onEvent = {
                if case .followed(0, let position, _) = $0 { followed.append(position) }
                if case .disconnected(_, let failure) = $0 { lost = failure }
            }
            try test.jetStream.follow(0, after: .start)
            var name: UInt64 = 0
            for _ in 1...3 {
                for _ in 1...50 {
                    name += 1
                    try store([1], frame(name), test)
                }
                let before = followed.count
                try test.jetStream.append([2], frame(name + 1_000), to: 0)
                server.kill()
                // A busy machine may have lost the connection before, since the server was silent for too long; so the state counts.
                try test.run("the loss is noticed") { try !test.jetStream.isConnected }
                let failure = try #require(lost)
                #expect("\(failure)".hasPrefix("closed") || failure == .silent)
                try test.jetStream.read(LogPosition(1), of: 0)
                let read = try test.next { if case .readFailed(0, _, let why) = $0 { why } else { nil } }
                #expect(read == .disconnected)
                try server.start()
                try test.connected()
                // The append before the kill need not have arrived.
                name += 1
                try store([1], frame(name), test)
                try test.run("the follower goes on") { followed.count > before }
            }
            try store([3], frame(999), test)
            try test.run { try test.jetStream.recordsBehind(0) == 0 && followed.count >= 151 }
            #expect(Self.firstBreak(in: followed) == nil)
        }

        /// Returns the first position that does not follow the one before it.
        private static func firstBreak(in positions: [LogPosition]) -> LogPosition? {
            zip([LogPosition.start] + positions, positions).first { $0.next != $1 }?.1
        }

        @Test("canary: a gap and a repetition in what was followed are found")
        func breaks() {
            let whole = (1...9 as ClosedRange<UInt64>).map { LogPosition($0) }
            #expect(Self.firstBreak(in: whole) == nil)
            #expect(Self.firstBreak(in: Array(whole.dropFirst())) == LogPosition(2))
            for at in 1..<8 {
                var (gap, repetition) = (whole, whole)
                gap.remove(at: at)
                repetition.insert(whole[at], at: at)
                #expect(Self.firstBreak(in: gap) == whole[at + 1])
                #expect(Self.firstBreak(in: repetition) == whole[at])
            }
        }

        @Test("an open request fails when the connection is lost, after the loss is reported")
        func openRequests() throws {
            let server = try NATSServerProcess()
            let test = try TestClient(server)
            try test.connected()
            try test.createStream(0)
            server.send(SIGSTOP)
            let client = try test.jetStream
            client.append([1], frame(1), to: 0)
            client.read(LogPosition(1), of: 0)
            client.purge(upTo: LogPosition(1), of: 0)
            #expect(try test.disconnected() == .silent)
            let failures = try (1...3).map { _ in
                try test.next { event -> String? in
                    switch event {
                    case .refused(0, frame(1), .disconnected): "append"
                    case .readFailed(0, LogPosition(1), .disconnected): "read"
                    case .purgeFailed(0, LogPosition(1), .disconnected): "purge"
                    default: nil
                    }
                }
            }
            #expect(failures == ["append", "read", "purge"])
        }

        @Test("a stopped server is noticed within a second, even under full load, and another one is used")
        func stopped() throws {
            let first = try NATSServerProcess(name: "a")
            let second = try NATSServerProcess(name: "b")
            let test = try TestClient(first, second)
            let name = try test.connected()
            try test.createStream(0)
            let (victim, other) = name == "a" ? (first, "b") : (second, "a")
            victim.send(SIGSTOP)
            let start = Now.read().monotonic
            // More than the socket takes: a client that blocks in a write would stay here.
            let bytes = [UInt8](repeating: 1, count: 1_000_000)
            for number in 1...50 as ClosedRange<UInt64> {
                try test.jetStream.append(bytes, frame(number), to: 0)
            }
            let before = Now.read().monotonic.milliseconds(since: start)
            #expect(try test.disconnected() == .silent)
            let noticed = Now.read().monotonic.milliseconds(since: start)
            #expect(before < 600 && noticed >= 600 && noticed < 2_000, "\(before), \(noticed) ms")
            for _ in 1...50 {
                try test.next { if case .refused(0, _, .disconnected) = $0 { true } else { nil } }
            }
            #expect(try test.connected() == other)
            victim.send(SIGCONT)
        }

        @Test("a server that answers late is given up when it connects, and asked again for ever")
        func lateServer() throws {
            let server = try NATSServerProcess()
            server.send(SIGSTOP)
            let test = try TestClient(server)
            #expect(try test.attemptFailed() == .timedOut)
            #expect(try test.attemptFailed() == .timedOut)
            server.send(SIGCONT)
            try test.connected()
        }

        @Test("more frames than may wait are refused, and the connection stays")
        func congestion() throws {
            let server = try NATSServerProcess()
            let test = try TestClient(server)
            try test.connected()
            try test.createStream(0)
            let bytes = [UInt8](repeating: 1, count: 1_000_000)
            for number in 1...80 as ClosedRange<UInt64> {
                try test.jetStream.append(bytes, frame(number), to: 0)
            }
            var (stored, refused, isConnected) = (0, 0, true)
            // How fast the others are stored is up to the disk: a busy one may take longer than a ping may.
            try test.run {
                for event in test.takeEvents() {
                    switch event {
                    case .stored: stored += 1
                    case .refused(0, _, .congested):
                        refused += 1
                        isConnected = (try? test.jetStream.isConnected) == true && isConnected
                    default: break
                    }
                }
                return stored > 0 && refused >= 13
            }
            #expect(refused == 13 && isConnected)
        }

        @Test("a server in lame duck mode is left in an orderly way")
        func lameDuck() throws {
            let first = try NATSServerProcess("lame_duck_duration: 30s", name: "a")
            let second = try NATSServerProcess("lame_duck_duration: 30s", name: "b")
            let test = try TestClient(first, second)
            let name = try test.connected()
            #expect(try test.jetStream.subscribe("ccs.heartbeat") != nil)
            (name == "a" ? first : second).send(SIGUSR2)
            try test.next { if case .leaving = $0 { true } else { nil } }
            #expect(try test.jetStream.publish([1], to: "ccs.heartbeat"))
            try test.next("messages still come") { if case .message = $0 { true } else { nil } }
            #expect(try test.disconnected() == .lameDuck)
            #expect(try test.connected() == (name == "a" ? "b" : "a"))
        }

        @Test("an unknown name and a closed port are reported, and the next server is used")
        func unreachable() throws {
            let server = try NATSServerProcess()
            let closed = try NATSServerProcess()
            closed.kill()
            let test = try TestClient(
                NATSSettings(
                    servers: [
                        NATSServerAddress(host: "no-such-host.invalid"),
                        NATSServerAddress(host: "127.0.0.1", port: closed.port),
                        NATSServerAddress(host: "localhost", port: server.port),
                    ], name: "tests"))
            var failures: [NATSFailure] = []
            test.onEvent = { if case .attemptFailed(_, let failure) = $0 { failures.append(failure) } }
            try test.connected()
            for failure in failures {
                guard case .unreachable = failure else {
                    Issue.record("\(failure)")
                    continue
                }
            }
        }
    }
}
