import Basics
import Delivery
import History
import Transport

/// Files of a message history with made-up messages, as ccsd would have written them in the last 23 hours.
///
/// A message follows from its number alone: its ID, device and sender are found again without a list.
final class WrittenHistory {
    /// A message of its number.
    struct Message {
        let number: Int
        /// Its ID, a UUID as many app servers use.
        let id: String
        let device: UInt64
        let sender: UInt64
        let time: UnixMilliseconds
        let sequence: UInt64

        var persistentID: PersistentID {
            PersistentID(sequence: SequenceNumber(sequence), salt: WrittenHistory.salt)
        }
    }

    private static let devices: UInt64 = 1_000_000
    private static let senders: UInt64 = 100
    fileprivate static let salt: UInt32 = 0x5eed
    private static let span: Int64 = 23 * 3_600_000
    /// One of this many is refused.
    static let messagesPerRefusal = 50_000
    /// One of four waits for its device, while this many others come.
    private static let messagesPerWait = 4
    private static let messagesOfWait = 4_096

    let count: Int
    private let folder: String
    private let end: UnixMilliseconds
    /// Bytes of the files.
    private(set) var bytes = 0
    private(set) var files = 0
    private var writer: SegmentWriter
    /// The file that is being written.
    private var out: ByteBuffer

    /// Makes the folder of a history of some messages.
    init(_ count: Int, in folder: String, now: UnixMilliseconds) throws(TransportError) {
        self.count = count
        self.folder = folder
        end = now
        try SmallFile.makePrivateDirectory(folder)
        var header = ByteBuffer()
        writer = SegmentWriter(number: 1, at: now - Self.span, header: &header)
        out = header
    }

    private static func path(_ folder: String, _ number: UInt64) -> String { "\(folder)/\(number).history" }

    /// The message of a number.
    func message(_ number: Int) -> Message {
        var random = SeededRandom(seed: UInt64(number))
        let (first, second) = (random.next(), random.next())
        let hex = [first, second].map { Figure.padLeft(String($0, radix: 16), 16, "0") }.joined()
        let ends = [8, 12, 16, 20, 32]
        let parts = zip([0] + ends, ends).map { String(hex.dropFirst($0).prefix($1 - $0)) }
        let time = end - Self.span + UnixMilliseconds(Double(number) / Double(count) * Double(Self.span))
        return Message(
            number: number, id: parts.joined(separator: "-"),
            device: 4_000_000_000_000_000_000 + random.next() % Self.devices,
            sender: 1 + random.next() % Self.senders, time: time,
            sequence: UInt64(time) * 1_000 + UInt64(number % 1_000))
    }

    /// Writes all messages, with one file after the other complete.
    func write(progress: (Int) -> Void) throws(TransportError) {
        var waiting: [Message] = []
        var batch = HistoryBatch()
        for number in 0..<count {
            let message = message(number)
            if number % Self.messagesPerRefusal == 1 {
                add(message, .refused, 0, &batch)
            } else {
                add(message, .stored, 0, &batch)
                if number % Self.messagesPerWait == 0 {
                    waiting.append(message)
                } else {
                    end(message, after: 40, &batch)
                }
            }
            if batch.steps.count + 4 > Limits.History.mergedSteps || number == count - 1 {
                for old in waiting where old.number < number - Self.messagesOfWait {
                    end(old, after: message.time - old.time, &batch)
                }
                waiting.removeAll { $0.number < number - Self.messagesOfWait }
                try append(batch, at: message.time)
                batch.removeAll()
                progress(number)
            }
        }
        try finish()
    }

    private func end(_ message: Message, after delay: Int64, _ batch: inout HistoryBatch) {
        add(message, .sent, delay, &batch)
        add(message, .delivered, delay + 40, &batch)
    }

    private func add(
        _ message: Message, _ kind: TraceRecord.Step, _ delay: Int64, _ batch: inout HistoryBatch
    ) {
        let isRefused = kind == .refused
        var step = HistoryStep(
            .downstream, kind, sequence: isRefused ? 0 : message.sequence, at: message.time + delay)
        step.device = message.device
        step.sender = message.sender
        step.registration = 1
        step.salt = isRefused ? 0 : Self.salt
        // All devices are connected, in the order of a million logins.
        if kind == .sent {
            let login = (message.device &* 0x9e37_79b9_7f4a_7c15) >> 44
            step.session = SessionID(reactor: UInt16(login & 3), generation: UInt32(login))
        }
        let hasID = isRefused || kind == .stored
        batch.append(
            step, id: hasID ? Array(message.id.utf8) : [], detail: isRefused ? "DEVICE_UNREGISTERED" : "")
    }

    private func append(
        _ batch: borrowing HistoryBatch, at time: UnixMilliseconds
    ) throws(TransportError) {
        var progress = BatchProgress()
        var isOpen = true
        while isOpen {
            if writer.isFull {
                let number = writer.number
                let index = try finish()
                writer = SegmentWriter(number: number + 1, at: time, reusing: index, header: &out)
            }
            isOpen = writer.append(batch, from: &progress, to: &out)
        }
    }

    /// Completes the file. Returns its index, for the storage.
    @discardableResult
    private func finish() throws(TransportError) -> SegmentIndex {
        let index = writer.complete(&out)
        let content = out.copied()
        try SmallFile.replace(Self.path(folder, writer.number), with: content, mode: 0o600)
        bytes += content.count
        files += 1
        out.removeAll(keepingCapacity: true)
        return index
    }
}
