public import Basics
import Client
import ClientProtocol
import Transport

/// The recorders, which take what devices send while no app server is connected.
extension BenchHost {
    /// Begins to record what is sent to a sender, and reports the recorder as soon as it is logged in. One that exists stays.
    public func record(
        _ sender: SenderID, completed: @escaping (Result<RecorderState, TestBenchProblem>) -> Void
    ) {
        do throws(TestBenchProblem) {
            let recorder = if let known = recorders[sender] { known } else { try makeRecorder(sender) }
            guard !recorder.client.isReady else { return completed(.success(recorder.state)) }
            recorder.ready.wait(
                until: reactor.now.monotonic.advanced(seconds: Limits.TestBench.answerSeconds)
            ) { completed(.success(recorder.state)) }
        } catch { completed(.failure(error)) }
    }

    private func makeRecorder(_ sender: SenderID) throws(TestBenchProblem) -> Recorder {
        guard settings.appServers != nil else { throw .noAppServers }
        guard recorders.count < Limits.TestBench.recorders else { throw .tooManyRecorders }
        guard let recorder = connectRecorder(sender) else { throw .noAppServers }
        do throws(TestBenchProblem) { try save() } catch {
            disconnect(recorder)
            throw error
        }
        return recorder
    }

    /// Adds a recorder and connects it. Returns `nil` if there is no listener for app servers.
    @discardableResult
    func connectRecorder(_ sender: SenderID) -> Recorder? {
        guard let endpoint = settings.appServers else { return nil }
        let login = AppServerLogin(sender: sender, key: settings.recorderKey)
        let recorder = Recorder(
            sender, client: AppServerClient(reactor: reactor, endpoint: endpoint, login: login))
        recorder.client.reconnects = true
        recorder.client.onEvent = { [unowned self, unowned recorder] _, event, now in
            switch event {
            case .upstream(let content):
                keep(RecordedMessage(kind: .message, content: content), recorder, now)
            case .receipt(let content): keep(RecordedMessage(kind: .receipt, content: content), recorder, now)
            case .ready: recorder.ready.end()
            case .loginFailed(let condition):
                log.repeating(
                    .warning, "recorder_refused", by: "\(recorder.sender.number)",
                    ["sender": .text("\(recorder.sender.number)"), "problem": .text(condition)])
            default: break
            }
        }
        recorders[sender] = recorder
        do throws(TransportError) { try recorder.client.connect() } catch {
            log.warning("recorder_unconnected", ["problem": .text(error.description)])
        }
        return recorder
    }

    private func keep(_ message: RecordedMessage, _ recorder: Recorder, _ now: Now) {
        recorder.messages.add(
            message, now: settings.serverTime(now).wall, room: room(besides: recorder.messages.inbox.bytes))
    }

    private func disconnect(_ recorder: Recorder) {
        recorders[recorder.sender] = nil
        recorder.client.onEvent = nil
        if recorder.client.isReady { recorder.client.end() } else { recorder.client.abort() }
        recorder.ready.end()
        recorder.messages.end(.notRecorded(recorder.sender))
    }

    /// All recorders, in the order of their senders.
    public func recorderStates() -> [RecorderState] {
        recorders.values.map(\.state).sorted { $0.sender < $1.sender }
    }

    /// The state of a sender's recorder.
    public func state(ofRecorder sender: SenderID) throws(TestBenchProblem) -> RecorderState {
        try find(sender).state
    }

    private func find(_ sender: SenderID) throws(TestBenchProblem) -> Recorder {
        guard let found = recorders[sender] else { throw .notRecorded(sender) }
        return found
    }

    /// Returns up to `limit` recorded messages after a number. If there are less than the wait demands, waits for them.
    public func recorded(
        for sender: SenderID, after number: Int, limit: Int, _ wait: MessageWait,
        completed: @escaping (Result<[InboxMessage<RecordedMessage>], TestBenchProblem>) -> Void
    ) {
        do throws(TestBenchProblem) {
            let recorder = try find(sender)
            recorder.messages.read(
                after: number, limit: limit, id: wait.id, count: wait.count,
                until: try patience(wait.seconds),
                completed: completed)
        } catch { completed(.failure(error)) }
    }

    /// Removes all messages from a recorder's inbox. Returns how many there were.
    public func clearRecorder(of sender: SenderID) throws(TestBenchProblem) -> Int {
        try find(sender).messages.clear()
    }

    /// Ends the recording for all senders. Returns how many there were.
    func removeRecorders() throws(TestBenchProblem) -> Int {
        let all = Array(recorders.values)
        for recorder in all { disconnect(recorder) }
        try save()
        return all.count
    }

    /// Ends the recording for a sender, and drops the inbox.
    public func removeRecorder(of sender: SenderID) throws(TestBenchProblem) -> RecorderState {
        let recorder = try find(sender)
        let state = recorder.state
        disconnect(recorder)
        try save()
        return state
    }
}
