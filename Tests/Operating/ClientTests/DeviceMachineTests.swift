import Basics
import Client
import ClientProtocol
import ClientSupport
import Testing
import Wire

@Suite struct DeviceMachineTests {
    @Test("The login has the identity and the received IDs")
    func login() {
        let bench = DeviceBench(received: [Array("id-1".utf8)])
        bench.machine.open(out: &bench.out)
        let first = bench.out.bytes.bytes.byte(at: 0)
        #expect(first == 41)
        guard case .loginRequest(let login)? = bench.sent().first else {
            Issue.record("no login")
            return
        }
        #expect(login.user == Array("600000000000000001".utf8) && login.resource == login.user)
        #expect(login.authToken == Array("700000000000000002".utf8))
        #expect(login.deviceID == Array("android-\(String(600_000_000_000_000_001, radix: 16))".utf8))
        #expect(login.receivedIDs == [Array("id-1".utf8)])
        #expect(login.authService == 2 && login.usesRMQ2 == true)
        let before = bench.machine.unconfirmed.count
        bench.receive(.loginResponse(MCS.LoginResponse()), version: true)
        let after = (bench.machine.isReady, bench.machine.unconfirmed.count)
        #expect(before == 1 && after == (true, 0))
    }

    @Test(
        "Idle queries are answered; after it was idle, heartbeats and logins report the status"
    )
    func idleAnswers() {
        let bench = DeviceBench(acknowledgement: .never)
        bench.logIn()
        var question = DeviceScript.message("")
        question.category = Array("com.google.android.gsf.gtalkservice".utf8)
        question.persistentID = nil
        func answer() -> String? {
            guard case .dataMessage(let answer)? = bench.receive(.dataMessage(question)).first else {
                return nil
            }
            var said: String?
            try? AppData.forEach(in: answer.body.raw) { key, value in
                guard key.equals("IdleNotification") else { return }
                said = String(decoding: [UInt8](copying: value), as: UTF8.self)
            }
            return said
        }
        func heartbeat() -> [MCS.Message] {
            bench.machine.heartbeat(out: &bench.out)
            return bench.sent()
        }
        #expect(answer() == "false" && heartbeat() == [.heartbeatPing(MCS.Heartbeat())])
        bench.machine.isIdle = true
        #expect(answer() == "true" && heartbeat() == [.heartbeatPing(MCS.Heartbeat(status: 1))])
        bench.machine.isIdle = false
        #expect(answer() == "false" && heartbeat() == [.heartbeatPing(MCS.Heartbeat(status: 0))])
    }

    @Test("An idle device reports it at login")
    func idleLogin() {
        let bench = DeviceBench()
        bench.machine.isIdle = true
        bench.machine.open(out: &bench.out)
        guard case .loginRequest(let login)? = bench.sent().first else {
            Issue.record("no login")
            return
        }
        #expect(login.status == 1)
    }

    @Test("A refused login is reported, and received IDs stay unconfirmed")
    func refused() {
        let bench = DeviceBench(received: [[1]])
        bench.machine.open(out: &bench.out)
        var response = MCS.LoginResponse()
        response.error = MCS.ErrorInfo(code: 401)
        bench.receive(.loginResponse(response), version: true)
        guard case .loginRefused(401)? = bench.events.last else {
            Issue.record("the event is missing")
            return
        }
        let state = (bench.machine.isReady, bench.machine.unconfirmed.count)
        #expect(state == (false, 1))
    }

    @Test("Messages are complete for any split", arguments: [Int.max, 1, 5])
    func messages(step: Int) {
        let bench = DeviceBench(acknowledgement: .never)
        bench.logIn(step: step)
        let pairs = [("k", "v"), ("message_type", "deleted_messages")]
        #expect(bench.receive(.dataMessage(DeviceScript.message("p-1", pairs)), step: step).isEmpty)
        guard case .message(let message)? = bench.events.first else {
            Issue.record("no message")
            return
        }
        #expect(message.persistentID == Array("p-1".utf8) && message["k"] == Array("v".utf8))
        #expect(message.isDeletedMarker && message.sentAt == 5)
        let unconfirmed = bench.machine.unconfirmed
        #expect(unconfirmed == [Array("p-1".utf8)])
    }

    @Test("A stream ack counts every frame of the server")
    func streamAck() {
        let bench = DeviceBench()
        bench.logIn()
        let sent = bench.receive(
            .dataMessage(DeviceScript.message("p-1")), .dataMessage(DeviceScript.message("p-2")))
        #expect(sent == [.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 4))])
        let counts = [nil, 1, 2].map { count in
            if let count {
                bench.receive(.heartbeatPing(MCS.Heartbeat(lastStreamIDReceived: Int32(count))))
            }
            return bench.machine.unconfirmed.count
        }
        // The device's second frame has the ack; once the server has it, the IDs are confirmed.
        #expect(counts == [2, 2, 0])
    }

    @Test("Acks may be deferred, unless the server requests an immediate one")
    func savedUp() {
        let bench = DeviceBench(acknowledgement: .streamEvery(3))
        bench.logIn()
        #expect(bench.receive(.dataMessage(DeviceScript.message("1"))).isEmpty)
        #expect(bench.receive(.dataMessage(DeviceScript.message("2"))).isEmpty)
        #expect(bench.receive(.dataMessage(DeviceScript.message("3"))).count == 1)
        var urgent = DeviceScript.message("4")
        urgent.immediateAck = true
        #expect(bench.receive(.dataMessage(urgent)).count == 1)
    }

