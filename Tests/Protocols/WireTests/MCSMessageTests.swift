import Basics
import Testing
import Wire
import WireSupport

/// Frames against bytes derived by hand from the field tables of mcs-device 2.
@Suite struct MCSMessageTests {
    static let goldens: [(MCS.Message, String)] = [
        (.heartbeatPing(MCS.Heartbeat()), "00 00"),
        (.heartbeatPing(MCS.Heartbeat(streamID: 300)), "00 03 08 AC02"),
        (.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 5)), "01 02 10 05"),
        (.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 5, status: 1)), "01 04 10 05 18 01"),
        (.heartbeatAck(MCS.Heartbeat(streamID: -1)), "01 0B 08 FFFFFFFFFFFFFFFFFF01"),
        (.close(MCS.Close()), "04 00"),
        (.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 3)), "07 0C 10 01 1A 00 3A 04 08 0D 12 00 50 03"),
        (.iq(MCS.IqStanza(.selectiveAck([]))), "07 0A 10 01 1A 00 3A 04 08 0C 12 00"),
        (.iq(MCS.IqStanza(.selectiveAck([mcsText("ab")]))), "07 0E 10 01 1A 00 3A 08 08 0C 12 04 0A 02 6162"),
        (.streamError(MCS.StreamError(type: mcsText("t"))), "0A 03 0A 01 74"),
    ]

    @Test("a message has the bytes derived by hand", arguments: goldens)
    func golden(message: MCS.Message, hex: String) throws {
        #expect(mcsWritten(message) == mcsBytes(hex))
        #expect(try mcsFirstMessage(of: mcsBytes(hex)) == message)
    }

    @Test("a login response has the right field numbers")
    func loginResponse() {
        var response = MCS.LoginResponse()
        response.id = mcsText("x")
        response.jid = mcsText("1@m/1")
        response.lastStreamIDReceived = 1
        response.serverTimestamp = 128
        #expect(
            mcsWritten(.loginResponse(response)) == mcsBytes("03 0F 0A0178 1205 31406D2F31 3001 408001"))
        response.error = MCS.ErrorInfo(code: 401)
        response.jid = nil
        response.lastStreamIDReceived = nil
        response.serverTimestamp = nil
        #expect(mcsWritten(.loginResponse(response)) == mcsBytes("03 08 0A0178 1A03 089103"))
    }

    @Test("a data message has the right field numbers, and a field over 15 has a tag of two bytes")
    func dataMessage() {
        var message = MCS.DataMessage()
        message.id = mcsText("I")
        message.from = mcsText("F")
        message.category = mcsText("C")
        message.token = mcsText("T")
        message.body = mcsBytes("3A06 0A016B 120176")
        message.fromTrustedServer = false
        message.persistentID = mcsText("P")
        message.timeToLive = 60
        message.sent = 1
        message.immediateAck = true
        #expect(
            mcsWritten(.dataMessage(message))
                == mcsBytes(
                    """
                    08 22 120149 1A0146 2A0143 320154 3A06 0A016B 120176 4000 4A0150 88013C 900101 C00101
                    """))
    }

    @Test("every message is decoded as it was encoded", arguments: MCSSamples.all)
    func roundTrip(message: MCS.Message) throws {
        #expect(try mcsFirstMessage(of: mcsWritten(message)) == message)
        let stream = [MCS.version] + mcsWritten(message)
        let exercised = MCS.exercise(stream.raw)
        #expect(exercised.messages == [message])
        #expect(exercised.error == nil)
    }

    @Test(
        "the length of a long message has the necessary number of bytes",
        arguments: [0, 100, 127, 128, 16_383, 16_400, 60_000])
    func lengths(size: Int) throws {
        var error = MCS.StreamError(type: [])
        error.text = [UInt8](repeating: 0x61, count: size)
        let frame = mcsWritten(.streamError(error))
        let (length, width) = try mcsVarint(Array(frame.dropFirst()))
        #expect(Int(length) == frame.count - 1 - width)
        #expect(width == Varint.size(length))
        #expect(try mcsFirstMessage(of: frame) == .streamError(error))
    }

    @Test("unknown fields are skipped")
    func unknownFields() throws {
        let heartbeat = "1002 A201 03 616263 A901 0102030405060708 AD01 01020304 B001 FFFF03 1801"
        #expect(
            try mcsMessage(tag: .heartbeatAck, heartbeat)
                == .heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 2, status: 1)))
    }

    @Test("a known field of another type, a group and a field 0 are errors")
    func malformed() {
        #expect(throws: MCSError.wrongWireType(field: 1)) { try mcsMessage(tag: .heartbeatPing, "0A00") }
        #expect(throws: MCSError.unsupportedWireType(3)) { try mcsMessage(tag: .heartbeatPing, "0B0C") }
        #expect(throws: MCSError.invalidFieldNumber) { try mcsMessage(tag: .heartbeatPing, "0000") }
        #expect(throws: MCSError.truncated) { try mcsMessage(tag: .heartbeatPing, "08") }
        #expect(throws: MCSError.missingField(5)) { try mcsMessage(tag: .dataMessage, "") }
        #expect(throws: MCSError.missingField(3)) { try mcsMessage(tag: .loginRequest, "") }
    }

    @Test("received IDs beyond the limit are dropped, the oldest first", arguments: [1, 10, 4_096, 5_000])
    func manyReceivedIDs(surplus: Int) throws {
        var login = MCSSamples.login
        login.receivedIDs = (0..<Limits.MCS.receivedIDs + surplus).map { mcsText("\($0)") }
        let again = try mcsFirstMessage(of: mcsWritten(.loginRequest(login)))
        login.receivedIDs.removeFirst(surplus)
        #expect(again == .loginRequest(login))
    }

    @Test("canary: a wrong field number would be detected")
    func canary() {
        #expect(mcsWritten(.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 5))) != mcsBytes("01 02 08 05"))
    }
}

