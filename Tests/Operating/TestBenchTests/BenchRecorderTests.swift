import Basics
import Client
import ClientProtocol
import ClientSupport
import Testing
import Wire

@testable import TestBench

/// Recorders, which take what devices send in place of app servers.
@Suite("Recorders of a test bench")
struct BenchRecorderTests {
    private typealias Record = Result<RecorderState, TestBenchProblem>
    private typealias Page = Result<[InboxMessage<RecordedMessage>], TestBenchProblem>

    private static let message =
        "{\"category\":\"a.b\",\"data\":{\"k\":\"v\"},\"message_id\":\"up\",\"from\":\"T\"}"
    private static let receipt =
        "{\"category\":\"a.b\",\"data\":{\"message_status\":\"MESSAGE_SENT_TO_DEVICE\",\"original_message_id\":\"m-1\"},\"message_id\":\"dr2:m-1\",\"message_type\":\"receipt\",\"time_to_live\":0,\"from\":\"gcm.googleapis.com\"}"

    private func record(_ scene: BenchScene) -> Record? {
        scene.outcome { scene.host.record(BenchScene.sender, completed: $0) }
    }

    @Test("a recorder is reported once it is logged in, one for each sender, and is in the file")
    func records() throws {
        let scene = try BenchScene()
        #expect(try record(scene)?.get().isConnected == true)
        #expect(try record(scene)?.get().sender == BenchScene.sender)
        #expect(scene.appServers.accepted == 1 && scene.host.recorderStates().count == 1)
        #expect(try scene.saved.recorded == [BenchScene.sender])
        // The next process goes on.
        let next = try BenchScene(scene.saved)
        #expect(next.run { next.host.recorderStates().first?.isConnected == true })
        #expect(try next.host.state(ofRecorder: BenchScene.sender).sender == BenchScene.sender)
    }

    @Test("messages and receipts are recorded in order, with the time of the server, until they are cleared")
    func messages() throws {
        let scene = try BenchScene()
        var pieces = [Self.message, Self.receipt]
        scene.answerAppServer = { _ in
            pieces.isEmpty ? "" : AppServerScript.upstream(pieces.removeFirst())
        }
        _ = record(scene)
        // Every acknowledgement brings the next one; the first comes with a ping.
        let recorder = try #require(scene.host.recorders[BenchScene.sender])
        recorder.client.send(Downstream(to: [0x54], messageID: [0x6D]))
        let page: Page? = scene.outcome {
            scene.host.recorded(
                for: BenchScene.sender, after: 0, limit: 9, MessageWait(id: 1, seconds: 60, count: 2),
                completed: $0)
        }
        let found = try #require(try page?.get())
        #expect(found.map(\.message.kind) == [.message, .receipt] && found.map(\.receivedAt) == [7, 7])
        #expect(found.map(\.message.content.messageID) == [Array("up".utf8), Array("dr2:m-1".utf8)])
        #expect(try scene.host.state(ofRecorder: BenchScene.sender).received == 2)
        #expect(try scene.host.clearRecorder(of: BenchScene.sender) == 2)
        #expect(try scene.host.clearRecorder(of: BenchScene.sender) == 0)
    }

    @Test("a recorder that is removed ends its stream and what waits for it, and is no longer in the file")
    func removed() throws {
        let scene = try BenchScene()
        _ = record(scene)
        var waited: [TestBenchProblem] = []
        func wait(_ id: UInt32) {
            scene.host.recorded(
                for: BenchScene.sender, after: 0, limit: 1, MessageWait(id: id, seconds: 60)
            ) { if case .failure(let problem) = $0 { waited.append(problem) } }
        }
        wait(1)
        #expect(try scene.host.removeRecorder(of: BenchScene.sender).isConnected)
        #expect(waited == [.notRecorded(BenchScene.sender)])
        #expect(try scene.saved.recorded.isEmpty && scene.host.recorderStates().isEmpty)
        wait(2)
        #expect(waited.count == 2)
        #expect(throws: TestBenchProblem.notRecorded(BenchScene.sender)) {
            try scene.host.removeRecorder(of: BenchScene.sender)
        }
        #expect(throws: TestBenchProblem.notRecorded(BenchScene.sender)) {
            try scene.host.clearRecorder(of: BenchScene.sender)
        }
    }

    @Test("one that is removed before its login is aborted, and its request answered")
    func early() throws {
        let scene = try BenchScene()
        var reported: Record?
        scene.host.record(BenchScene.sender) { reported = $0 }
        #expect(reported == nil)
        #expect(try !scene.host.removeRecorder(of: BenchScene.sender).isConnected)
        #expect(try reported?.get().isConnected == false)
    }

    @Test(
        "without a listener for app servers nothing is recorded, nor beyond the most recorders or a full disk"
    )
    func refused() throws {
        let none = try BenchScene(hasAppServers: false)
        #expect(throws: TestBenchProblem.noAppServers) { try record(none)?.get() }
        let unwritable = try BenchScene(file: "/nowhere/devices.json")
        #expect(throws: TestBenchProblem.self) { try record(unwritable)?.get() }
        #expect(unwritable.host.recorderStates().isEmpty)
        let full = try BenchScene(
            .init(recorded: (1...UInt64(Limits.TestBench.recorders)).map { SenderID($0 + 1_000) }))
        #expect(throws: TestBenchProblem.tooManyRecorders) { try record(full)?.get() }
        #expect(full.host.recorderStates().map(\.sender.number).first == 1_001)
    }
}
