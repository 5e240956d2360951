import Basics
import Delivery
import Sessions
import Testing
import Wire

@Suite struct DeviceDownstreamTests {
    static let salt = "%12345678f9fd7ecd"

    @Test("a stored message is written with every field in its place")
    func frame() throws {
        var harness = DeviceHarness.loggedIn()
        let message = DeviceSamples.stored(1_600_000_000_000_001, wantsReceipt: true)
        harness.now.wall += 1_500
        harness.perform(.device(.deliver(DeviceSamples.delivery(message, subtype: "x"))))
        var expected = MCS.DataMessage()
        expected.id = Array("ABCD0002".utf8)
        expected.from = Array("123".utf8)
        expected.category = Array("com.example.app".utf8)
        expected.token = Array("do_not_collapse".utf8)
        expected.body = DeviceSamples.pairs(("k", "v"), ("subtype", "x"))
        expected.fromTrustedServer = false
        expected.persistentID = Array("0:1600000000000001\(Self.salt)".utf8)
        expected.timeToLive = 59
        expected.sent = DeviceHarness.startWall
        expected.immediateAck = true
        #expect(harness.takeSent() == [.dataMessage(expected)])
    }

    @Test("an unstored message has no persistent ID and needs no acknowledgement")
    func passing() throws {
        var harness = DeviceHarness.loggedIn()
        harness.perform(
            .device(
                .deliver(DeviceSamples.delivery(DeviceSamples.stored(1, lifetimeSeconds: 0), isStored: false))
            ))
        guard case .dataMessage(let sent) = harness.takeSent().first else {
            throw DeviceUnexpected("nothing")
        }
        #expect(sent.persistentID == nil)
        #expect(sent.timeToLive == 0)
        #expect(sent.immediateAck == nil)
        harness.receive(.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 3)))
        #expect(harness.takeEvents().isEmpty)
    }

    @Test(
        "the field token has the collapse key, else what an Android app expects, else it is absent",
        arguments: [
            ("com.example.app", "score", "score"), ("com.example.app", nil, "do_not_collapse"),
            ("org.chromium.linux", nil, nil), ("com.chrome.linux", nil, nil),
            ("abcdefghijklmnopabcdefghijklmnop", nil, nil),
            ("abcdefghijklmnopabcdefghijklmnop", "score", "score"),
        ] as [(String, String?, String?)])
    func token(category: String, key: String?, expected: String?) throws {
        var harness = DeviceHarness.loggedIn()
        harness.perform(
            .device(
                .deliver(
                    DeviceSamples.delivery(DeviceSamples.stored(1, collapseKey: key), category: category))))
        guard case .dataMessage(let sent) = harness.takeSent().first else {
            throw DeviceUnexpected("nothing")
        }
        #expect(sent.token == expected.map { Array($0.utf8) })
    }

    @Test("a marker contains the number of discarded messages")
    func marker() throws {
        var harness = DeviceHarness.loggedIn()
        harness.perform(
            .device(
                .deliver(
                    DeviceSamples.delivery(
                        DeviceSamples.stored(1, body: [], kind: .discardedMarker(count: 101)))))
        )
        guard case .dataMessage(let sent) = harness.takeSent().first else {
            throw DeviceUnexpected("nothing")
        }
        #expect(
            sent.body == DeviceSamples.pairs(("message_type", "deleted_messages"), ("total_deleted", "101")))
        #expect(sent.persistentID != nil)
    }

    @Test("frame IDs differ")
    func ids() {
        var harness = DeviceHarness.loggedIn()
        for number in 1...3 {
            harness.perform(.device(.deliver(DeviceSamples.delivery(DeviceSamples.stored(UInt64(number))))))
        }
        var ids: Set<[UInt8]> = []
        for case .dataMessage(let sent) in harness.takeSent() { ids.insert(sent.id ?? []) }
        #expect(ids.count == 3)
    }

    @Test("messages are acknowledged by the count on any frame, in one event for all frames of a call")
    func streamAcks() {
        var harness = DeviceHarness.loggedIn()
        // Frames 1 and 2 are the login response and the list of upstream IDs.
        for number in 1...5 {
            harness.perform(.device(.deliver(DeviceSamples.delivery(DeviceSamples.stored(UInt64(number))))))
        }
        harness.receive(
            .heartbeatPing(MCS.Heartbeat(lastStreamIDReceived: 3)),
            .iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 4)),
            .heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 5)))
        #expect(acknowledged(harness.takeEvents()) == [[1, 2, 3]])
        var message = DeviceSamples.upstream()
        message.lastStreamIDReceived = 6
        harness.receive(.dataMessage(message))
        #expect(acknowledged(harness.takeEvents()) == [[4]])
        harness.receive(.heartbeatPing(MCS.Heartbeat(lastStreamIDReceived: 6)))
        #expect(acknowledged(harness.takeEvents()).isEmpty)
    }

    @Test("an impossible count is ignored", arguments: [0, -1, 100, .max, .min] as [Int32])
    func absurdCounts(count: Int32) {
        var harness = DeviceHarness.loggedIn()
        harness.perform(.device(.deliver(DeviceSamples.delivery(DeviceSamples.stored(1)))))
        harness.receive(.heartbeatPing(MCS.Heartbeat(lastStreamIDReceived: count)))
        #expect(acknowledged(harness.takeEvents()).isEmpty)
    }

    @Test(
        "messages are acknowledged one by one by their persistent IDs; unknown IDs and wrong salts are ignored"
    )
    func selectiveAcks() {
        var harness = DeviceHarness.loggedIn()
        for number in 1...4 {
            harness.perform(
                .device(.deliver(DeviceSamples.delivery(DeviceSamples.stored(UInt64(number) + 10)))))
        }
        let ids = [
            "0:12\(Self.salt)", "0:14\(Self.salt)", "0:99\(Self.salt)", "0:11%00000000f9fd7ecd", "up-1", "",
        ]
        harness.receive(.iq(MCS.IqStanza(.selectiveAck(ids.map { Array($0.utf8) }))))
        #expect(acknowledged(harness.takeEvents()) == [[12, 14]])
        harness.receive(.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 6)))
        #expect(acknowledged(harness.takeEvents()) == [[11, 13]])
    }

    @Test("a device that never acknowledges is disconnected so that it reconnects")
    func tooMany() {
        var harness = DeviceHarness.loggedIn()
        for number in 0..<Limits.Mailbox.unacknowledgedPerDevice {
            harness.perform(.device(.deliver(DeviceSamples.delivery(DeviceSamples.stored(UInt64(number))))))
        }
        let before = harness.io.close
        #expect(before == nil)
        #expect(harness.takeSent().count == Limits.Mailbox.unacknowledgedPerDevice)
        harness.perform(
            .device(.deliver(DeviceSamples.delivery(DeviceSamples.stored(1_000_000), isStored: false))))
        #expect(harness.takeSent().count == 1)
        harness.perform(.device(.deliver(DeviceSamples.delivery(DeviceSamples.stored(1_000_001)))))
        let after = harness.io.close
        #expect(after == .tooManyUnacknowledged)
        #expect(harness.takeSent() == [.close(MCS.Close())])
    }

    @Test("a session accepts further messages when earlier ones are acknowledged")
    func room() {
        var harness = DeviceHarness.loggedIn()
        for number in 1...3_000 {
            harness.perform(.device(.deliver(DeviceSamples.delivery(DeviceSamples.stored(UInt64(number))))))
            if number.isMultiple(of: 700) {
                harness.receive(.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: Int32(number + 2))))
            }
        }
        let close = harness.io.close
        #expect(close == nil)
        #expect(acknowledged(harness.takeEvents()).map(\.count) == [700, 700, 700, 700])
    }

    @Test("congestion is reported, and writability after it")
    func congestion() {
        var harness = DeviceHarness.loggedIn()
        harness.setCongested(true)
        harness.setCongested(true)
        harness.perform(.device(.reportWhenWritable))
        #expect(harness.takeEvents().map(deviceEventWord) == ["device.congested"])
        harness.setCongested(false)
        #expect(harness.takeEvents().map(deviceEventWord) == ["device.writable"])
    }

    @Test("writability is reported at once when few bytes wait")
    func ready() {
        var harness = DeviceHarness.loggedIn()
        harness.perform(.device(.reportWhenWritable))
        #expect(harness.takeEvents().map(deviceEventWord) == ["device.writable"])
    }

    @Test("writability is reported after the host has tried to send when many bytes wait")
    func readyLater() {
        var harness = DeviceHarness.loggedIn()
        harness.io.out.bytes.append([UInt8](repeating: 0, count: Limits.Connection.outboundLowBytes + 1))
        harness.session.perform(.device(.reportWhenWritable), now: harness.now, io: &harness.io)
        harness.io.out.removeAll()
        #expect(harness.takeEvents().isEmpty)
        harness.pass(seconds: 0)
        #expect(harness.takeEvents().map(deviceEventWord) == ["device.writable"])
        harness.pass(seconds: 1)
        #expect(harness.takeEvents().isEmpty)
    }

    @Test("canary: a message that is not acknowledged stays unacknowledged")
    func canary() {
        var harness = DeviceHarness.loggedIn()
        harness.perform(.device(.deliver(DeviceSamples.delivery(DeviceSamples.stored(1)))))
        harness.receive(.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 2)))
        #expect(acknowledged(harness.takeEvents()).isEmpty)
        harness.receive(.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 3)))
        #expect(acknowledged(harness.takeEvents()) == [[1]])
    }

    private func acknowledged(_ events: [Event]) -> [[UInt64]] {
        events.compactMap { event in
            guard case .device(_, .acknowledged(_, let sequences)) = event else { return nil }
            return sequences.map(\.number)
        }
    }
}
