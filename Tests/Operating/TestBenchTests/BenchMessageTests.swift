import Basics
import Client
import ClientProtocol
import ClientSupport
import Testing
import Wire

@testable import TestBench

/// What virtual devices receive and send.
@Suite("Messages of virtual devices")
struct BenchMessageTests {
    private typealias Page = Result<[InboxMessage<DeviceMessage>], TestBenchProblem>
    private typealias Sent = Result<SentMessage.State, TestBenchProblem>

    private func online(answer: @escaping (MCS.Message) -> [MCS.Message]? = DeviceScript.greeting) throws
        -> BenchScene
    {
        let scene = try BenchScene(.init(devices: [BenchScene.record()]), answer: answer)
        try #require(scene.run { scene.state?.isConnected == true })
        return scene
    }

    private func send(_ scene: BenchScene, _ id: String) -> Sent? {
        scene.outcome {
            scene.host.send(
                from: BenchScene.device, messageID: id, lifetimeSeconds: 60, data: [(key: "k", value: "v")],
                completed: $0)
        }
    }

    private func states(_ scene: BenchScene) throws -> [SentMessage.State] {
        try scene.host.sent(by: BenchScene.device, after: 0, limit: 99, messageID: nil).map(\.state)
    }

    @Test("a request waits for a message, which has the time of the server")
    func received() throws {
        let scene = try BenchScene(.init(devices: [BenchScene.record(isOnline: false)])) { frame in
            guard case .loginRequest = frame else { return [] }
            return [.loginResponse(MCS.LoginResponse()), .dataMessage(DeviceScript.message("p"))]
        }
        var page: Page?
        scene.host.messages(
            of: BenchScene.device, after: 0, limit: 9, MessageWait(id: 1, seconds: 60)
        ) { page = $0 }
        #expect(page == nil)
        scene.host.change(BenchScene.device, isOnline: true, acknowledges: nil) { _ in }
        #expect(scene.run { page != nil })
        let messages = try #require(try page?.get())
        #expect(messages.map(\.receivedAt) == [7] && messages[0].message["a"] == Array("b".utf8))
        #expect(scene.state?.received == 1 && scene.state?.dropped == 0)
    }

    @Test(
        "a request that does not wait gets what there is; one whose caller leaves, or whose time is over, ends"
    )
    func unheard() throws {
        let scene = try online()
        func read(_ wait: MessageWait, _ completed: @escaping (Page) -> Void) {
            scene.host.messages(of: BenchScene.device, after: 0, limit: 9, wait, completed: completed)
        }
        let now: Page? = scene.outcome { read(MessageWait(id: 1, seconds: 0), $0) }
        #expect(try now?.get().isEmpty == true)
        var left: Page?
        let wait = MessageWait(id: 2, seconds: 60)
        read(wait) { left = $0 }
        scene.host.end(MessageWait(id: 3, seconds: 60))
        #expect(left == nil)
        scene.host.end(wait)
        #expect(try left?.get().isEmpty == true)
        let late: Page? = scene.outcome { read(MessageWait(id: 4, seconds: 1), $0) }
        #expect(try late?.get().isEmpty == true)
    }

    @Test("a limited number of requests waits at a time, for messages or for a device that settles")
    func busy() throws {
        let scene = try online()
        var problems: [TestBenchProblem] = []
        func wait(_ number: Int) {
            scene.host.messages(
                of: BenchScene.device, after: 0, limit: 1, MessageWait(id: UInt32(number), seconds: 60)
            ) { if case .failure(let problem) = $0 { problems.append(problem) } }
        }
        try scene.host.beginSettling(BenchScene.device)
        for number in 1..<Limits.TestBench.waiting { wait(number) }
        #expect(problems.isEmpty)
        wait(0)
        #expect(problems == [.busy])
        #expect(throws: TestBenchProblem.busy) { try scene.host.beginSettling(BenchScene.device) }
        scene.host.endSettling()
        wait(0)
        #expect(problems == [.busy])
        #expect(throws: TestBenchProblem.busy) { try scene.host.beginSettling(BenchScene.device) }
    }

