import Basics
import Client
import ClientProtocol
import Testing
import Wire

/// What a device counts, keeps and says at the edges.
@Suite struct DeviceMachineEdgeTests {
    private static func id(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

    private func message(_ id: [UInt8]?) -> MCS.Message {
        var message = DeviceBench.message("")
        message.persistentID = id
        return .dataMessage(message)
    }

    private func upstream(_ id: [UInt8]) -> Upstream {
        Upstream(sender: SenderID(1), category: [0x61], messageID: [0x6D], persistentID: id)
    }

    private func stored(_ bench: DeviceBench) -> [[UInt8]] {
        bench.events.compactMap { if case .upstreamStored(let id) = $0 { id } else { nil } }
    }

    // MARK: By its owner's calls alone

    @Test("A device that acknowledges by hand says nothing by itself, and then what it is told to")
    func manual() {
        let bench = DeviceBench(acknowledgement: .manual)
        bench.logIn()
        #expect(bench.hear(message([1]), message([2])).isEmpty)
        let unconfirmed = bench.machine.unconfirmed
        #expect(unconfirmed.isEmpty, "its owner keeps the ids")
        #expect(bench.hear(.heartbeatPing(MCS.Heartbeat())) == [.heartbeatAck(MCS.Heartbeat())])
        bench.machine.acknowledge([[2], [9]], out: &bench.out)
        #expect(bench.sent() == [.iq(MCS.Iq(.selectiveAck([[2], [9]])))])
        bench.machine.acknowledgeAll(out: &bench.out)
        #expect(bench.sent() == [.iq(MCS.Iq(.streamAck, lastStreamIDReceived: 5))])
        bench.machine.close(out: &bench.out)
        #expect(bench.sent() == [.close(MCS.Close())] && bench.hear(message([3])).isEmpty)
    }

    @Test("A server that acknowledges frames that were never sent is noticed")
    func tooManyAcknowledged() {
        let bench = DeviceBench()
        bench.logIn()
        bench.hear(.iq(MCS.Iq(.streamAck, lastStreamIDReceived: 1)))
        #expect(bench.events.isEmpty)
        bench.hear(.iq(MCS.Iq(.streamAck, lastStreamIDReceived: 2)))
        guard bench.events.count == 1, case .unexpected = bench.events[0] else {
            Issue.record("\(bench.events)")
            return
        }
    }

    @Test("A message that was refused is not stored, although its frame has arrived; the one after it is")
    func refused() {
        let bench = DeviceBench()
        bench.logIn()
        for id: [UInt8] in [[1], [2]] {
            var message = upstream(id)
            message.messageID = id
            bench.machine.send(message, now: 0, out: &bench.out)
        }
        _ = bench.sent()
        var report = DeviceBench.message("")
        var body = ByteBuffer()
        AppData.append(key: "message_type", text: "send_error", to: &body)
        AppData.append(key: "message_id", value: [UInt8]([1]).raw, to: &body)
        report.body = body.copied()
        report.lastStreamIDReceived = 3
        bench.hear(.dataMessage(report))
        #expect(stored(bench) == [[2]])
        let reports = bench.events.compactMap { event -> DeviceMessage? in
            if case .message(let message) = event { message } else { nil }
        }
        #expect(reports.map(\.isRefusal) == [true] && reports.map(\.isReturn) == [false])
    }

    // MARK: What it says of itself

    @Test("One that was never idle does not speak of it")
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

    @Test("The answer to a sign of life tells its own state, not the server's")
    func ownStatus() {
        let bench = DeviceBench(acknowledgement: .never)
        bench.logIn()
        bench.machine.isIdle = true
        let sent = bench.hear(.heartbeatPing(MCS.Heartbeat(status: 0)))
        #expect(sent == [.heartbeatAck(MCS.Heartbeat(status: 1))])
    }

    @Test("A login names the newest of more ids than one login may")
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

    @Test("No more ids are kept than one login may name: the oldest goes")
    func keptIDs() {
        let bench = DeviceBench(acknowledgement: .never)
        bench.logIn()
        for number in 0...Limits.MCS.receivedIDs { bench.hear(message(Self.id(number))) }
        let kept = bench.machine.unconfirmed
        #expect(kept.count == Limits.MCS.receivedIDs && kept.first == Self.id(1))
        #expect(kept.last == Self.id(Limits.MCS.receivedIDs))
    }

    // MARK: What comes after the end

    @Test("After a close nothing is heard, and nothing acknowledged")
    func afterClose() {
        let bench = DeviceBench()
        bench.logIn()
        let sent = bench.hear(message([1]), .close(MCS.Close()), message([2]))
        #expect(sent.isEmpty)
        guard bench.events.count == 2, case .message = bench.events[0], case .closeRequested = bench.events[1]
        else {
            Issue.record("\(bench.events)")
            return
        }
    }

    @Test("After a refused login nothing is heard")
    func afterRefusal() {
        let bench = DeviceBench()
        bench.machine.open(out: &bench.out)
        _ = bench.sent()
        var response = MCS.LoginResponse()
        response.error = MCS.ErrorInfo(code: 401)
        bench.hear(.loginResponse(response), message([1]), version: true)
        #expect(bench.events.count == 1)
    }

    // MARK: What is received

    @Test("A message without an id is not remembered, and no ack names it")
    func withoutID() {
        for id in [nil, []] as [[UInt8]?] {
            let bench = DeviceBench(acknowledgement: .selective)
            bench.logIn()
            #expect(bench.hear(message(id)).isEmpty)
            let kept = bench.machine.unconfirmed
            #expect(kept.isEmpty && bench.events.count == 1)
        }
    }

    @Test("A collapse key is told, and not every message is a marker of discarded ones")
    func parts() {
        let bench = DeviceBench(acknowledgement: .never)
        bench.logIn()
        var frame = DeviceBench.message("p", [("message_type", "other")])
        frame.token = Array("k".utf8)
        bench.hear(.dataMessage(frame))
        guard case .message(let message)? = bench.events.last else {
            Issue.record("no message")
            return
        }
        #expect(message.collapseKey == Array("k".utf8) && !message.isDeletedMarker)
    }

    @Test("A saved up acknowledgement begins anew after each")
    func savedUp() {
        let bench = DeviceBench(acknowledgement: .streamEvery(2))
        bench.logIn()
        var urgent = DeviceBench.message("1")
        urgent.immediateAck = true
        #expect(bench.hear(.dataMessage(urgent)).count == 1)
        #expect(bench.hear(message([2])).isEmpty)
        #expect(bench.hear(message([3])).count == 1)
        #expect(bench.hear(message([4])).isEmpty)
    }

    // MARK: What the server has

    @Test("What a count covers is confirmed, and no more")
    func partly() {
        let bench = DeviceBench()
        bench.logIn()
        // The second and the third frame of the device.
        #expect(bench.hear(message([1])).count == 1)
        #expect(bench.hear(message([2])).count == 1)
        bench.hear(.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 2)))
        let kept = bench.machine.unconfirmed
        #expect(kept == [[2]])
    }

    @Test("A message's count confirms as any other does")
    func countInMessage() {
        let bench = DeviceBench()
        bench.logIn()
        #expect(bench.hear(message([1])).count == 1)
        var next = DeviceBench.message("")
        next.persistentID = [2]
        next.lastStreamIDReceived = 2
        bench.hear(.dataMessage(next))
        let kept = bench.machine.unconfirmed
        #expect(kept == [[2]])
    }

    @Test("A selective ack is confirmed by the count of the frame that carried it")
    func selective() {
        let bench = DeviceBench(acknowledgement: .selective)
        bench.logIn()
        #expect(bench.hear(message([1])).count == 1)
        let counts = ([1, 2] as [Int32]).map { count in
            bench.hear(.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: count)))
            return bench.machine.unconfirmed.count
        }
        #expect(counts == [1, 0])
    }

    @Test("The answer to a sign of life tells what is stored")
    func storedByHeartbeat() {
        let bench = DeviceBench()
        bench.logIn()
        bench.machine.send(upstream([0x70]), now: 0, out: &bench.out)
        bench.hear(.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 2)))
        #expect(stored(bench) == [[0x70]])
    }

    @Test("A message that the server names is told once, whatever it counts later")
    func storedOnce() {
        let bench = DeviceBench()
        bench.logIn()
        bench.machine.send(upstream([0x70]), now: 0, out: &bench.out)
        bench.hear(.iq(MCS.Iq(.selectiveAck([[0x70]]))))
        bench.hear(.iq(MCS.Iq(.streamAck, lastStreamIDReceived: 2)))
        #expect(stored(bench) == [[0x70]])
    }

    @Test("A message that is fire and forget carries no id")
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
