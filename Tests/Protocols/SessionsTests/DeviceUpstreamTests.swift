import Basics
import Delivery
import Sessions
import Testing
import Wire

@Suite struct DeviceUpstreamTests {
    @Test("a message is submitted to the core with the fields of its frame")
    func submits() throws {
        var harness = DeviceHarness.loggedIn()
        var message = DeviceSamples.upstream()
        message.queued = 10
        harness.receive(.dataMessage(message))
        let submission = try submission(harness.takeEvents())
        #expect(submission.requester == Requester(connection: DeviceHarness.connection, requestID: 1))
        #expect(submission.device == DeviceHarness.device)
        #expect(submission.sender == SenderID(123))
        #expect(!submission.isFCMDomain)
        #expect(submission.category == Array("com.example.app".utf8))
        #expect(submission.messageID == Array("up-1".utf8))
        #expect(submission.persistentID == Array("p-1".utf8))
        #expect(submission.lifetimeSeconds == 50)
        #expect(submission.body == DeviceSamples.pairs(("a", "b")))
        #expect(harness.takeSent().isEmpty)
    }

    @Test("the app's message ID is read from the field that its kind of client uses")
    func messageIDs() throws {
        for (login, message, expected) in [
            ("android-30", DeviceSamples.upstream(id: "2A", persistentID: "app-id"), "app-id"),
            ("android-30", DeviceSamples.upstream(id: "2A", persistentID: nil), "2A"),
            ("chrome-63", DeviceSamples.upstream(id: "app-id", persistentID: "17"), "app-id"),
            ("chrome-63", DeviceSamples.upstream(id: "", persistentID: "17"), "17"),
        ] {
            var harness = DeviceHarness.loggedIn(id: login)
            harness.receive(.dataMessage(message))
            #expect(try submission(harness.takeEvents()).messageID == Array(expected.utf8))
        }
    }

    @Test("the lifetime is what remains of the requested one, within the limits")
    func lifetimes() throws {
        for (asked, queued, expected) in [
            (nil, nil, 86_400), (0, nil, 0), (0, 100, 0), (-5, nil, 0), (100_000, nil, 86_400), (60, 59, 1),
            (60, -9, 60),
        ] as [(Int32?, Int32?, Int)] {
            var harness = DeviceHarness.loggedIn()
            var message = DeviceSamples.upstream(timeToLive: asked)
            message.queued = queued
            harness.receive(.dataMessage(message))
            #expect(try submission(harness.takeEvents()).lifetimeSeconds == expected)
        }
    }

    @Test("the target is the sender ID before the at sign, whatever the domain")
    func addresses() throws {
        for (to, isFCM) in [
            ("123@gcm.googleapis.com", false), ("123@fcm.googleapis.com", true),
            ("123@gcm.google.com", false),
            ("123", false),
        ] {
            var harness = DeviceHarness.loggedIn()
            harness.receive(.dataMessage(DeviceSamples.upstream(to: to)))
            let submission = try submission(harness.takeEvents())
            #expect(submission.sender == SenderID(123))
            #expect(submission.isFCMDomain == isFCM)
        }
    }

