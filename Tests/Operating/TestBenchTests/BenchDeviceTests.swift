import Basics
import BasicsSupport
import Client
import ClientProtocol
import ClientSupport
import Synchronization
import Testing
import Transport
import Wire

@testable import TestBench

/// The life of virtual devices: how they join, connect, are forgotten and leave.
@Suite("Life of virtual devices")
struct BenchDeviceTests {
    private typealias Change = Result<VirtualDeviceState, TestBenchProblem>

    private func online(answer: @escaping (MCS.Message) -> [MCS.Message]? = DeviceScript.greeting) throws
        -> BenchScene
    {
        let scene = try BenchScene(.init(devices: [BenchScene.record()]), answer: answer)
        try #require(scene.run { scene.state?.isConnected == true })
        return scene
    }

    private func change(_ scene: BenchScene, isOnline: Bool? = nil, acknowledges: Bool? = nil) -> Change? {
        scene.outcome {
            scene.host.change(
                BenchScene.device, isOnline: isOnline, acknowledges: acknowledges, completed: $0)
        }
    }

    @Test("a device that joins is reported once it is logged in, and is in the file")
    func joins() throws {
        let scene = try BenchScene()
        let made: Change? = scene.outcome {
            scene.host.add(
                app: "org.example.app", sender: BenchScene.sender, label: "one", completed: $0)
        }
        let state = try #require(try made?.get())
        #expect(state.isConnected && state.record.token == "new" && state.record.label == "one")
        #expect(scene.calls.count == 2 && scene.calls[1].contains("app=org.example.app"))
        #expect(scene.calls[1].contains("sender=100") && scene.calls[1].contains("X-appid="))
        let saved = try scene.saved.devices
        #expect(saved.map(\.device) == [BenchScene.device] && saved[0].identity.securityToken.revealed == 6)
        #expect(saved[0].app == "org.example.app" && saved[0].token == "new" && saved[0].isOnline)
        #expect(scene.host.list().map(\.record.device) == [BenchScene.device])
    }

    @Test("a device whose place in the file cannot be written is reported with that problem")
    func unwritable() throws {
        let scene = try BenchScene(file: "/nowhere/devices.json")
        let made: Change? = scene.outcome {
            scene.host.add(app: "a", sender: BenchScene.sender, label: "", completed: $0)
        }
        #expect(throws: TestBenchProblem.self) { try made?.get() }
    }

    @Test("devices of an earlier process connect again, but not those that were offline")
    func restarts() throws {
        let devices = [BenchScene.record(), BenchScene.record(9, isOnline: false)]
        let scene = try BenchScene(.init(devices: devices))
        #expect(scene.run { scene.state?.isConnected == true })
        #expect(scene.script.logins.map(\.user) == [Array("5".utf8)])
        #expect(scene.host.list().map(\.record.device.number) == [5, 9])
        #expect(scene.host.list().map(\.record.label) == ["label", "label"])
    }

    @Test("a device goes offline and online; how it acknowledges needs another connection")
    func changes() throws {
        let scene = try online()
        let off = try #require(try change(scene, isOnline: false)?.get())
        #expect(!off.isConnected && !off.record.isOnline)
        #expect(try scene.saved.devices.map(\.isOnline) == [false])
        let on = try #require(try change(scene, isOnline: true)?.get())
        #expect(on.isConnected && scene.devices.accepted == 2)
        // What does not change leaves the connection as it is.
        _ = change(scene, isOnline: true, acknowledges: true)
        #expect(scene.devices.accepted == 2)
        let silent = try #require(try change(scene, acknowledges: false)?.get())
        #expect(silent.isConnected && !silent.record.acknowledges && scene.devices.accepted == 3)
        #expect(try scene.saved.devices.map(\.acknowledges) == [false])
    }