/// Pairs of a body.
@Suite struct MCSAppDataTests {
    @Test("pairs are appended in the encoding of app_data and visited in order")
    func pairs() throws {
        var body = ByteBuffer()
        AppData.append(key: "k", text: "v", to: &body)
        #expect(body.copied() == mcsBytes("3A06 0A016B 120176"))
        let long = [UInt8](repeating: 0x61, count: 200)
        AppData.append(key: mcsText("k").raw, value: long.raw, to: &body)
        var seen: [String] = []
        try AppData.forEach(in: body.bytes) { key, value in
            seen.append("\(String(decoding: [UInt8](copying: key), as: UTF8.self)):\(value.byteCount)")
        }
        #expect(seen == ["k:1", "k:200"])
        let payload = try AppData.payloadBytes(of: body.bytes)
        #expect(payload == 203)
        #expect(body.count == 8 + 209)
    }

    @Test("pairs of a client are normalized without unknown fields")
    func canonical() throws {
        var expected = MCS.DataMessage()
        expected.category = mcsText("C")
        expected.body = mcsBytes("3A06 0A016B 120176")
        #expect(
            try mcsMessage(tag: .dataMessage, "2A0143 3A08 120176 2001 0A016B") == .dataMessage(expected))
    }

    @Test(
        "the pairs of one key are left out, and everything else is unchanged",
        arguments: [
            ("3A06 0A016B 120176", "3A06 0A016B 120176"), ("3A06 0A0173 120176", ""), ("", ""),
            ("3A06 0A0173 120131 3A06 0A016B 120176 3A06 120132 0A0173", "3A06 0A016B 120176"),
            ("3A06 0A0173 120176 AA0102 00FF 1005", "AA0102 00FF 1005"),
            ("3A04 0A027373 3A06 0A0173", "3A04 0A027373 3A06 0A0173"),
        ])
    func leavingOut(body: String, expected: String) {
        let bytes = mcsBytes(body)
        var buffer = ByteBuffer()
        buffer.append(byte: 1)
        AppData.append(bytes.raw, leavingOut: "s", to: &buffer)
        #expect(buffer.copied() == [1] + mcsBytes(expected))
    }

    @Test("a pair without key or value is an error", arguments: ["3A03 120176", "3A03 0A016B", "3A00"])
    func incomplete(text: String) {
        #expect(throws: MCSError.self) { try mcsPayloadBytes(text) }
    }

    @Test("canary: values count in the size")
    func canary() throws {
        #expect(try mcsPayloadBytes("3A06 0A016B 120176") != 1)
    }
}