    @Test(
        "an invalid message is answered with send_error, and its frame is acknowledged",
        arguments: [
            (DeviceSamples.upstream(to: "example@gcm.googleapis.com"), "invalid_parameters"),
            (DeviceSamples.upstream(to: "0@gcm.googleapis.com"), "invalid_parameters"),
            (DeviceSamples.upstream(to: "9223372036854775808"), "invalid_parameters"),
            (DeviceSamples.upstream(to: ""), "missing_to"),
            (DeviceSamples.upstream(category: ""), "invalid_parameters"),
            (expired(), "service_not_available"), (tooLarge(), "messagetoobig"),
            (notText(), "invalid_parameters"), (repeatedKey(), "invalid_parameters"),
        ])
    func sendErrors(message: MCS.DataMessage, reason: String) throws {
        var harness = DeviceHarness.loggedIn()
        harness.receive(.dataMessage(message))
        guard case .dataMessage(let answer) = harness.takeSent().first else {
            throw DeviceUnexpected("nothing")
        }
        #expect(answer.category == message.category)
        #expect(answer.persistentID == Array("up-1".utf8))
        #expect(answer.lastStreamIDReceived == 2)
        #expect(
            answer.body
                == DeviceSamples.pairs(
                    ("message_type", "send_error"), ("message_id", "up-1"), ("error", reason)))
        #expect(harness.takeEvents().isEmpty)
    }

    @Test(
        "an identifier with a character that XML cannot carry is refused; in data it is kept",
        arguments: ["\u{FFFF}", "\u{FFFE}", "\u{1}", "\0"])
    func forbiddenCharacters(character: String) throws {
        for message in [
            DeviceSamples.upstream(persistentID: "up\(character)"),
            DeviceSamples.upstream(id: "up\(character)", persistentID: "p"),
            DeviceSamples.upstream(category: "com.example\(character)"),
        ] {
            var harness = DeviceHarness.loggedIn(
                id: message.persistentID == Array("p".utf8) ? "chrome-63" : "android-30")
            harness.receive(.dataMessage(message))
            #expect(harness.takeEvents().isEmpty)
            guard case .dataMessage(let answer) = harness.takeSent().first else {
                throw DeviceUnexpected("nothing")
            }
            #expect(
                answer.body
                    == DeviceSamples.pairs(
                        ("message_type", "send_error"),
                        ("message_id", String(decoding: answer.persistentID ?? [], as: UTF8.self)),
                        ("error", "invalid_parameters")))
        }
        var harness = DeviceHarness.loggedIn()
        var message = DeviceSamples.upstream()
        message.body = DeviceSamples.pairs(("k\(character)", "v\(character)"))
        harness.receive(.dataMessage(message))
        #expect(try submission(harness.takeEvents()).body == message.body)
    }

    static func expired() -> MCS.DataMessage {
        var message = DeviceSamples.upstream()
        message.queued = 60
        return message
    }

    static func tooLarge() -> MCS.DataMessage {
        var message = DeviceSamples.upstream()
        message.body = DeviceSamples.pairs(("k", String(repeating: "v", count: Limits.Message.payloadBytes)))
        return message
    }

    static func notText() -> MCS.DataMessage {
        var message = DeviceSamples.upstream()
        message.body = [0x3A, 6, 0x0A, 1, 0x6B, 0x12, 1, 0xFF]
        return message
    }

    static func repeatedKey() -> MCS.DataMessage {
        var message = DeviceSamples.upstream()
        message.body = DeviceSamples.pairs(("k", "1"), ("l", "2"), ("k", "1"))
        return message
    }

    @Test("a payload of exactly the limit is accepted")
    func largest() throws {
        var harness = DeviceHarness.loggedIn()
        var message = DeviceSamples.upstream()
        message.body = DeviceSamples.pairs(
            ("k", String(repeating: "v", count: Limits.Message.payloadBytes - 1)))
        harness.receive(.dataMessage(message))
        #expect(try submission(harness.takeEvents()).body == message.body)
    }

    @Test("internal messages of the client are counted and dropped")
    func swallowed() {
        var harness = DeviceHarness.loggedIn()
        harness.receive(
            .dataMessage(DeviceSamples.upstream(to: "", category: "com.google.android.gsf.gtalkservice")),
            .dataMessage(DeviceSamples.upstream(to: "google.com", category: "com.google.android.gms")))
        #expect(harness.takeEvents().isEmpty)
        harness.receive(.heartbeatPing(MCS.Heartbeat()))
        #expect(harness.takeSent() == [.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 4))])
    }

    @Test("a message is acknowledged when it is on disk, and not before")
    func acknowledges() {
        var harness = DeviceHarness.loggedIn()
        harness.receive(.dataMessage(DeviceSamples.upstream()))
        harness.receive(.heartbeatPing(MCS.Heartbeat()))
        #expect(harness.takeSent() == [.heartbeatAck(MCS.Heartbeat())])
        harness.perform(.device(.upstreamStored(requestID: 1)))
        #expect(harness.takeSent() == [.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 3))])
    }

    @Test("no frame is acknowledged while an earlier one is not on disk")
    func order() {
        var harness = DeviceHarness.loggedIn()
        harness.receive(
            .dataMessage(DeviceSamples.upstream(id: "a")), .dataMessage(DeviceSamples.upstream(id: "b")),
            .dataMessage(DeviceSamples.upstream(id: "c")))
        harness.perform(.device(.upstreamStored(requestID: 2)))
        harness.pass(seconds: 1)
        #expect(harness.takeSent().isEmpty)
        harness.perform(.device(.upstreamStored(requestID: 1)))
        harness.pass(seconds: 1)
        #expect(harness.takeSent() == [.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 3))])
        harness.perform(.device(.upstreamStored(requestID: 3)))
        #expect(harness.takeSent() == [.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 4))])
    }

    @Test("one stream ack answers a burst")
    func burst() {
        var harness = DeviceHarness.loggedIn()
        for number in 1...5 { harness.receive(.dataMessage(DeviceSamples.upstream(id: "\(number)"))) }
        for requestID in 1...5 as ClosedRange<UInt32> {
            harness.perform(.device(.upstreamStored(requestID: requestID)))
        }
        #expect(harness.takeSent() == [.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 6))])
    }

    @Test("no stream ack is due when an outgoing frame has carried the acknowledgement")
    func piggyback() throws {
        var harness = DeviceHarness.loggedIn()
        harness.receive(
            .dataMessage(DeviceSamples.upstream(id: "a")), .dataMessage(DeviceSamples.upstream(id: "b")))
        harness.perform(.device(.upstreamStored(requestID: 1)))
        harness.perform(.device(.deliver(DeviceSamples.delivery(DeviceSamples.stored(1)))))
        guard case .dataMessage(let sent) = harness.takeSent().first else {
            throw DeviceUnexpected("nothing")
        }
        #expect(sent.lastStreamIDReceived == 2)
        harness.pass(seconds: 1)
        #expect(harness.takeSent().isEmpty)
    }

    @Test("frames without messages are acknowledged after ten")
    func afterTen() {
        var harness = DeviceHarness.loggedIn()
        for _ in 0..<9 { harness.receive(.heartbeatAck(MCS.Heartbeat())) }
        #expect(harness.takeSent().isEmpty)
        harness.receive(.heartbeatAck(MCS.Heartbeat()))
        #expect(harness.takeSent() == [.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 11))])
    }

    @Test(
        "a message that could not be stored is never acknowledged, and the device is disconnected to reconnect"
    )
    func unavailable() {
        var harness = DeviceHarness.loggedIn()
        harness.receive(
            .dataMessage(DeviceSamples.upstream(id: "a")), .dataMessage(DeviceSamples.upstream(id: "b")))
        harness.perform(.device(.upstreamRefused(requestID: 1, .unavailable)))
        harness.perform(.device(.upstreamStored(requestID: 2)))
        for _ in 0..<20 { harness.receive(.heartbeatPing(MCS.Heartbeat())) }
        #expect(harness.takeSent().allSatisfy { $0 == .heartbeatAck(MCS.Heartbeat()) })
        harness.pass(seconds: Limits.Device.upstreamRetrySeconds)
        #expect(harness.takeSent() == [.close(MCS.Close())])
        let close = harness.io.close
        #expect(close == .storeFailed)
    }

    @Test("a node of a cluster disconnects the device soon, when its message could not be stored")
    func unavailableInCluster() {
        var harness = DeviceHarness.loggedIn {
            $0.upstreamRetrySeconds = Limits.Device.clusterUpstreamRetrySeconds
        }
        harness.receive(.dataMessage(DeviceSamples.upstream(id: "a")))
        harness.perform(.device(.upstreamRefused(requestID: 1, .unavailable)))
        #expect(harness.takeSent().isEmpty)
        harness.pass(seconds: Limits.Device.clusterUpstreamRetrySeconds)
        #expect(harness.takeSent() == [.close(MCS.Close())])
        let close = harness.io.close
        #expect(close == .storeFailed)
    }

    @Test("a message that the core refuses is reported to the app and acknowledged")
    func refused() throws {
        var harness = DeviceHarness.loggedIn()
        harness.receive(.dataMessage(DeviceSamples.upstream()))
        harness.perform(.device(.upstreamRefused(requestID: 1, .invalidParameters)))
        let sent = harness.takeSent()
        guard case .dataMessage(let answer) = sent.first, sent.count == 1 else {
            throw DeviceUnexpected(sent)
        }
        #expect(answer.lastStreamIDReceived == 2)
        #expect(answer.from == Array("123".utf8))
        #expect(
            answer.body
                == DeviceSamples.pairs(
                    ("message_type", "send_error"), ("message_id", "up-1"), ("error", "invalid_parameters")))
        harness.perform(.device(.upstreamRefused(requestID: 1, .invalidParameters)))
        #expect(harness.takeSent().isEmpty)
    }

    @Test("waiting messages are limited per app")
    func caps() throws {
        var harness = DeviceHarness.loggedIn()
        for number in 0..<Limits.Mailbox.waitingUpstream {
            harness.receive(.dataMessage(DeviceSamples.upstream(id: "\(number)")))
        }
        #expect(harness.takeEvents().count == Limits.Mailbox.waitingUpstream)
        harness.receive(.dataMessage(DeviceSamples.upstream(id: "late")))
        #expect(harness.takeEvents().isEmpty)
        guard case .dataMessage(let answer) = harness.takeSent().first else {
            throw DeviceUnexpected("nothing")
        }
        #expect(answer.persistentID == Array("late".utf8))
        #expect(answer.lastStreamIDReceived == nil)
        harness.receive(.dataMessage(DeviceSamples.upstream(category: "com.example.other")))
        #expect(harness.takeEvents().count == 1)
        for number in 0..<200 {
            harness.receive(.dataMessage(DeviceSamples.upstream(category: "com.example.n\(number)")))
        }
        #expect(
            harness.takeEvents().count == Limits.Device.waitingUpstream - Limits.Mailbox.waitingUpstream - 1)
    }

    @Test("canary: a reply with another request ID resolves nothing")
    func canary() {
        var harness = DeviceHarness.loggedIn()
        harness.receive(.dataMessage(DeviceSamples.upstream()))
        harness.perform(.device(.upstreamStored(requestID: 2)))
        harness.pass(seconds: 1)
        #expect(harness.takeSent().isEmpty)
    }

    private func submission(_ events: [Event]) throws -> UpstreamSubmission {
        guard case .device(_, .upstreamReceived(let submission)) = events.first, events.count == 1 else {
            throw DeviceUnexpected(events)
        }
        return submission
    }
}
