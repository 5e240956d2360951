import Basics
import Delivery

/// Reads the records of one block strictly. It never traps: what is no record throws.
struct BlockReader: ~Escapable {
    private let bytes: RawSpan
    private var at = 0
    private var devices = RecentValues()
    private var senders = RecentValues()
    private var salts = RecentValues()
    private var expected = ExpectedValues()
    private var lastSequence: UInt64 = 0
    private var lastTime: UnixMilliseconds = 0
    private var lastID: [UInt8] = []

    @_lifetime(copy bytes)
    init(_ bytes: RawSpan) { self.bytes = bytes }

    /// Reads all records.
    static func records(_ bytes: RawSpan) throws(HistoryDamage) -> [HistoryRecord] {
        var reader = BlockReader(bytes)
        var records: [HistoryRecord] = []
        while reader.at < bytes.byteCount { records.append(try reader.record()) }
        return records
    }

    @_lifetime(self: copy self)
    private mutating func record() throws(HistoryDamage) -> HistoryRecord {
        let (first, second) = (try byte(), try byte())
        guard let kind = HistoryStep.Kind(rawValue: first & 7),
            let device = NumberForm(rawValue: first >> 3 & 3),
            let sender = NumberForm(rawValue: first >> 5 & 3),
            let salt = NumberForm(rawValue: second >> 5 & 3),
            second & 0x0f > 0, device != .expected, sender != .expected
        else { throw .format }
        var record = HistoryRecord(kind)
        let distance = try number()
        if distance > 0 {
            record.sequence = lastSequence &+ UInt64(bitPattern: Self.unzigzag(distance &- 1))
            lastSequence = record.sequence
        }
        var place: Int
        (record.device, place) = try Self.value(
            device, try written(device, isWord: true), &devices, companion: 1)
        if first & 0x80 != 0 {
            record.registration = try number()
            guard device != .none, !devices.useCompanion(record.registration, at: place) else {
                throw .format
            }
        } else if device != .none {
            record.registration = devices.companion(at: place)
        }
        (record.sender, place) = try Self.value(sender, try written(sender), &senders)
        record.salt = try self.salt(salt, of: record.owner)
        record.id = try id(isPacked: second & 0x10 != 0, isEmpty: second & 0x80 == 0)
        if record.sequence != 0, at < bytes.byteCount,
            bytes.byte(at: at) & Self.codeBits == TraceRecord.Step.stored.code
        {
            lastTime = UnixMilliseconds(record.sequence / 1_000)
        }
        for _ in 0..<second & 0x0f { record.steps.append(try step(of: record.owner)) }
        return record
    }

    /// The bits of a step's first byte that are its number.
    private static var codeBits: UInt8 { 0x1f }

    @_lifetime(self: copy self)
    private mutating func salt(_ form: NumberForm, of owner: UInt64) throws(HistoryDamage) -> UInt32 {
        let number: UInt64
        if form == .expected {
            number = expected.salt(of: owner)
            guard number != 0 else { throw .format }
        } else {
            (number, _) = try Self.value(form, try written(form), &salts)
            guard form == .none || !expected.use(salt: number, of: owner) else { throw .format }
        }
        guard let salt = UInt32(exactly: number) else { throw .format }
        return salt
    }

    /// Reads the place of a number among the recent ones, or the number.
    @_lifetime(self: copy self)
    private mutating func written(_ form: NumberForm, isWord: Bool = false) throws(HistoryDamage) -> UInt64 {
        switch form {
        case .none, .expected: 0
        case .recent: UInt64(try byte())
        case .full: isWord ? try word() : try number()
        }
    }

    /// Returns the number of which the place or the value was written, and its place.
    private static func value(
        _ form: NumberForm, _ written: UInt64, _ recent: inout RecentValues, companion: UInt64 = 0
    ) throws(HistoryDamage) -> (UInt64, Int) {
        switch form {
        case .none, .expected: return (0, 0)
        case .recent:
            let place = Int(written)
            guard recent[place] != 0 else { throw .format }
            return (recent[place], place)
        case .full:
            let place = RecentValues.place(of: written)
            guard written != 0, !recent.use(written, at: place, companion: companion) else { throw .format }
            return (written, place)
        }
    }

    @_lifetime(self: copy self)
    private mutating func id(isPacked: Bool, isEmpty: Bool) throws(HistoryDamage) -> [UInt8] {
        guard !isEmpty else {
            guard !isPacked else { throw .format }
            return []
        }
        guard !isPacked else { return PackedID.text(try word(), try word()) }
        let (same, more) = (Int(try byte()), Int(try byte()))
        guard same <= lastID.count, more <= bytes.byteCount - at, same + more > 0,
            same + more <= Limits.History.textBytes
        else { throw .format }
        lastID = lastID.prefix(same) + [UInt8](copying: bytes.extracting(at..<at + more))
        at += more
        return lastID
    }

    @_lifetime(self: copy self)
    private mutating func step(of owner: UInt64) throws(HistoryDamage) -> HistoryRecord.Step {
        let first = try byte()
        let code = Int(first & Self.codeBits)
        guard code < TraceRecord.Step.byCode.count else { throw .format }
        lastTime &+= Self.unzigzag(try number())
        var step = HistoryRecord.Step(time: lastTime, step: TraceRecord.Step.byCode[code])
        if first & 0x20 != 0 {
            guard let usual = HistoryStep.UsualDetail(rawValue: try byte()), usual != .none else {
                throw .format
            }
            step.detail = usual.text
        }
        if first & 0x40 != 0 {
            let count = Int(try byte())
            guard step.detail.isEmpty, count > 0, count <= bytes.byteCount - at else { throw .format }
            step.detail = String(decoding: [UInt8](copying: bytes.extracting(at..<at + count)), as: UTF8.self)
            at += count
        }
        if first & 0x80 != 0 { step.session = try session(of: owner) }
        return step
    }

    @_lifetime(self: copy self)
    private mutating func session(of owner: UInt64) throws(HistoryDamage) -> SessionID {
        let form = try byte()
        if form == SessionForm.expected {
            guard let session = expected.session(of: owner) else { throw .format }
            return session
        }
        var place = SessionForm.place(form)
        if form == SessionForm.long {
            guard let node = UInt16(exactly: try number()), let reactor = UInt16(exactly: try number()) else {
                throw .format
            }
            place = (node, reactor)
        }
        guard let (node, reactor) = place, let generation = UInt32(exactly: try number()) else {
            throw .format
        }
        let session = SessionID(node: node, reactor: reactor, generation: generation)
        guard form != SessionForm.long || SessionForm.byte(session) == nil,
            !expected.use(session: session, of: owner)
        else { throw .format }
        return session
    }

    @_lifetime(self: copy self)
    private mutating func byte() throws(HistoryDamage) -> UInt8 {
        guard at < bytes.byteCount else { throw .format }
        defer { at += 1 }
        return bytes.byte(at: at)
    }

    @_lifetime(self: copy self)
    private mutating func word() throws(HistoryDamage) -> UInt64 {
        guard bytes.byteCount - at >= 8 else { throw .format }
        defer { at += 8 }
        return bytes.word(at: at)
    }

    @_lifetime(self: copy self)
    private mutating func number() throws(HistoryDamage) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let next = try byte()
            guard shift < 63 || next <= 1 else { throw .format }
            value |= UInt64(next & 0x7f) << shift
            if next < 0x80 { return value }
        }
        throw .format
    }

    private static func unzigzag(_ value: UInt64) -> Int64 {
        Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }
}
