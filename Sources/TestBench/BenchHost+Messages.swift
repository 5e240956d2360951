public import Basics
import Client
import ClientProtocol
import Transport
import Wire

/// The inboxes of the virtual devices, and what they send.
extension BenchHost {
    /// Returns up to `limit` messages after a number. If there are none, waits for the first until `seconds` are over.
    public func messages(
        of device: DeviceID, after number: Int, limit: Int, seconds: Int,
        completed: @escaping (Result<[InboxMessage], TestBenchProblem>) -> Void
    ) {
        do throws(TestBenchProblem) {
            let page = try find(device).inbox.page(after: number, limit: limit)
            guard page.isEmpty, seconds > 0 else { return completed(.success(page)) }
            guard waiting.count < Limits.TestBench.waiting else { return completed(.failure(.busy)) }
            waiting.append(
                WaitingReader(
                    device: device, after: number, limit: limit,
                    until: reactor.now.monotonic.advanced(seconds: seconds), completed: completed))
        } catch { completed(.failure(error)) }
    }

    /// Sends a message from a device to its sender, and reports what has become of it. Without a connection it is sent after the next
    /// login.
    public func send(
        from device: DeviceID, messageID: String, lifetimeSeconds: Int, data: [(key: String, value: String)],
        completed: @escaping (Result<SentMessage.State, TestBenchProblem>) -> Void
    ) {
        do throws(TestBenchProblem) {
            let found = try find(device)
            guard found.record.token != nil else { throw .unregistered(device) }
            let persistentID = Array("bench-\(Hex.text(SecureRandom.bytes(12)))".utf8)
            var message = Upstream(
                sender: found.record.sender, category: Array(found.record.app.utf8),
                messageID: Array(messageID.utf8), persistentID: persistentID)
            message.lifetimeSeconds = lifetimeSeconds
            message.data = data.map { (Array($0.key.utf8), Array($0.value.utf8)) }
            guard let number = found.sent.add(message, now: reactor.now.wall) else { throw .unsent(device) }
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

    /// The bytes that the inbox of a device may have: what the others leave.
    private func room(for device: VirtualDevice) -> Int {
        Limits.TestBench.inboxBytes
            - devices.values.reduce(0) { $0 + ($1 === device ? 0 : $1.inbox.bytes) }
    }

    func received(_ message: DeviceMessage, by device: VirtualDevice, _ now: Now) {
        device.inbox.add(message, now: now.wall, room: room(for: device))
        if message.isRefusal || message.isReturn, let id = message["message_id"] {
            let word = message["error"].map { String(decoding: $0, as: UTF8.self) } ?? ""
            if message.isRefusal {
                device.answer(device.sent.refuse(id, word), .refused(word))
            } else {
                device.sent.markReturned(id, word)
            }
        }
        let readers = waiting.filter { $0.device == device.record.device }
        guard !readers.isEmpty else { return }
        waiting.removeAll { $0.device == device.record.device }
        for reader in readers {
            let page = device.inbox.page(after: reader.after, limit: reader.limit)
            if page.isEmpty { waiting.append(reader) } else { reader.completed(.success(page)) }
        }
    }
}