    @Test("messages that a device does not acknowledge are not listed at its next login, others are")
    func acknowledgement() throws {
        let scene = try online { frame in
            guard case .loginRequest = frame else { return [] }
            return [.loginResponse(MCS.LoginResponse()), .dataMessage(DeviceScript.message("p"))]
        }
        #expect(scene.run { scene.state?.received == 1 })
        _ = change(scene, isOnline: false)
        _ = change(scene, isOnline: true)
        #expect(scene.script.logins.map(\.receivedIDs) == [[], [Array("p".utf8)]])
        _ = change(scene, acknowledges: false)
        #expect(scene.run { scene.state?.received == 3 })
        _ = change(scene, isOnline: false)
        _ = change(scene, isOnline: true)
        #expect(scene.script.logins.last?.receivedIDs.isEmpty == true)
    }

    @Test("what is asked of a device that is not there is refused")
    func unknown() throws {
        let scene = try BenchScene()
        let problem = TestBenchProblem.unknown(BenchScene.device)
        let host = scene.host
        var failures: [TestBenchProblem?] = []
        func note<Value>(_ result: Result<Value, TestBenchProblem>) {
            if case .failure(let problem) = result { failures.append(problem) } else { failures.append(nil) }
        }
        host.change(BenchScene.device, isOnline: true, acknowledges: nil, completed: note)
        host.unregister(BenchScene.device, completed: note)
        host.remove(BenchScene.device, completed: note)
        host.reinstall(BenchScene.device, completed: note)
        host.receipt(of: BenchScene.device, completed: note)
        host.messages(
            of: BenchScene.device, after: 0, limit: 1, MessageWait(id: 1, seconds: 1), completed: note)
        host.send(from: BenchScene.device, messageID: "m", lifetimeSeconds: 1, data: [], completed: note)
        #expect(failures == Array(repeating: problem, count: 7))
        #expect(throws: problem) { try host.beginSettling(BenchScene.device) }
        #expect(throws: problem) { try host.state(of: BenchScene.device) }
        #expect(throws: problem) {
            try host.sent(by: BenchScene.device, after: 0, limit: 1, messageID: nil)
        }
    }

    @Test("a device that the server does not know is forgotten, for good")
    func forgotten() throws {
        let scene = try BenchScene(
            .init(devices: [BenchScene.record(isOnline: false)]), answer: BenchScene.refusing(401))
        let problem = TestBenchProblem.forgotten(BenchScene.device)
        #expect(throws: problem) { try change(scene, isOnline: true)?.get() }
        let record = try #require(scene.state?.record)
        #expect(record.isForgotten && !record.isOnline && record.token == nil)
        let saved = try scene.saved.devices[0]
        #expect(saved.isForgotten && !saved.isOnline && saved.token == nil)
        #expect(throws: problem) { try change(scene, isOnline: true)?.get() }
        let again: Change? = scene.outcome { scene.host.reinstall(BenchScene.device, completed: $0) }
        #expect(throws: problem) { try again?.get() }
        let sent: Result<SentMessage.State, TestBenchProblem>? = scene.outcome {
            scene.host.send(
                from: BenchScene.device, messageID: "m", lifetimeSeconds: 1, data: [], completed: $0)
        }
        #expect(throws: problem) { try sent?.get() }
        #expect(scene.devices.accepted == 1)
        // It may still go offline, as it is, and acknowledge otherwise.
        #expect(try change(scene, isOnline: false)?.get().record.isForgotten == true)
    }

    @Test("a device that is refused for another reason keeps its token")
    func refused() throws {
        let scene = try BenchScene(
            .init(devices: [BenchScene.record()]), answer: BenchScene.refusing(500))
        #expect(scene.run { scene.script.logins.count == 1 && scene.host.list().first?.isConnected == false })
        scene.reactor.turn(waitMilliseconds: 50)
        #expect(scene.state?.record.isForgotten == false && scene.state?.record.token == "old")
    }

    @Test("a device that reinstalls its app has another token; a failure leaves the old one")
    func reinstalls() throws {
        let scene = try online()
        let made: Change? = scene.outcome { scene.host.reinstall(BenchScene.device, completed: $0) }
        #expect(try made?.get().record.token == "new")
        #expect(try scene.saved.devices.map(\.token) == ["new"])
        #expect(scene.calls.last?.contains("app=org.example.app") == true)
        #expect(scene.calls.last?.contains("sender=100") == true)
        scene.web = { _ in BenchScene.ok(Array("Error=INVALID_SENDER".utf8)) }
        let failed: Change? = scene.outcome { scene.host.reinstall(BenchScene.device, completed: $0) }
        #expect(throws: TestBenchProblem.self) { try failed?.get() }
        #expect(scene.state?.record.token == "new")
    }

    @Test("a device that unregisters has no token and sends nothing; it unregisters once")
    func unregisters() throws {
        let scene = try online()
        scene.web = { _ in BenchScene.ok(Array("Error=PHONE_REGISTRATION_ERROR".utf8)) }
        let failed: Change? = scene.outcome { scene.host.unregister(BenchScene.device, completed: $0) }
        #expect(throws: TestBenchProblem.self) { try failed?.get() }
        #expect(scene.state?.record.token == "old")
        scene.web = BenchScene.enrolling
        let gone: Change? = scene.outcome { scene.host.unregister(BenchScene.device, completed: $0) }
        #expect(try gone?.get().record.token == nil && gone?.get().isConnected == true)
        #expect(scene.calls.last?.contains("app=org.example.app") == true)
        #expect(try scene.saved.devices.map(\.token) == [nil])
        let calls = scene.calls.count
        let again: Change? = scene.outcome { scene.host.unregister(BenchScene.device, completed: $0) }
        #expect(try again?.get().record.token == nil && scene.calls.count == calls)
        let sent: Result<SentMessage.State, TestBenchProblem>? = scene.outcome {
            scene.host.send(
                from: BenchScene.device, messageID: "m", lifetimeSeconds: 1, data: [], completed: $0)
        }
        #expect(throws: TestBenchProblem.unregistered(BenchScene.device)) { try sent?.get() }
    }

    @Test("a device that is removed ends its registration, its connection and what waits for it")
    func removed() throws {
        let scene = try online()
        var waited: TestBenchProblem?
        scene.host.messages(
            of: BenchScene.device, after: 0, limit: 1, MessageWait(id: 1, seconds: 60)
        ) { if case .failure(let problem) = $0 { waited = problem } }
        let gone: Change? = scene.outcome { scene.host.remove(BenchScene.device, completed: $0) }
        #expect(try gone?.get().record.token == nil)
        #expect(waited == .unknown(BenchScene.device))
        #expect(scene.host.list().isEmpty && scene.calls.count == 1)
        #expect(try scene.saved.devices.isEmpty)
        #expect(scene.run { scene.devices.closed == 1 })
    }

    @Test("a reset removes all devices and recorders, and counts them; a failure is reported")
    func reset() throws {
        let scene = try BenchScene(
            .init(devices: [BenchScene.record(5), BenchScene.record(9)], recorded: [SenderID(1)]))
        typealias Counts = Result<(devices: Int, recorders: Int), TestBenchProblem>
        scene.web = { _ in BenchScene.ok(Array("Error=X".utf8)) }
        let failed: Counts? = scene.outcome { scene.host.reset(completed: $0) }
        #expect(throws: TestBenchProblem.self) { try failed?.get() }
        #expect(scene.host.list().count == 2 && scene.host.recorderStates().isEmpty)
        scene.web = BenchScene.enrolling
        let counts: Counts? = scene.outcome { scene.host.reset(completed: $0) }
        #expect(try counts.map { try $0.get() == (devices: 2, recorders: 0) } == true)
        let saved = try scene.saved
        #expect(scene.host.list().isEmpty && saved.devices.isEmpty && saved.recorded.isEmpty)
    }

    @Test("jobs of other threads run on the thread of the test bench, in order, until it stops")
    func jobs() throws {
        let scene = try BenchScene()
        let reactor = try Reactor(index: 1)
        let bench = TestBench(handle: reactor.handle)
        let done = Mutex<[Int]>([])
        for number in 1...3 { bench.post { _ in done.withLock { $0.append(number) } } }
        bench.stop()
        bench.run(reactor, scene.host.settings, .silent)
        #expect(done.withLock { $0 } == [1, 2, 3])
    }
}