    @Test("A selective ack lists the messages")
    func selective() {
        let bench = DeviceBench(acknowledgement: .selective)
        bench.logIn()
        let sent = bench.receive(
            .dataMessage(DeviceScript.message("p-1")), .dataMessage(DeviceScript.message("p-2")))
        #expect(sent == [.iq(MCS.IqStanza(.selectiveAck([Array("p-1".utf8), Array("p-2".utf8)])))])
    }

    @Test("A device with twice sends each selective ack twice")
    func twice() {
        let bench = DeviceBench(acknowledgement: .twice)
        bench.logIn()
        let ack = MCS.IqStanza(.selectiveAck([Array("p-1".utf8)]))
        #expect(bench.receive(.dataMessage(DeviceScript.message("p-1"))) == [.iq(ack), .iq(ack)])
        #expect(bench.receive(.heartbeatPing(MCS.Heartbeat())).count == 1, "and no further acks")
    }

    @Test("An idle device reports it in each heartbeat, and answers idle queries as Chromium does")
    func idle() {
        let bench = DeviceBench()
        bench.logIn()
        bench.machine.heartbeat(out: &bench.out)
        #expect(bench.sent() == [.heartbeatPing(MCS.Heartbeat(lastStreamIDReceived: 2))])
        bench.machine.isIdle = true
        bench.machine.heartbeat(out: &bench.out)
        #expect(bench.sent() == [.heartbeatPing(MCS.Heartbeat(status: 1))])
        var question = DeviceScript.message("")
        question.category = Array("com.google.android.gsf.gtalkservice".utf8)
        question.persistentID = nil
        guard case .dataMessage(let answer)? = bench.receive(.dataMessage(question)).first else {
            Issue.record("no answer")
            return
        }
        #expect(answer.category == question.category && answer.from == Array("gcm@android.com".utf8))
        #expect(
            answer.timeToLive == 0
                && String(decoding: answer.body, as: UTF8.self).contains("IdleNotification"))
        guard case .idleAsked? = bench.events.last else {
            Issue.record("the event is missing")
            return
        }
    }

    @Test("A device that never acknowledges sends no count, not even in pings (canary)")
    func never() {
        let bench = DeviceBench(acknowledgement: .never)
        bench.logIn()
        bench.receive(.dataMessage(DeviceScript.message("p-1")))
        let sent = bench.receive(.heartbeatPing(MCS.Heartbeat(status: 1)))
        #expect(sent == [.heartbeatAck(MCS.Heartbeat(status: 1))])
        let count = bench.machine.unconfirmed.count
        #expect(count == 1)
    }

    @Test("A device without acknowledgement lists no IDs at the next login either")
    func forgets() {
        let bench = DeviceBench(acknowledgement: .nothing)
        bench.logIn()
        #expect(bench.receive(.dataMessage(DeviceScript.message("p-1"))).isEmpty)
        let count = bench.machine.unconfirmed.count
        #expect(count == 0 && bench.events.count == 1)
    }

    @Test("An upstream message is reported as stored when its frame is counted")
    func upstream() {
        let bench = DeviceBench()
        bench.logIn()
        var message = Upstream(
            sender: SenderID(123), category: Array("a.b".utf8), messageID: Array("m".utf8),
            persistentID: Array("p".utf8))
        message.data = [(Array("k".utf8), Array("v".utf8))]
        message.lifetimeSeconds = 60
        bench.machine.send(message, now: 1_700_000_000_000, out: &bench.out)
        guard case .dataMessage(let frame)? = bench.sent().first else {
            Issue.record("no frame")
            return
        }
        #expect(frame.to == Array("123@gcm.googleapis.com".utf8) && frame.id == Array("m".utf8))
        #expect(frame.timeToLive == 60 && frame.sent == 1_700_000_000)
        bench.receive(.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 1)))
        #expect(bench.events.isEmpty)
        bench.receive(.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 2)))
        guard case .upstreamStored(let id, _)? = bench.events.first else {
            Issue.record("the event is missing")
            return
        }
        #expect(id == Array("p".utf8))
    }

    @Test("Close and malformed frames are reported")
    func ends() {
        let bench = DeviceBench()
        bench.logIn()
        bench.receive(.close(MCS.Close()))
        guard case .closeRequested? = bench.events.last else {
            Issue.record("the event is missing")
            return
        }
        let other = DeviceBench()
        other.logIn()
        other.machine.receive([0x63].raw, out: &other.out, events: &other.events)
        guard case .unexpected? = other.events.last else {
            Issue.record("the event is missing")
            return
        }
    }

    @Test("a frame whose content cannot be read ends the session, and what follows it is not read")
    func unreadable() {
        let bench = DeviceBench()
        bench.logIn()
        // A data message that ends within a field.
        let frames: [UInt8] = [8, 2, 0x12, 0x05] + [4, 0]
        bench.machine.receive(frames.raw, out: &bench.out, events: &bench.events)
        guard case .unexpected("a malformed frame")? = bench.events.last, bench.events.count == 1 else {
            Issue.record("\(bench.events)")
            return
        }
        bench.machine.receive([0x63].raw, out: &bench.out, events: &bench.events)
        #expect(bench.events.count == 1)
    }
}
