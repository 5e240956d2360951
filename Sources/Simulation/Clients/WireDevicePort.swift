import Basics
import Delivery
import Sessions
import Wire

/// A device that speaks MCS: frames in pieces of any size, stream acks or selective acks.
final class WireDevicePort: DevicePort, ClientEnd {
    private unowned let client: DeviceClient
    private let world: World
    private var pipe: Pipe?
    private var reader = MCS.FrameReader()
    private var sent: Int32 = 0
    private var delivered: Int32 = 0
    /// Unconfirmed upstream messages and the numbers of their frames.
    private var onTheWay: [(frame: Int32, number: Int, messageID: [UInt8])] = []
    private var isLoggedIn = false
    /// Whether it acknowledges by counts, which cover everything before, or by IDs.
    private let usesStreamAcks: Bool

    init?(_ world: World, _ client: DeviceClient) {
        self.world = world
        self.client = client
        usesStreamAcks = client.number % 2 == 0
        guard let server = world.server else { return nil }
        let pipe = world.openPipe(self)
        pipe.attach(server.accept { world.makeDeviceEnd($0, pipe) })
        self.pipe = pipe
    }

    // MARK: Sending

    private func transmit(_ write: (inout ByteBuffer) -> Void) {
        var buffer = ByteBuffer()
        if sent == 0 { buffer.append(byte: MCS.version) }
        write(&buffer)
        sent += 1
        pipe?.sendToServer(.bytes(buffer.copied()))
    }

    func login(_ identity: DeviceIdentity, received: [PersistentID]) {
        var request = MCS.LoginRequest()
        request.id = Array("chrome-1".utf8)
        request.domain = Array("mcs.android.com".utf8)
        request.user = Array("\(identity.device.number)".utf8)
        request.resource = request.user
        request.authToken = Array("\(identity.token)".utf8)
        request.receivedIDs = received.map { Array($0.text.utf8) }
        transmit { request.append(to: &$0) }
    }

    func acknowledge(_ ids: [PersistentID]) {
        if usesStreamAcks {
            client.acknowledgedAll()
            transmit { MCS.IqStanza(.streamAck, lastStreamIDReceived: delivered).append(to: &$0) }
        } else {
            transmit { MCS.IqStanza(.selectiveAck(ids.map { Array($0.text.utf8) })).append(to: &$0) }
        }
    }

    func acknowledgeForeign(_ ids: [PersistentID]) {
        transmit { MCS.IqStanza(.selectiveAck(ids.map { Array($0.text.utf8) })).append(to: &$0) }
    }

    func setIdle(_ isIdle: Bool) {
        transmit { MCS.Heartbeat(status: isIdle ? 1 : 0).append(as: .heartbeatPing, to: &$0) }
    }

    func send(_ draft: UpstreamDraft) {
        var message = MCS.DataMessage()
        message.sent = world.clock.honest
        message.id = draft.messageID
        message.from = Array("gcm@chrome.com".utf8)
        let address =
            draft.group.map { world.sessionSettings.value.seal.groupKey(of: $0) }
            ?? Array("\(draft.sender.number)".utf8)
        message.to = address + Array("@gcm.googleapis.com".utf8)
        message.category = draft.category
        var body = ByteBuffer()
        AppData.append(key: "n", value: draft.content.raw, to: &body)
        message.body = body.copied()
        if !draft.persistentID.isEmpty { message.persistentID = draft.persistentID }
        message.timeToLive = Int32(clamping: draft.lifetimeSeconds)
        message.queued = 0
        transmit { message.append(to: &$0) }
        onTheWay.append((sent, draft.number, draft.messageID))
    }

    func close() {
        if world.chance(1, in: 2) { transmit { MCS.Close().append(to: &$0) } }
        pipe?.closeByClient()
        pipe = nil
    }

    func endInput() { pipe?.endInput() }

    func cut() { pipe?.cut() }

    func lost() {
        pipe = nil
        client.receive(.lost, self)
    }

    // MARK: Receiving

