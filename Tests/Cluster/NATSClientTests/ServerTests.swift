import Basics
import ClusterLog
import NATSServerSupport
import Testing
import Wire

@testable import NATSClient

@Suite(
    "the client with a real nats-server",
    .enabled(if: NATSServerProcess.isInstalled, "nats-server: run Scripts/bootstrap --tests"))
struct ServerTests {
    @Test("frames are appended, read, followed and purged, and plain messages pass")
    func everything() throws {
        let server = try NATSServerProcess()
        let test = try TestClient(server)
        #expect(try test.connected() == "single")
        let client = try test.jetStream
        #expect(client.isConnected && client.server?.hasJetStream == true)
        #expect(try test.createStream(3) == [])

        for number in 1...20 { client.append([UInt8(number)], frame(UInt64(number)), to: 3) }
        for number in 1...20 as ClosedRange<UInt64> {
            let stored = try test.next { event -> (FrameName, LogPosition)? in
                if case .stored(3, let name, let position) = event { (name, position) } else { nil }
            }
            #expect(stored == (frame(number), LogPosition(number)))
        }

        client.read(LogPosition(20), of: 3)
        let record = try test.next {
            if case .record(3, LogPosition(20), let bytes) = $0 { bytes } else { nil }
        }
        #expect(record == [20])
        client.read(LogPosition(21), of: 3)
        let end = try test.next { if case .end(3, let position) = $0 { position } else { nil } }
        #expect(end == LogPosition(20))

        client.follow(3, after: LogPosition(5))
        var followed: [[UInt8]] = []
        let caughtUp = try test.next { event -> LogPosition? in
            if case .followed(3, _, let bytes) = event { followed.append(bytes) }
            if case .caughtUp(3, let position) = event { return position }
            return nil
        }
        #expect(followed == (6...20).map { [$0] } && caughtUp == LogPosition(20))
        client.append([21], frame(21), to: 3)
        let live = try test.next { if case .followed(3, let position, [21]) = $0 { position } else { nil } }
        #expect(live == LogPosition(21) && client.recordsBehind(3) == 0)

        client.purge(upTo: LogPosition(10), of: 3)
        let purged = try test.next { if case .purged(3, let position) = $0 { position } else { nil } }
        #expect(purged == LogPosition(10))
        client.read(LogPosition(4), of: 3)
        let missing = try test.next { if case .readFailed(3, _, let failure) = $0 { failure } else { nil } }
        #expect(missing == .removed(first: LogPosition(11)))
        client.follow(3, after: LogPosition(4))
        let lost = try test.next { if case .followFailed(3, let failure) = $0 { failure } else { nil } }
        #expect(lost == .removed(first: LogPosition(11)))

        let number = try #require(client.subscribe("ccs.heartbeat"))
        #expect(client.publish(Array("alive".utf8), to: "ccs.heartbeat"))
        let message = try test.next { if case .message(let message) = $0 { message } else { nil } }
        #expect(message.subscription == number && message.payload == Array("alive".utf8))
        client.stop()
        #expect(try test.disconnected() == .stopped)
    }

    @Test("frames of the largest length are appended, read and followed")
    func large() throws {
        let server = try NATSServerProcess()
        let test = try TestClient(server)
        try test.connected()
        try test.createStream(0)
        let client = try test.jetStream
        let bytes = (0..<Limits.ClusterLog.frameBytes).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for number in 1...5 as ClosedRange<UInt64> { client.append(bytes, frame(number), to: 0) }
        client.append(bytes + [0], frame(6), to: 0)
        let refused = try test.next { if case .refused(0, _, let failure) = $0 { failure } else { nil } }
        #expect(refused == .tooLong(bytes: 1_048_577, limit: 1_048_576))
        for _ in 1...5 { try test.next { if case .stored = $0 { true } else { nil } } }
        client.read(LogPosition(5), of: 0)
        let read = try test.next { if case .record(0, _, let bytes) = $0 { bytes } else { nil } }
        #expect(read == bytes)
        client.follow(0, after: .start)
        for number in 1...5 as ClosedRange<UInt64> {
            let followed = try test.next { event -> (LogPosition, [UInt8])? in
                if case .followed(0, let position, let bytes) = event { (position, bytes) } else { nil }
            }
            #expect(followed.0 == LogPosition(number) && followed.1 == bytes)
        }
    }

    @Test("a stream that does not exist, and requests without a connection, fail by name")
    func failures() throws {
        let server = try NATSServerProcess()
        let test = try TestClient(server)
        let client = try test.jetStream
        client.append([1], frame(1), to: 0)
        let isPublished = client.publish([1], to: "a")
        let early = try test.next { if case .refused(0, _, let failure) = $0 { failure } else { nil } }
        #expect(early == .disconnected && !isPublished)
        try test.connected()
        client.append([1], frame(1), to: 0)
        let refused = try test.next { if case .refused(0, _, let failure) = $0 { failure } else { nil } }
        #expect(refused == .noResponder)
        client.follow(0, after: .start)
        let follow = try test.next { if case .followFailed(0, let failure) = $0 { failure } else { nil } }
        #expect(follow == .noResponder)
        client.read(LogPosition(1), of: 0)
        let read = try test.next { if case .readFailed(0, _, let failure) = $0 { failure } else { nil } }
        #expect(read.isStreamNotFound)
        client.examineStream(0, StreamSettings(replicas: 1))
        let examined = try test.next { if case .streamFailed(0, let failure) = $0 { failure } else { nil } }
        #expect(examined.isStreamNotFound)
        client.createStream(0, StreamSettings(replicas: 3))
        let created = try test.next { if case .streamFailed(0, let failure) = $0 { failure } else { nil } }
        #expect("\(created)".contains("error 10074"))
    }
}
