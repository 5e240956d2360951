import Basics
import Delivery
import Sessions
import Testing
import Wire

/// Frames of every kind, truncated at every byte.
@Suite struct DeviceTruncationTests {
    /// One message of each kind, with every optional field.
    static let messages: [MCS.Message] = [
        .heartbeatPing(MCS.Heartbeat(streamID: 7, lastStreamIDReceived: 1, status: 1)),
        .heartbeatAck(MCS.Heartbeat(streamID: -1, lastStreamIDReceived: 2, status: -1)),
        .loginRequest(login), .loginResponse(MCS.LoginResponse()), .close(MCS.Close()),
        .iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 2)),
        .iq(MCS.IqStanza(.selectiveAck([Array("0:1%12345678f9fd7ecd".utf8), Array("x".utf8)]))),
        .dataMessage(upstream), .streamError(MCS.StreamError(type: [0x74], text: [0x78])),
    ]

    private static let login: MCS.LoginRequest = {
        var login = DeviceHarness.login()
        login.receivedIDs = [Array("0:1%12345678f9fd7ecd".utf8)]
        login.settings = [MCS.Setting(name: Array("hbping".utf8), value: Array("60000".utf8))]
        login.heartbeatStat = MCS.HeartbeatStat(hasTimedOut: true, intervalMilliseconds: 60_000)
        return login
    }()

    private static let upstream: MCS.DataMessage = {
        var message = DeviceSamples.upstream()
        message.queued = 1
        message.rawData = [1, 2]
        message.lastStreamIDReceived = 2
        return message
    }()

    @Test(
        "an incomplete frame costs only its bytes, and ends the connection at its deadline",
        arguments: 0..<9)
    func stops(at place: Int) {
        let frame = DeviceHarness.bytes(Self.messages[place])
        for length in 0..<frame.count {
            var harness = DeviceHarness.loggedIn()
            harness.receive(Array(frame[..<length]))
            let (quiet, before) = (harness.io.events.isEmpty, harness.io.close)
            #expect(quiet && before == nil, "at \(length)")
            harness.pass(seconds: Limits.MCS.frameDeadlineSeconds - 1)
            let almost = harness.io.close
            #expect(almost == nil)
            harness.pass(seconds: 1)
            let after = harness.io.close
            #expect(after == (length == 0 ? nil : .frameDeadline), "at \(length)")
            #expect(harness.takeSent() == (length == 0 ? [] : [.close(MCS.Close())]), "at \(length)")
        }
    }

    @Test("a connection that is lost within a frame leaves nothing behind", arguments: 0..<9)
    func lost(at place: Int) {
        let frame = DeviceHarness.bytes(Self.messages[place])
        for length in 0..<frame.count {
            var harness = DeviceHarness.loggedIn()
            harness.receive(Array(frame[..<length]))
            harness.end(.peerReset)
            #expect(harness.takeEvents().map(deviceEventWord) == ["device.closed"], "at \(length)")
            #expect(harness.takeSent().isEmpty)
            let deadline = harness.session.deadline
            #expect(deadline == .distantFuture)
        }
    }

    @Test("a frame has one deadline even when its bytes arrive one by one")
    func slow() {
        let frame = DeviceHarness.bytes(.dataMessage(Self.upstream))
        var harness = DeviceHarness.loggedIn()
        for byte in frame {
            harness.receive([byte])
            harness.pass(seconds: 2)
        }
        let close = harness.io.close
        #expect(close == .frameDeadline)
    }

    @Test("each frame has its own deadline even when no chunk ends with a frame")
    func pieces() {
        let frame = DeviceHarness.bytes(.heartbeatAck(MCS.Heartbeat(status: 1)))
        var harness = DeviceHarness.loggedIn { $0.devicePingSeconds = 3_000 }
        harness.receive(Array(frame.prefix(1)))
        for _ in 0..<10 {
            harness.pass(seconds: Limits.MCS.frameDeadlineSeconds - 1)
            harness.receive(Array(frame.dropFirst()) + frame.prefix(1))
        }
        let close = harness.io.close
        #expect(close == nil)
        harness.receive(Array(frame.dropFirst()))
        harness.pass(seconds: Limits.MCS.frameDeadlineSeconds)
        let later = harness.io.close
        #expect(later == nil)
    }

    @Test("a frame that starts while the login is checked has a deadline")
    func afterLogin() {
        var harness = DeviceHarness()
        harness.receive([MCS.version] + DeviceHarness.bytes(.loginRequest(DeviceHarness.login())) + [0])
        harness.perform(.device(.loginAccepted))
        harness.pass(seconds: Limits.MCS.frameDeadlineSeconds)
        let close = harness.io.close
        #expect(close == .frameDeadline)
    }

    @Test(
        "a frame truncated at any byte, with its size adjusted, is accepted or ends the connection with a reason",
        arguments: 0..<9
    )
    func cut(at place: Int) {
        let frame = DeviceHarness.bytes(Self.messages[place])
        let head = frame.count > 129 ? 3 : 2
        for length in 0...max(0, frame.count - head) {
            var size = ByteBuffer()
            Varint.append(UInt64(length), to: &size)
            var harness = DeviceHarness.loggedIn()
            harness.receive([frame[0]] + size.copied() + frame[head..<min(frame.count, head + length)])
            let close = harness.io.close
            let allowed: [CloseReason?] =
                switch frame[0] {
                case MCS.Tag.loginRequest.rawValue: [.protocolViolation]
                case MCS.Tag.close.rawValue: [.peerEndedStream]
                case MCS.Tag.loginResponse.rawValue, MCS.Tag.streamError.rawValue: [nil]
                default: [nil, .protocolViolation]
                }
            #expect(allowed.contains(close), "\(frame[0]) at \(length)")
        }
    }

    @Test("a login truncated at any byte, with its size adjusted, reaches the core only if it is valid")
    func cutLogin() {
        let frame = DeviceHarness.bytes(.loginRequest(Self.login))
        let content = Array(frame.dropFirst(3))
        for length in 0..<content.count {
            var size = ByteBuffer()
            Varint.append(UInt64(length), to: &size)
            var harness = DeviceHarness()
            harness.receive([MCS.version, frame[0]] + size.copied() + content[..<length])
            let close = harness.io.close
            let hasAsked = harness.takeEvents().map(deviceEventWord) == ["device.login"]
            #expect(
                hasAsked ? close == nil : close == .protocolViolation || close == .loginRefused,
                "at \(length)")
        }
    }

    @Test("canary: a frame that is complete in time is answered")
    func canary() {
        var harness = DeviceHarness.loggedIn()
        harness.receive([0])
        harness.pass(seconds: Limits.MCS.frameDeadlineSeconds - 1)
        harness.receive([0])
        harness.pass(seconds: Limits.MCS.frameDeadlineSeconds)
        let close = harness.io.close
        #expect(close == nil)
        #expect(harness.takeSent().first == .heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 2)))
    }
}
