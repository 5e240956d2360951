import Basics
import Delivery
import History

/// A history in memory, and beside it the plain list of the steps that it was given.
final class HistoryWorld {
    /// A step with its texts.
    struct Given {
        var step: HistoryStep
        var id: String
        var detail: String
    }

    var files: [UInt64: [UInt8]] = [:]
    var given: [Given] = []
    /// The counts by hour, which are kept beside the files.
    var hours = HourlyCounts(since: 0)
    private var writer: SegmentWriter
    private var time: UnixMilliseconds = 1_700_000_000_000

    init() {
        var out = ByteBuffer()
        writer = SegmentWriter(number: 1, at: time, header: &out)
        files[1] = out.copied()
    }

    /// Encodes steps as one batch.
    func write(_ steps: [Given]) {
        var batch = HistoryBatch()
        for item in steps { batch.append(item.step, id: Array(item.id.utf8), detail: item.detail) }
        given += steps
        hours.add(batch)
        var progress = BatchProgress()
        var isOpen = true
        while isOpen {
            var out = ByteBuffer()
            isOpen = writer.append(batch, from: &progress, to: &out)
            files[writer.number]? += out.copied()
        }
    }

    /// Completes the file and starts the next one.
    func roll() {
        var out = ByteBuffer()
        let index = writer.complete(&out)
        files[writer.number]? += out.copied()
        var header = ByteBuffer()
        writer = SegmentWriter(number: writer.number + 1, at: time, reusing: index, header: &header)
        files[writer.number] = header.copied()
    }

    /// The number of the file that is being written.
    var number: UInt64 { writer.number }

    /// A search in all files.
    func search(blocks: Int = Limits.History.examinedBlocks) -> HistorySearch {
        HistorySearch(sources(), blocks: blocks)
    }

    /// All files.
    func sources() -> [HistorySource] {
        var sources = files.filter { $0.key < writer.number }.compactMap { Self.source($0.key, $0.value) }
        let open = files[writer.number] ?? []
        sources.append(HistorySource(writer) { Self.read(open, $0, $1) })
        return sources
    }

    static func source(_ number: UInt64, _ bytes: [UInt8]) -> HistorySource? {
        HistorySource(number: number, length: bytes.count) { read(bytes, $0, $1) }
    }

    static func read(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> [UInt8]? {
        guard offset >= 0, count >= 0, offset + count <= bytes.count else { return nil }
        return Array(bytes[offset..<offset + count])
    }

    /// One of many devices, whose numbers are random.
    static func device(_ number: Int) -> UInt64 { UInt64(number + 1) &* 0x9e37_79b9_7f4a_7c15 }

    /// A step of a message to a device.
    static func step(
        _ step: TraceRecord.Step, device: UInt64 = 7, sequence: UInt64, at time: Int64 = 1_700_000_000_000,
        id: String = "", detail: String = ""
    ) -> Given {
        var made = HistoryStep(.downstream, step, sequence: sequence, at: time)
        made.device = device
        made.sender = 42
        made.registration = 3
        made.salt = 99
        return Given(step: made, id: id, detail: detail)
    }
}

/// What the history must answer, from the list of steps.
extension HistoryWorld {
    /// A message as the oracle sees it.
    struct Expected: Equatable {
        var id: String
        var steps: [String]
    }

    /// The messages with an ID, in any order.
    func expected(id: String) -> [Expected] {
        var keys: [(HistoryStep.Kind, UInt64, UInt64)] = []
        var found: [Expected] = []
        for item in given where item.id == id {
            let key = (item.step.kind, item.step.owner, item.step.sequence)
            if item.step.sequence == 0 {
                found.append(Expected(id: id, steps: [Self.text(item)]))
            } else if !keys.contains(where: { $0 == key }) {
                keys.append(key)
                let own = given.filter { ($0.step.kind, $0.step.owner, $0.step.sequence) == key }
                found.append(Expected(id: id, steps: own.map(Self.text)))
            }
        }
        return found
    }

    static func text(_ item: Given) -> String {
        "\(item.step.time) \(item.step.step) \(item.detail) \(item.step.session?.text ?? "")"
    }

    static func expected(_ message: HistoryMessage) -> Expected {
        Expected(
            id: String(decoding: message.record.id, as: UTF8.self),
            steps: message.record.steps.map {
                "\($0.time) \($0.step) \($0.detail) \($0.session?.text ?? "")"
            })
    }
}
