import Basics
import Testing
import Wire

/// Logins that are longer than a frame may be.
@Suite struct MCSLoginFilterTests {
    private static func id(_ number: Int) -> [UInt8] {
        Array(PersistentID(sequence: SequenceNumber(UInt64(number)), salt: 0x1234_5678).text.utf8)
    }

    private static func login(ids: Int) -> MCS.LoginRequest {
        var login = MCSSamples.login
        login.receivedIDs = (0..<ids).map { id(1_430_277_821_000_000 + $0) }
        return login
    }

    /// Reads a stream in pieces, filtering a message over `limit`. Returns the messages and the maximum number of bytes buffered.
    private func read(
        _ stream: [UInt8], pieces: Int, limit: Int = Limits.MCS.frameBytes
    ) throws -> (messages: [MCS.Message], held: Int) {
        var reader = MCS.FrameReader(limit: limit, loginLimit: Limits.MCS.loginFrameBytes)
        var messages: [MCS.Message] = []
        var held = 0
        var start = 0
        while start < stream.count {
            let end = min(stream.count, start + pieces)
            try reader.read(stream.raw.extracting(start..<end)) { (tag, message) throws(MCSError) in
                if let message = try MCS.Message(tag: tag, decoding: message) { messages.append(message) }
                return true
            }
            held = max(held, reader.heldBytes)
            start = end
        }
        return (messages, held)
    }

    @Test(
        "of a hundred thousand received IDs at least the newest thousand are retained, for any split",
        arguments: [1, 7, 1_400, 65_536, .max])
    func newest(pieces: Int) throws {
        let count = pieces < 100 ? 5_000 : 100_000
        let login = Self.login(ids: count)
        let stream =
            [MCS.version] + mcsWritten(.loginRequest(login)) + mcsWritten(.heartbeatPing(MCS.Heartbeat()))
        #expect(stream.count < Limits.MCS.loginFrameBytes)
        let (messages, held) = try read(stream, pieces: min(pieces, stream.count))
        guard case .loginRequest(let read) = messages.first, messages.count == 2 else {
            Issue.record("\(messages.count) messages")
            return
        }
        #expect(read.receivedIDs.count >= Limits.Mailbox.unacknowledgedPerDevice)
        #expect(read.receivedIDs == login.receivedIDs.suffix(read.receivedIDs.count))
        var rest = read
        rest.receivedIDs = login.receivedIDs
        #expect(rest == login)
        #expect(messages.last == .heartbeatPing(MCS.Heartbeat()))
        #expect(held <= Limits.MCS.otherLoginBytes + 2 * Limits.MCS.loginIDBytes + Limits.MCS.frameBytes)
    }

    @Test("a filtered login equals an unfiltered one", arguments: 0..<40 as Range<UInt64>)
    func same(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var login = Self.login(ids: Int.random(in: 0...200, using: &random))
        login.id = [UInt8](repeating: 0x61, count: Int.random(in: 0...300, using: &random))
        if Bool.random(using: &random) { login.receivedIDs.append([]) }
        if Bool.random(using: &random) { login.heartbeatStat = nil }
        // Clients choose the order of fields: IDs may be before, between and after the others.
        let stream = [MCS.version] + Self.shuffled(mcsWritten(.loginRequest(login)), &random)
        let whole = try read(stream, pieces: stream.count).messages
        let pieces = Int.random(in: 1...80, using: &random)
        #expect(whole.count == 1)
        #expect(try read(stream, pieces: pieces, limit: 20).messages == whole)
    }

    /// Returns the frame with the fields of its message shuffled; fields of one number keep their order.
    private static func shuffled(_ frame: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        guard let content = try? mcsFrames(of: [MCS.version] + frame).first?.message else { return frame }
        var ids: [UInt8] = []
        var others: [UInt8] = []
        var fields = ProtobufReader(content.raw)
        var start = 0
        while let field = try? fields.next() {
            try? fields.skip(field)
            let end = start + fieldSize(content, at: start)
            if field.number == 10 { ids += content[start..<end] } else { others += content[start..<end] }
            start = end
        }
        let message = Bool.random(using: &random) ? ids + others : others + ids
        var buffer = ByteBuffer()
        buffer.append(byte: MCS.Tag.loginRequest.rawValue)
        Varint.append(UInt64(message.count), to: &buffer)
        buffer.append(message)
        return buffer.copied()
    }

    private static func fieldSize(_ content: [UInt8], at start: Int) -> Int {
        var at = start
        let key = (try? Varint.read(content.raw, at: &at)) ?? 0
        let number = (try? Varint.read(content.raw, at: &at)) ?? 0
        return at - start + (key & 7 == 2 ? Int(number) : 0)
    }

    @Test("an announced size allocates no memory")
    func announced() throws {
        var stream: [UInt8] = [MCS.version, MCS.Tag.loginRequest.rawValue]
        var size = ByteBuffer()
        Varint.append(UInt64(Limits.MCS.loginFrameBytes), to: &size)
        stream += size.copied()
        #expect(try read(stream, pieces: stream.count).held <= 8)
        #expect(try read(stream, pieces: 1).held <= 8)
    }

    @Test("only a login may be long, and only when one is expected")
    func othersMayNot() {
        for (tag, limit) in [(8, Limits.MCS.loginFrameBytes), (0, Limits.MCS.loginFrameBytes), (2, 0)]
            as [(UInt8, Int)]
        {
            var size = ByteBuffer()
            Varint.append(UInt64(Limits.MCS.frameBytes + 1), to: &size)
            let stream = [MCS.version, tag] + size.copied()
            #expect(throws: MCSError.tooLarge(Limits.MCS.frameBytes + 1)) {
                var reader = MCS.FrameReader(loginLimit: limit)
                try reader.read(stream.raw) { _, _ in true }
            }
        }
    }

    @Test("canary: the oldest IDs of a list that is too long are dropped")
    func canary() throws {
        let login = Self.login(ids: 10_000)
        let stream = [MCS.version] + mcsWritten(.loginRequest(login))
        guard case .loginRequest(let read) = try read(stream, pieces: 1_000).messages.first else {
            Issue.record("no login")
            return
        }
        #expect(read.receivedIDs.first != login.receivedIDs.first)
        #expect(read.receivedIDs.last == login.receivedIDs.last)
    }

    @Test(
        "a field with a length beyond the login is refused at once",
        arguments: [1, UInt64(Int.max), UInt64(Int.max) + 1, .max])
    func longField(excess: UInt64) {
        let size = 100_000
        var length = UInt64(size)
        var login: [UInt8] = [MCS.version, 2]
        while length >= 0x80 { (login, length) = (login + [UInt8(length & 127) | 0x80], length >> 7) }
        login.append(UInt8(length))
        // A received ID, which is dropped if it is too long: only its length can be wrong.
        login.append(0x52)
        var said = excess == 1 ? UInt64(size) : excess
        while said >= 0x80 { (login, said) = (login + [UInt8(said & 127) | 0x80], said >> 7) }
        login.append(UInt8(said))
        #expect(throws: MCSError.truncated) { try read(login, pieces: login.count) }
    }
}
