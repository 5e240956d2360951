import Basics
import Client
import ClientProtocol
import ClientSupport
import Testing
import Wire

/// Edge cases of a device's counts, IDs and reports.
@Suite struct DeviceMachineEdgeTests {
    private static func id(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

    private func message(_ id: [UInt8]?) -> MCS.Message {
        var message = DeviceScript.message("")
        message.persistentID = id
        return .dataMessage(message)
    }

    private func upstream(_ id: [UInt8]) -> Upstream {
        Upstream(sender: SenderID(1), category: [0x61], messageID: [0x6D], persistentID: id)
    }

    private func stored(_ bench: DeviceBench) -> [[UInt8]] {
        bench.events.compactMap { if case .upstreamStored(let id, _) = $0 { id } else { nil } }
    }

    // MARK: Manual acknowledgement

    @Test("A device with manual acknowledgement acknowledges only what its owner requests")
    func manual() {
        let bench = DeviceBench(acknowledgement: .manual)
        bench.logIn()
        #expect(bench.receive(message([1]), message([2])).isEmpty)
        let unconfirmed = bench.machine.unconfirmed
        #expect(unconfirmed.isEmpty, "the owner saves the IDs")
        #expect(bench.receive(.heartbeatPing(MCS.Heartbeat())) == [.heartbeatAck(MCS.Heartbeat())])
        bench.machine.acknowledge([[2], [9]], out: &bench.out)
        #expect(bench.sent() == [.iq(MCS.IqStanza(.selectiveAck([[2], [9]])))])
        bench.machine.acknowledgeAll(out: &bench.out)
        #expect(bench.sent() == [.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 5))])
        bench.machine.close(out: &bench.out)
        #expect(bench.sent() == [.close(MCS.Close())] && bench.receive(message([3])).isEmpty)
    }

    @Test("An acknowledgement of frames that were never sent is unexpected")
    func tooManyAcknowledged() {
        let bench = DeviceBench()
        bench.logIn()
        bench.receive(.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 1)))
        #expect(bench.events.isEmpty)
        bench.receive(.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 2)))
        guard bench.events.count == 1, case .unexpected = bench.events[0] else {
            Issue.record("\(bench.events)")
            return
        }
    }

    @Test("A refused message is not reported as stored although its frame arrived; the next one is")
    func refused() {
        let bench = DeviceBench()
        bench.logIn()
        for id: [UInt8] in [[1], [2]] {
            var message = upstream(id)
            message.messageID = id
            bench.machine.send(message, now: 0, out: &bench.out)
        }
        _ = bench.sent()
        var report = DeviceScript.message("")
        var body = ByteBuffer()
        AppData.append(key: "message_type", text: "send_error", to: &body)
        AppData.append(key: "message_id", value: [UInt8]([1]).raw, to: &body)
        report.body = body.copied()
        report.lastStreamIDReceived = 3
        bench.receive(.dataMessage(report))
        #expect(stored(bench) == [[2]])
        let reports = bench.events.compactMap { event -> DeviceMessage? in
            if case .message(let message) = event { message } else { nil }
        }
        #expect(reports.map(\.isRefusal) == [true] && reports.map(\.isReturn) == [false])
    }

    @Test("Frames distinguish messages with equal IDs, and a refusal comes before what its frame counts")
    func sharedIDs() {
        let bench = DeviceBench()
        bench.logIn()
        var frames: [Int32] = []
        for id: [UInt8] in [[1], [2], [2]] {
            var message = upstream([])
            message.messageID = id
            frames.append(bench.machine.send(message, now: 0, out: &bench.out))
        }
        _ = bench.sent()
        #expect(frames == [2, 3, 4])
        var report = DeviceScript.message("", [("message_type", "send_error"), ("message_id", "\u{2}")])
        report.lastStreamIDReceived = 4
        bench.receive(.dataMessage(report))
        let order: [Int32?] = bench.events.map { event in
            switch event {
            case .message(let message): message.refusedFrame.map { -$0 }
            case .upstreamStored([], let frame): frame
            default: nil
            }
        }
        #expect(order == [-3, 2, 4])
    }

    @Test("A message that the server names by its ID has no frame")
    func namedByID() {
        let bench = DeviceBench()
        bench.logIn()
        bench.machine.send(upstream([1]), now: 0, out: &bench.out)
        bench.receive(.iq(MCS.IqStanza(.selectiveAck([[1]]))))
        guard bench.events.count == 1, case .upstreamStored([1], frame: nil) = bench.events[0] else {
            Issue.record("\(bench.events)")
            return
        }
    }

    // MARK: Reports of the device

    @Test("A device that was never idle reports no status")
    func neverIdle() {
        let bench = DeviceBench()
        bench.machine.isIdle = false
        bench.machine.open(out: &bench.out)
        guard case .loginRequest(let login)? = bench.sent().first else {
            Issue.record("no login")
            return
        }
        #expect(login.status == nil)
    }

    @Test("The answer to a heartbeat has the device's status, not the server's")
    func ownStatus() {
        let bench = DeviceBench(acknowledgement: .never)
        bench.logIn()
        bench.machine.isIdle = true
        let sent = bench.receive(.heartbeatPing(MCS.Heartbeat(status: 0)))
        #expect(sent == [.heartbeatAck(MCS.Heartbeat(status: 1))])
    }

    @Test("A login lists the newest IDs if there are more than its limit")
    func manyIDs() {
        let all = (0...Limits.MCS.receivedIDs).map(Self.id)
        let bench = DeviceBench(received: all)
        bench.machine.open(out: &bench.out)
        guard case .loginRequest(let login)? = bench.sent().first else {
            Issue.record("no login")
            return
        }
        #expect(login.receivedIDs == Array(all.dropFirst()))
    }

    @Test("The oldest ID is dropped when there are more than the limit of a login")
    func keptIDs() {
        let bench = DeviceBench(acknowledgement: .never)
        bench.logIn()
        for number in 0...Limits.MCS.receivedIDs { bench.receive(message(Self.id(number))) }
        let kept = bench.machine.unconfirmed
        #expect(kept.count == Limits.MCS.receivedIDs && kept.first == Self.id(1))
        #expect(kept.last == Self.id(Limits.MCS.receivedIDs))
    }

    // MARK: After the end

    @Test("After a close nothing is read or acknowledged")
    func afterClose() {
        let bench = DeviceBench()
        bench.logIn()
        let sent = bench.receive(message([1]), .close(MCS.Close()), message([2]))
        #expect(sent.isEmpty)
        guard bench.events.count == 2, case .message = bench.events[0], case .closeRequested = bench.events[1]
        else {
            Issue.record("\(bench.events)")
            return
        }
    }

    @Test("After a refused login nothing is read")
    func afterRefusal() {
        let bench = DeviceBench()
        bench.machine.open(out: &bench.out)
        _ = bench.sent()
        var response = MCS.LoginResponse()
        response.error = MCS.ErrorInfo(code: 401)
        bench.receive(.loginResponse(response), message([1]), version: true)
        #expect(bench.events.count == 1)
    }

    // MARK: Receiving

    @Test("A message without an ID is not recorded, and no ack lists it")
    func withoutID() {
        for id in [nil, []] as [[UInt8]?] {
            let bench = DeviceBench(acknowledgement: .selective)
            bench.logIn()
            #expect(bench.receive(message(id)).isEmpty)
            let kept = bench.machine.unconfirmed
            #expect(kept.isEmpty && bench.events.count == 1)
        }
    }

    @Test("The collapse key is reported, and a usual message is not a marker of discarded ones")
    func parts() {
        let bench = DeviceBench(acknowledgement: .never)
        bench.logIn()
        var frame = DeviceScript.message("p", [("message_type", "other")])
        frame.token = Array("k".utf8)
        bench.receive(.dataMessage(frame))
        guard case .message(let message)? = bench.events.last else {
            Issue.record("no message")
            return
        }
        #expect(message.collapseKey == Array("k".utf8) && !message.isDeletedMarker)
    }

    @Test("The count for deferred acknowledgements restarts after each one")
    func savedUp() {
        let bench = DeviceBench(acknowledgement: .streamEvery(2))
        bench.logIn()
        var urgent = DeviceScript.message("1")
        urgent.immediateAck = true
        #expect(bench.receive(.dataMessage(urgent)).count == 1)
        #expect(bench.receive(message([2])).isEmpty)
        #expect(bench.receive(message([3])).count == 1)
        #expect(bench.receive(message([4])).isEmpty)
    }

    // MARK: Confirmations by the server

    @Test("A count confirms exactly the frames it covers")
    func partly() {
        let bench = DeviceBench()
        bench.logIn()
        // The second and the third frame of the device.
        #expect(bench.receive(message([1])).count == 1)
        #expect(bench.receive(message([2])).count == 1)
        bench.receive(.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 2)))
        let kept = bench.machine.unconfirmed
        #expect(kept == [[2]])
    }

    @Test("The count in a message confirms frames as any other")
    func countInMessage() {
        let bench = DeviceBench()
        bench.logIn()
        #expect(bench.receive(message([1])).count == 1)
        var next = DeviceScript.message("")
        next.persistentID = [2]
        next.lastStreamIDReceived = 2
        bench.receive(.dataMessage(next))
        let kept = bench.machine.unconfirmed
        #expect(kept == [[2]])
    }

    @Test("A selective ack is confirmed by the count of the frame that carried it")
    func selective() {
        let bench = DeviceBench(acknowledgement: .selective)
        bench.logIn()
        #expect(bench.receive(message([1])).count == 1)
        let counts = ([1, 2] as [Int32]).map { count in
            bench.receive(.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: count)))
            return bench.machine.unconfirmed.count
        }
        #expect(counts == [1, 0])
    }

    @Test("The answer to a heartbeat confirms stored messages")
    func storedByHeartbeat() {
        let bench = DeviceBench()
        bench.logIn()
        bench.machine.send(upstream([0x70]), now: 0, out: &bench.out)
        bench.receive(.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 2)))
        #expect(stored(bench) == [[0x70]])
    }

    @Test("A stored message is reported once, even if a later count covers it again")
    func storedOnce() {
        let bench = DeviceBench()
        bench.logIn()
        bench.machine.send(upstream([0x70]), now: 0, out: &bench.out)
        bench.receive(.iq(MCS.IqStanza(.selectiveAck([[0x70]]))))
        bench.receive(.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 2)))
        #expect(stored(bench) == [[0x70]])
    }

    @Test("A fire-and-forget message has no persistent ID")
    func fireAndForget() {
        let bench = DeviceBench()
        bench.logIn()
        bench.machine.send(upstream([]), now: 0, out: &bench.out)
        guard case .dataMessage(let frame)? = bench.sent().first else {
            Issue.record("no frame")
            return
        }
        #expect(frame.persistentID == nil)
    }
}