    @Test("a message is sent with its data, and its outcome reported: stored, refused, or returned later")
    func sends() throws {
        let scene = try online { frame in
            guard case .dataMessage(let message) = frame else { return DeviceScript.greeting(frame) }
            let id = String(decoding: message.id ?? [], as: UTF8.self)
            var report = DeviceScript.message(
                "", [("message_type", "send_error"), ("message_id", id), ("error", "WHY")])
            let stored = MCS.Message.iq(MCS.IqStanza(.selectiveAck([message.persistentID ?? []])))
            switch id {
            case "good": return [stored]
            case "late":
                report.immediateAck = true
                return [stored, .dataMessage(report)]
            default: return [.dataMessage(report)]
            }
        }
        #expect(try send(scene, "good")?.get() == .stored)
        #expect(try send(scene, "bad")?.get() == .refused("WHY"))
        #expect(try send(scene, "late")?.get() == .stored)
        #expect(scene.run { scene.state?.received == 2 })
        #expect(try states(scene) == [.stored, .refused("WHY"), .returned("WHY")])
        let first = try #require(scene.script.messages.first)
        #expect(first.id == Array("good".utf8) && first.timeToLive == 60)
        #expect(first.category == Array("org.example.app".utf8))
        #expect(first.persistentID?.starts(with: Array("bench-".utf8)) == true)
        #expect(Set(scene.script.messages.map(\.persistentID)).count == 3)
        let shown = try scene.host.sent(by: BenchScene.device, after: 1, limit: 9, messageID: "late")
        #expect(shown.map(\.number) == [3] && shown[0].sentAt == 7)
    }

    @Test("what a device sends while it is offline, or loses unanswered, waits for the next login")
    func sendsLater() throws {
        let scene = try online()
        var outcome: Sent?
        scene.host.send(from: BenchScene.device, messageID: "1", lifetimeSeconds: 60, data: []) {
            outcome = $0
        }
        #expect(scene.run { scene.script.messages.count == 1 } && outcome == nil)
        scene.host.change(BenchScene.device, isOnline: false, acknowledges: nil) { _ in }
        #expect(try outcome?.get() == .waiting)
        #expect(try send(scene, "2")?.get() == .waiting)
        scene.script.answer = { frame in
            guard case .dataMessage(let message) = frame else { return DeviceScript.greeting(frame) }
            return [.iq(MCS.IqStanza(.selectiveAck([message.persistentID ?? []])))]
        }
        scene.host.change(BenchScene.device, isOnline: true, acknowledges: nil) { _ in }
        #expect(scene.run { (try? states(scene)) == [.stored, .stored] })
        #expect(scene.script.messages.map(\.id) == ["1", "1", "2"].map { Array($0.utf8) })
        // The next connection has nothing to send.
        _ =
            scene.outcome {
                scene.host.change(BenchScene.device, isOnline: true, acknowledges: false, completed: $0)
            }
            as Result<VirtualDeviceState, TestBenchProblem>?
        #expect(scene.script.logins.count == 3 && scene.script.messages.count == 3)
    }

    @Test("a device has a limited number of messages to send")
    func unsent() throws {
        let scene = try BenchScene(.init(devices: [BenchScene.record(isOnline: false)]))
        for number in 1...Limits.Mailbox.waitingUpstream {
            #expect(try send(scene, "\(number)")?.get() == .waiting)
        }
        #expect(throws: TestBenchProblem.unsent(BenchScene.device)) { try send(scene, "more")?.get() }
    }

    @Test(
        "what a device has received is complete after two answered heartbeats, or while it is to be offline")
    func receipts() throws {
        typealias Receipt = Result<DeviceReceipt, TestBenchProblem>
        let scene = try online { frame in
            switch frame {
            case .loginRequest: [.loginResponse(MCS.LoginResponse())]
            case .heartbeatPing: [.dataMessage(DeviceScript.message("p")), .heartbeatAck(MCS.Heartbeat())]
            default: []
            }
        }
        func receipt() throws -> DeviceReceipt {
            let receipt: Receipt? = scene.outcome { scene.host.receipt(of: BenchScene.device, completed: $0) }
            return try #require(receipt).get()
        }
        let first = try receipt()
        #expect(first.isComplete && first.received == [Array("p".utf8)] && first.state.received == 2)
        #expect(scene.script.heartbeats == 2)
        // A server that ends the connection in place of an answer.
        scene.script.answer = { if case .heartbeatPing = $0 { nil } else { [] } }
        #expect(try !receipt().isComplete)
        scene.host.change(BenchScene.device, isOnline: false, acknowledges: nil) { _ in }
        #expect(try receipt().isComplete)
    }
}
