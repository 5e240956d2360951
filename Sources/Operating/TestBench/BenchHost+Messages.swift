public import Basics
import Client
public import ClientProtocol
import Transport
import Wire

/// The inboxes of the virtual devices, and what they send.
extension BenchHost {
    /// Returns up to `limit` messages after a number. If there are less than the wait demands, waits for them.
    public func messages(
        of device: DeviceID, after number: Int, limit: Int, _ wait: MessageWait,
        completed: @escaping (Result<[InboxMessage<DeviceMessage>], TestBenchProblem>) -> Void
    ) {
        do throws(TestBenchProblem) {
            try find(device).messages.read(
                after: number, limit: limit, id: wait.id, count: wait.count,
                until: try patience(wait.seconds),
                completed: completed)
        } catch { completed(.failure(error)) }
    }

    /// Ends a wait for messages whose caller has left.
    public func end(_ wait: MessageWait) {
        for device in devices.values { device.messages.end(waitOf: wait.id) }
        for recorder in recorders.values { recorder.messages.end(waitOf: wait.id) }
    }

    /// Returns until when a request may wait; `nil` if it does not want to.
    func patience(_ seconds: Int) throws(TestBenchProblem) -> Instant? {
        guard seconds > 0 else { return nil }
        let waiting =
            devices.values.reduce(0) { $0 + $1.messages.waiting }
            + recorders.values.reduce(0) { $0 + $1.messages.waiting }
        guard waiting + settling < Limits.TestBench.waiting else { throw .busy }
        return reactor.now.monotonic.advanced(seconds: seconds)
    }

    /// Sends a message from a device to its sender, and reports what has become of it. Without a connection it is sent after the next
    /// login.
    public func send(
        from device: DeviceID, messageID: String, lifetimeSeconds: Int, data: [(key: String, value: String)],
        completed: @escaping (Result<SentMessage.State, TestBenchProblem>) -> Void
    ) {
        do throws(TestBenchProblem) {
            let found = try find(device)
            guard !found.record.isForgotten else { throw .forgotten(device) }
            guard found.record.token != nil else { throw .unregistered(device) }
            let persistentID = Array("bench-\(Hex.text(SecureRandom.bytes(12)))".utf8)
            var message = Upstream(
                sender: found.record.sender, category: Array(found.record.app.utf8),
                messageID: Array(messageID.utf8), persistentID: persistentID)
            message.lifetimeSeconds = lifetimeSeconds
            message.data = data.map { (Array($0.key.utf8), Array($0.value.utf8)) }
            guard let number = found.sent.add(message, now: settings.serverTime(reactor.now).wall) else {
                throw .unsent(device)
            }
            guard let client = found.client else { return completed(.success(.waiting)) }
            found.sends[number] = VirtualDevice.PendingSend(
                until: reactor.now.monotonic.advanced(seconds: Limits.TestBench.answerSeconds),
                completed: { completed(.success($0)) })
            client.send(message)
        } catch { completed(.failure(error)) }
    }

    /// Returns up to `limit` messages that a device has sent after a number; only those with the app's ID if one is given.
    public func sent(
        by device: DeviceID, after number: Int, limit: Int, messageID: String?
    ) throws(TestBenchProblem) -> [SentMessage] {
        try find(device).sent.page(after: number, limit: limit, messageID: messageID)
    }

    /// The bytes that an inbox may have, which has some: what the others leave.
    func room(besides own: Int) -> Int {
        let all =
            devices.values.reduce(0) { $0 + $1.messages.inbox.bytes }
            + recorders.values.reduce(0) { $0 + $1.messages.inbox.bytes }
        return Limits.TestBench.inboxBytes - (all - own)
    }

    func received(_ message: DeviceMessage, by device: VirtualDevice, _ now: Now) {
        if message.isRefusal || message.isReturn, let id = message["message_id"] {
            let word = message["error"].map { String(decoding: $0, as: UTF8.self) } ?? ""
            if message.isRefusal {
                device.answer(device.sent.refuse(id, word), .refused(word))
            } else {
                device.sent.markReturned(id, word)
            }
        }
        device.messages.add(
            message, now: settings.serverTime(now).wall, room: room(besides: device.messages.inbox.bytes))
    }
}