    func received(_ cargo: Cargo) {
        guard case .bytes(let bytes) = cargo else { return }
        var reader = MCS.FrameReader()
        swap(&reader, &self.reader)
        do throws(MCSError) {
            try reader.read(bytes.raw) { (tag, message) throws(MCSError) in
                delivered += 1
                try receive(tag, message)
                return pipe != nil
            }
        } catch { world.fail("wire", "the server sent an invalid frame: \(error)") }
        swap(&reader, &self.reader)
    }

    private func receive(_ tag: UInt8, _ message: RawSpan) throws(MCSError) {
        switch MCS.Tag(rawValue: tag) {
        case .loginResponse:
            let response = try MCS.LoginResponse(decoding: message)
            if response.error != nil { client.receive(.refusedLogin, self) }
            confirm(response.lastStreamIDReceived)
        case .iq:
            let iq = try MCS.IqStanza(decoding: message)
            if case .selectiveAck(let stored) = iq.content, !isLoggedIn {
                isLoggedIn = true
                if !stored.isEmpty {
                    world.fail("wire", "upstream messages were acknowledged by their IDs instead of a count")
                }
                client.receive(.loggedIn, self)
            }
            confirm(iq.lastStreamIDReceived)
        case .dataMessage: try receive(try MCS.DataMessage(decoding: message))
        case .heartbeatPing:
            confirm(try MCS.Heartbeat(decoding: message).lastStreamIDReceived)
            transmit { MCS.Heartbeat().append(as: .heartbeatAck, to: &$0) }
        case .heartbeatAck, .close: break
        default: world.fail("wire", "the server sent a frame of tag \(tag)")
        }
    }

    private func receive(_ message: MCS.DataMessage) throws(MCSError) {
        var pairs: [String: [UInt8]] = [:]
        try AppData.forEach(in: message.body.raw) { key, value in
            pairs[String(decoding: [UInt8](copying: key), as: UTF8.self)] = [UInt8](copying: value)
        }
        if pairs["message_type"] == Array("send_error".utf8) {
            let messageID = pairs["message_id"] ?? []
            if message.persistentID != messageID {
                world.fail("wire", "a report has another persistent ID than its message")
            }
            if message.immediateAck == true {
                client.receive(.returned(messageID: messageID), self)
                acknowledgeReport(messageID)
            } else if let number = onTheWay.first(where: { $0.messageID == messageID })?.number {
                onTheWay.removeAll { $0.number == number }
                let word = String(decoding: pairs["error"] ?? [], as: UTF8.self)
                let refusal = UpstreamRefusal(rawValue: word) ?? .unavailable
                client.receive(.upstreamRefused(number: number, refusal, mayRetry: false), self)
            }
        } else {
            var delivered = DeliveredMessage(from: message.from)
            delivered.id = message.persistentID.flatMap { PersistentID(text: $0.raw) }
            if delivered.id == nil, message.persistentID != nil {
                world.fail("wire", "an invalid persistent ID")
            }
            delivered.number = pairs["n"].flatMap { Number.of($0) }
            if pairs["message_type"] == Array("deleted_messages".utf8) {
                delivered.deleted = pairs["total_deleted"].flatMap {
                    Int(String(decoding: $0, as: UTF8.self))
                }
            }
            client.receive(.message(delivered), self)
        }
        confirm(message.lastStreamIDReceived)
    }

    /// Acknowledges a report with some probability: an unacknowledged one is sent again.
    private func acknowledgeReport(_ messageID: [UInt8]) {
        guard world.isCalm || world.chance(3, in: 4) else { return }
        world.after(world.random(0...(world.isCalm ? 20_000_000 : 1_000_000_000))) { [self] in
            // On a connection that has been replaced, others may have arrived that the device has not processed.
            guard pipe != nil, client.port === self else { return }
            guard !usesStreamAcks else { return acknowledge([]) }
            transmit { MCS.IqStanza(.selectiveAck([messageID])).append(to: &$0) }
        }
    }

    /// Confirms the upstream messages in the first `count` frames.
    private func confirm(_ count: Int32?) {
        guard let count else { return }
        if count > sent { world.fail("wire", "the server acknowledged frame \(count) of \(sent)") }
        while let first = onTheWay.first, first.frame <= count {
            onTheWay.removeFirst()
            client.receive(.upstreamStored(number: first.number), self)
        }
    }
}
