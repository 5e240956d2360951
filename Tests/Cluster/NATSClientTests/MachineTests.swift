import Basics
import ClusterLog
import Testing
import Wire

@testable import NATSClient

@Suite("requests to JetStream") struct MachineTests {
    private let subscription = "SUB _INBOX.x.* 1"

    @Test("a frame is published to the subject of its partition, and its answer is found by its number")
    func append() {
        let run = MachineRun()
        run.append(1)
        run.append(2)
        #expect(run.sent() == [subscription, "ccs.5 _INBOX.x.1 a", "ccs.5 _INBOX.x.2 a"])
        run.answer(2, "{\"stream\":\"CCS_5\",\"seq\":8}")
        run.answer(1, "{\"stream\":\"CCS_5\",\"seq\":7}")
        run.answer(1, "{\"stream\":\"CCS_5\",\"seq\":9}")
        #expect(run.reported() == ["connected s", "stored 5 2 at 8", "stored 5 1 at 7"])
    }

    @Test("a frame is refused by the server, by its absence, by time, and by limits")
    func refusals() {
        let run = MachineRun()
        run.append(1)
        run.append(2)
        run.append(3)
        run.append(4)
        _ = (run.sent(), run.reported())
        run.answer(1, "{\"error\":{\"code\":503,\"err_code\":10077,\"description\":\"full\\u001b\"}}")
        run.end(2, status: 503)
        run.answer(3, "{}")
        run.pass(Limits.JetStream.appendMilliseconds - 1)
        #expect(
            run.reported() == [
                "refused 5 1: refused: full? (error 10077)", "refused 5 2: no server answers for the stream",
                "refused 5 3: unreadable answer",
            ])
        run.pass(1)
        #expect(run.reported() == ["refused 5 4: no answer in time"])
        run.answer(4, "{\"stream\":\"CCS_5\",\"seq\":9}")
        run.append(5, room: 9, bytes: 10)
        run.append(6, room: 10, bytes: 10)
        run.append(7, room: 1 << 30, bytes: 1 << 20 | 1)
        #expect(
            run.reported() == [
                "refused 5 5: too much waits for the server",
                "refused 5 7: the message has 1048577 bytes, and max_payload of the server is 1048576",
            ])
        #expect(run.sent().count == 1)
    }

    @Test("more requests than the limit are refused, and room returns with each answer")
    func openRequests() {
        let run = MachineRun()
        for number in 1...Limits.JetStream.openRequests { run.append(UInt64(number)) }
        _ = run.reported()
        run.append(9_000)
        #expect(run.reported() == ["refused 5 9000: too much waits for the server"])
        run.answer(77, "{\"stream\":\"CCS_5\",\"seq\":1}")
        run.append(9_001)
        #expect(run.reported() == ["stored 5 77 at 1"])
        #expect(run.machine.requests.count == Limits.JetStream.openRequests)
    }

    @Test("a record is read from the leader; the end, a removed record and failures are distinguished")
    func reads() {
        let run = MachineRun()
        _ = (run.sent(), run.reported())
        for _ in 1...7 { run.machine.read(LogPosition(4), of: 5, now: run.now) }
        let request = "{\"seq\":4,\"next_by_subj\":\"ccs.5\"}"
        #expect(run.sent().first == "$JS.API.STREAM.MSG.GET.CCS_5 _INBOX.x.1 \(request)")
        run.answer(1, "{\"message\":{\"seq\":4,\"data\":\"AQI=\"}}")
        run.answer(2, "{\"message\":{\"seq\":9,\"data\":\"AQI=\"}}")
        run.answer(3, "{\"message\":{\"seq\":3,\"data\":\"AQI=\"}}")
        run.answer(4, "{\"error\":{\"code\":404,\"err_code\":10037,\"description\":\"no message found\"}}")
        run.answer(5, "{\"error\":{\"code\":404,\"err_code\":10059,\"description\":\"stream not found\"}}")
        run.end(6, status: 503)
        #expect(
            run.reported() == [
                "record 5 4 [1, 2]",
                "read failed 5 4: the record was removed; the stream goes on at 9",
                "read failed 5 4: unreadable answer", "end 5 3",
                "read failed 5 4: refused: stream not found (error 10059)",
                "read failed 5 4: no server answers for the stream",
            ])
        #expect(
            run.machine.nextTick
                == run.now.advanced(milliseconds: Limits.JetStream.readMilliseconds))
        run.pass(Limits.JetStream.readMilliseconds)
        #expect(run.reported() == ["read failed 5 4: no answer in time"])
        #expect(run.machine.nextTick == .distantFuture)
    }

    @Test("while the group of the servers has no leader, any replica is read instead of the stream's leader")
    func readsDirectly() {
        let run = MachineRun()
        _ = (run.sent(), run.reported())
        for number in 1...5 {
            run.machine.read(LogPosition(4), of: 5, now: run.now)
            run.answer(
                2 * number - 1,
                "{\"error\":{\"code\":503,\"err_code\":10008,\"description\":\"unavailable\"}}")
        }
        #expect(run.sent().dropFirst().first == "$JS.API.DIRECT.GET.CCS_5 _INBOX.x.2 {\"seq\":4}")
        #expect(run.reported() == [])
        run.record(2, 4)
        run.record(4, 5)
        run.end(6, status: 404)
        run.end(8, status: 503)
        run.pass(Limits.JetStream.readMilliseconds)
        #expect(
            run.reported() == [
                "record 5 4 [4]", "read failed 5 4: unreadable answer", "end 5 3",
                "read failed 5 4: no server answers for the stream", "read failed 5 4: no answer in time",
            ])
        #expect(run.machine.requests.count == 0)
    }

    @Test("records are purged up to a position, which is included")
    func purges() {
        let run = MachineRun()
        _ = (run.sent(), run.reported())
        for _ in 1...4 { run.machine.purge(upTo: LogPosition(6), of: 5, now: run.now) }
        #expect(run.sent().first == "$JS.API.STREAM.PURGE.CCS_5 _INBOX.x.1 {\"seq\":7}")
        run.answer(1, "{\"success\":true,\"purged\":6}")
        run.answer(2, "{\"success\":false}")
        run.answer(3, "{\"error\":{\"code\":500,\"err_code\":1,\"description\":\"x\"}}")
        run.end(4, status: 503)
        #expect(
            run.reported() == [
                "purged 5 6", "purge failed 5 6: unreadable answer", "purge failed 5 6: refused: x (error 1)",
                "purge failed 5 6: no server answers for the stream",
            ])
    }

    @Test("a lost connection ends every request in order, and later ones fail at once")
    func disconnected() {
        let run = MachineRun()
        run.append(1)
        run.machine.read(LogPosition(4), of: 5, now: run.now)
        run.machine.purge(upTo: LogPosition(6), of: 5, now: run.now)
        run.machine.create(5, StreamSettings(), now: run.now)
        _ = run.reported()
        run.disconnect()
        #expect(
            run.reported() == [
                "disconnected did not answer two pings", "refused 5 1: no connection",
                "read failed 5 4: no connection", "purge failed 5 6: no connection",
                "stream failed 5: no connection",
            ])
        #expect(run.sent() == [] && run.machine.nextTick == .distantFuture && !run.machine.isConnected)
        run.append(2)
        #expect(run.reported() == ["refused 5 2: no connection"])
        #expect(!run.publish([1], "a"))
        run.connect()
        run.answer(1, "{\"stream\":\"CCS_5\",\"seq\":7}")
        #expect(run.reported() == ["connected s"])
    }

    @Test("subscriptions are made again on each connection; messages have their numbers")
    func subscriptions() {
        let run = MachineRun(isConnected: false)
        #expect(run.subscribe("hb.*") == 2)
        #expect(run.subscribe("x") == 3)
        #expect(run.sent() == [])
        run.connect()
        #expect(run.sent() == [subscription, "SUB hb.* 2", "SUB x 3"])
        run.machine.unsubscribe(3)
        run.machine.unsubscribe(3)
        #expect(run.publish([0x61], "hb.1"))
        #expect(run.sent() == ["UNSUB 3", "hb.1  a"])
        run.receive(NATSMessage(subject: Array("hb.2".utf8), subscription: 2, payload: [1]))
        run.disconnect()
        #expect(run.reported().prefix(2) == ["connected s", "message 2"])
        run.connect(maximumPayload: 5)
        #expect(run.sent() == [subscription, "SUB hb.* 2"])
        #expect(!run.publish([UInt8](repeating: 0, count: 6), "hb.1"))
        for _ in 1..<Limits.NATSConnection.subscriptions {
            #expect(run.subscribe("y") != nil)
        }
        #expect(run.subscribe("y") == nil)
    }

    @Test("an answer to another inbox or an unknown number is ignored")
    func strangers() {
        let run = MachineRun()
        run.append(1)
        _ = run.reported()
        let stored = "{\"stream\":\"CCS_5\",\"seq\":7}"
        run.answer(1, stored, inbox: "_INBOX.y.")
        run.answer(99, stored)
        run.receive(NATSMessage(subject: Array("_INBOX.x.".utf8), subscription: 1, payload: []))
        #expect(run.reported() == [])
        run.answer(1, stored)
        #expect(run.reported() == ["stored 5 1 at 7"])
    }

    @Test("requests leave no memory behind")
    func memory() {
        let run = MachineRun()
        for number in 1...5_000 {
            run.append(UInt64(number))
            if number > 10 { run.answer(number - 10, "{\"stream\":\"CCS_5\",\"seq\":\(number)}") }
        }
        #expect(run.machine.requests.count == 10 && run.machine.requests.queuedCount < 100)
    }

    @Test("names have a prefix of lower-case letters, digits and hyphens")
    func names() {
        #expect(LogNames.standard == LogNames(prefix: "ccs"))
        #expect(LogNames(prefix: "east-1")?.stream(0) == "EAST-1_0")
        #expect(LogNames(prefix: "east-1")?.subject(12) == "east-1.12")
        for prefix in ["", "A", "a.b", "a*", "a b", "a_b", String(repeating: "a", count: 33)] {
            #expect(LogNames(prefix: prefix) == nil, "\(prefix)")
        }
    }

    @Test("a stream that does not exist is recognized among other failures")
    func missingStream() {
        func refused(_ code: Int) -> JetStreamFailure {
            .refused(JetStreamError(status: 404, code: code, description: ""))
        }
        #expect(refused(10_059).isStreamNotFound)
        let others = [refused(10_058), .noResponder, .disconnected]
        #expect(others.map(\.isStreamNotFound) == [false, false, false])
    }
}
