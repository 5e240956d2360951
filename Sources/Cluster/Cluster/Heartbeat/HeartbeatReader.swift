import Basics
import ClusterLog

/// Reads the bytes of a heartbeat strictly: every byte must be as `Heartbeat.encoded` would have written it.
struct HeartbeatReader: ~Escapable {
    private let bytes: RawSpan
    private var at: Int

    @_lifetime(copy bytes)
    init(_ bytes: RawSpan, from start: Int) {
        self.bytes = bytes
        at = start
    }

    @_lifetime(self: copy self)
    mutating func byte() throws(HeartbeatFault) -> UInt8 {
        guard at < bytes.byteCount else { throw .cut }
        defer { at += 1 }
        return bytes.byte(at: at)
    }

    @_lifetime(self: copy self)
    mutating func word() throws(HeartbeatFault) -> UInt64 {
        guard bytes.byteCount - at >= 8 else { throw .cut }
        defer { at += 8 }
        return bytes.word(at: at)
    }

    /// Reads a number of seven bits a byte, lowest first, in its shortest form.
    @_lifetime(self: copy self)
    mutating func number() throws(HeartbeatFault) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 63 || next <= 1 else { throw .invalid(.number) }
            value |= UInt64(next & 0x7f) << shift
            if next < 0x80 {
                guard next != 0 || shift == 0 else { throw .invalid(.number) }
                return value
            }
            shift += 7
        }
    }

    /// Reads the number of a node.
    @_lifetime(self: copy self)
    mutating func node() throws(HeartbeatFault) -> NodeNumber {
        guard let number = UInt16(exactly: try number()), number > 0 else { throw .invalid(.node) }
        return NodeNumber(number)
    }

    /// Reads text that harms no terminal.
    @_lifetime(self: copy self)
    mutating func text(upTo most: Int, _ field: HeartbeatFault.Field) throws(HeartbeatFault) -> String {
        let length = Int(try byte()) | Int(try byte()) << 8
        guard (1...most).contains(length) else { throw .invalid(field) }
        guard length <= bytes.byteCount - at else { throw .cut }
        defer { at += length }
        let utf8 = [UInt8](copying: bytes.extracting(at..<at + length))
        guard let text = String(validating: utf8, as: UTF8.self),
            !text.unicodeScalars.contains(where: Printable.isHarmful)
        else { throw .invalid(field) }
        return text
    }

    /// Reads a position of a log.
    @_lifetime(self: copy self)
    mutating func position() throws(HeartbeatFault) -> LogPosition {
        let number = try number()
        guard number <= Heartbeat.highestPosition else { throw .invalid(.position) }
        return LogPosition(number)
    }

    /// Reads the heartbeats that the sender has had from others.
    @_lifetime(self: copy self)
    mutating func echoes() throws(HeartbeatFault) -> [HeartbeatEcho] {
        let count = try number()
        guard count < UInt64(Limits.Cluster.nodes) else { throw .invalid(.echoes) }
        var echoes: [HeartbeatEcho] = []
        for _ in 0..<count {
            let echo = HeartbeatEcho(
                node: try node(), incarnation: Incarnation(try word()), count: try number())
            guard echo.count > 0, echo.node > echoes.last?.node ?? NodeNumber(0) else {
                throw .invalid(.echoes)
            }
            echoes.append(echo)
        }
        return echoes
    }

    /// Reads the nodes that were removed or admitted again, if there are any.
    @_lifetime(self: copy self)
    mutating func rosterChanges() throws(HeartbeatFault) -> [RosterChange] {
        guard at < bytes.byteCount else { return [] }
        let count = try number()
        guard (1...UInt64(Limits.Cluster.rosterNodes)).contains(count) else { throw .invalid(.rosterChanges) }
        var changes: [RosterChange] = []
        for _ in 0..<count {
            let change = RosterChange(node: try node(), count: try number())
            guard (1...Roster.mostChanges).contains(change.count),
                change.node > changes.last?.node ?? NodeNumber(0)
            else { throw .invalid(.rosterChanges) }
            changes.append(change)
        }
        return changes
    }

    /// Throws unless all was read.
    func finish() throws(HeartbeatFault) {
        guard at == bytes.byteCount else { throw .trailing(bytes: bytes.byteCount - at) }
    }
}
