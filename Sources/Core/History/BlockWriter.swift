import Basics
import Delivery

/// Writes records into blocks. A block has its length and checksum in its first eight bytes and can be read by itself.
///
/// A record: two bytes of flags; the position as a distance to the last one; device, registration, sender and salt, unless they are among
/// the recent ones of the block, or expected; the ID, without what it begins with like the last one or as a number; the steps, each with its
/// time as a distance, and with its session.
struct BlockWriter: ~Copyable {
    /// The block without its length and checksum.
    private(set) var payload = ByteBuffer()
    private var devices = RecentValues()
    private var senders = RecentValues()
    private var salts = RecentValues()
    private var expected = ExpectedValues()
    private var lastSequence: UInt64 = 0
    private var lastTime: UnixMilliseconds = 0
    private var lastID = ByteBuffer()

    /// Whether the block has no records.
    var isEmpty: Bool { payload.isEmpty }

    /// Starts the next block.
    mutating func begin() {
        payload.removeAll(keepingCapacity: true)
        devices.removeAll()
        senders.removeAll()
        salts.removeAll()
        expected.removeAll()
        lastSequence = 0
        lastTime = 0
        lastID.removeAll(keepingCapacity: true)
    }

    /// What a record needs in the index.
    struct Indexed {
        /// The hash of the ID; `nil` if the record has none.
        var id: UInt64?
        /// Whether the block has the device for the first time.
        var isNewDevice: Bool
    }

    /// Appends the record of the message whose first step is at `first`. Returns what the index needs, and the first step that is left: a
    /// record has up to `Limits.History.stepsPerRecord`.
    mutating func append(
        _ steps: borrowing Span<HistoryStep>, _ first: Int, _ chains: borrowing StepChains,
        _ text: borrowing RawSpan
    ) -> (indexed: Indexed, rest: Int) {
        var count = 1
        var next = Int(chains[first].next)
        while next >= 0, count < Limits.History.stepsPerRecord {
            count &+= 1
            next = Int(chains[next].next)
        }
        let step = steps[first]
        let textAt = Int(chains[first].text)
        let id = text.extracting(textAt..<textAt &+ Int(step.idBytes))
        let packed = PackedID.packed(id)
        var indexed = appendHead(step, steps: count, isPacked: packed != nil)
        if let (high, low) = packed {
            payload.append(word: high)
            payload.append(word: low)
        } else if step.idBytes > 0 {
            append(id: id)
        }
        if step.idBytes > 0 { indexed.id = HistoryHash.id(id) }
        var at = first
        for _ in 0..<count {
            let link = chains[at]
            append(steps[at], text, Int(link.text))
            at = Int(link.next)
        }
        return (indexed, next)
    }

    /// Writes the flags and numbers of a record.
    @inline(__always)
    private mutating func appendHead(_ step: HistoryStep, steps: Int, isPacked: Bool) -> Indexed {
        let (devicePlace, senderPlace) = (
            RecentValues.place(of: step.device), RecentValues.place(of: step.sender)
        )
        let saltPlace = RecentValues.place(of: UInt64(step.salt))
        let device: NumberForm =
            step.device == 0
            ? .none : devices.use(step.device, at: devicePlace, companion: 1) ? .recent : .full
        let hasRegistration =
            device != .none && !devices.useCompanion(step.registration, at: devicePlace)
        let sender: NumberForm =
            step.sender == 0 ? .none : senders.use(step.sender, at: senderPlace) ? .recent : .full
        let salt = saltForm(step, saltPlace)
        payload.append(
            byte: step.kind.rawValue | device.rawValue << 3 | sender.rawValue << 5
                | (hasRegistration ? 0x80 : 0))
        payload.append(
            byte: UInt8(truncatingIfNeeded: steps) | (isPacked ? 0x10 : 0) | salt.rawValue << 5
                | (step.idBytes > 0 ? 0x80 : 0))
        if step.sequence == 0 {
            payload.append(byte: 0)
        } else {
            number(Self.zigzag(Int64(bitPattern: step.sequence &- lastSequence)) &+ 1)
            lastSequence = step.sequence
            // A position is made from the time: what is stored has just got it.
            if step.step == .stored { lastTime = UnixMilliseconds(step.sequence / 1_000) }
        }
        // Devices are random: a varint would take ten bytes.
        if device == .full {
            payload.append(word: step.device)
        } else {
            append(step.device, device, devicePlace)
        }
        if hasRegistration { number(step.registration) }
        append(step.sender, sender, senderPlace)
        append(UInt64(step.salt), salt, saltPlace)
        return Indexed(id: nil, isNewDevice: device == .full)
    }

    @inline(__always)
    private mutating func saltForm(_ step: HistoryStep, _ place: Int) -> NumberForm {
        guard step.salt != 0 else { return .none }
        let salt = UInt64(step.salt)
        if expected.use(salt: salt, of: step.owner) { return .expected }
        return salts.use(salt, at: place) ? .recent : .full
    }

    @inline(__always)
    private mutating func append(_ value: UInt64, _ form: NumberForm, _ place: Int) {
        switch form {
        case .none, .expected: break
        case .recent: payload.append(byte: UInt8(truncatingIfNeeded: place))
        case .full: number(value)
        }
    }

    private mutating func append(id: borrowing RawSpan) {
        let most = min(id.byteCount, lastID.count)
        var same = 0
        while same < most, id.byte(at: same) == lastID.bytes.byte(at: same) { same &+= 1 }
        payload.append(byte: UInt8(truncatingIfNeeded: same))
        payload.append(byte: UInt8(truncatingIfNeeded: id.byteCount &- same))
        payload.append(id.extracting(same..<id.byteCount))
        lastID.removeAll(keepingCapacity: true)
        lastID.append(id)
    }

    @inline(__always)
    private mutating func append(_ step: borrowing HistoryStep, _ text: borrowing RawSpan, _ at: Int) {
        payload.append(
            byte: step.step.code | (step.detail != .none ? 0x20 : 0) | (step.detailBytes > 0 ? 0x40 : 0)
                | (step.session != nil ? 0x80 : 0))
        number(Self.zigzag(step.time &- lastTime))
        lastTime = step.time
        if step.detail != .none { payload.append(byte: step.detail.rawValue) }
        if step.detailBytes > 0 {
            let start = at &+ Int(step.idBytes)
            payload.append(byte: step.detailBytes)
            payload.append(text.extracting(start..<start &+ Int(step.detailBytes)))
        }
        if let session = step.session { append(session, of: step.owner) }
    }

    @inline(__always)
    private mutating func append(_ session: SessionID, of owner: UInt64) {
        guard !expected.use(session: session, of: owner) else {
            return payload.append(byte: SessionForm.expected)
        }
        if let byte = SessionForm.byte(session) {
            payload.append(byte: byte)
        } else {
            payload.append(byte: SessionForm.long)
            number(UInt64(session.node))
            number(UInt64(session.reactor))
        }
        number(UInt64(session.generation))
    }

    @inline(__always)
    private mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            payload.append(byte: UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        payload.append(byte: UInt8(truncatingIfNeeded: rest))
    }

    @inline(__always)
    private static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value &<< 1 ^ value >> 63) }
}
