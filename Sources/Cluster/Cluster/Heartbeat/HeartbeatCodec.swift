import Basics
import ClusterLog

/// The bytes of a heartbeat.
///
/// | bytes | content |
/// |---|---|
/// | 4 | "CCSH" |
/// | 1 | version |
/// | 8, 8, 8 | cluster, incarnation, wall clock; little-endian |
/// | | node and count, as numbers of seven bits a byte |
/// | 1, 1, 1 | lowest and highest frame version; 1 if the node drains, otherwise 0 |
/// | | name, software, link address: two bytes of length, UTF-8 |
/// | | number of partitions, and for each: role, the successor if it is released, epoch, applied, applied less durable |
/// | | number of echoes, and for each: node, incarnation (8 bytes), count |
/// | | if nodes were removed or admitted again: their number, and for each: node, changes |
extension Heartbeat {
    /// The version that this build reads and writes.
    public static let version: UInt8 = 2
    static let highestPosition: UInt64 = 1 << 62
    private static let magic: StaticString = "CCSH"

    /// Returns the bytes of the heartbeat, which are at most `Limits.Cluster.heartbeatBytes`.
    public func encoded() -> [UInt8] {
        var buffer = ByteBuffer()
        buffer.append(Self.magic)
        buffer.append(byte: Self.version)
        buffer.append(word: cluster.number)
        buffer.append(word: incarnation.number)
        buffer.append(word: UInt64(bitPattern: wall))
        buffer.append(number: UInt64(node.number))
        buffer.append(number: count)
        buffer.append(byte: frameVersions.lowerBound)
        buffer.append(byte: frameVersions.upperBound)
        buffer.append(byte: isDraining ? 1 : 0)
        for text in [name, software, linkAddress] {
            buffer.append(byte: UInt8(truncatingIfNeeded: text.utf8.count))
            buffer.append(byte: UInt8(truncatingIfNeeded: text.utf8.count >> 8))
            buffer.append(text: text)
        }
        buffer.append(number: UInt64(partitions.count))
        for partition in partitions { partition.append(to: &buffer) }
        buffer.append(number: UInt64(echoes.count))
        for echo in echoes {
            buffer.append(number: UInt64(echo.node.number))
            buffer.append(word: echo.incarnation.number)
            buffer.append(number: echo.count)
        }
        if !rosterChanges.isEmpty {
            buffer.append(number: UInt64(rosterChanges.count))
            for change in rosterChanges {
                buffer.append(number: UInt64(change.node.number))
                buffer.append(number: change.count)
            }
        }
        return buffer.copied()
    }

    /// Reads a heartbeat.
    public init(decoding bytes: RawSpan) throws(HeartbeatFault) {
        guard bytes.byteCount <= Limits.Cluster.heartbeatBytes else {
            throw .tooLong(bytes: bytes.byteCount)
        }
        let start = Self.magic.utf8CodeUnitCount
        guard bytes.byteCount > start, bytes.extracting(0..<start).equals(Self.magic) else { throw .foreign }
        guard bytes.byte(at: start) == Self.version else {
            if bytes.byte(at: start) > Self.version { throw .newer(version: bytes.byte(at: start)) }
            throw .foreign
        }
        var reader = HeartbeatReader(bytes, from: start + 1)
        cluster = ClusterID(try reader.word())
        guard cluster.number != 0 else { throw .invalid(.cluster) }
        incarnation = Incarnation(try reader.word())
        wall = Int64(bitPattern: try reader.word())
        node = try reader.node()
        count = try reader.number()
        guard count > 0 else { throw .invalid(.count) }
        let (lowest, highest) = (try reader.byte(), try reader.byte())
        guard lowest > 0, lowest <= highest else { throw .invalid(.frameVersions) }
        frameVersions = lowest...highest
        let draining = try reader.byte()
        guard draining <= 1 else { throw .invalid(.draining) }
        isDraining = draining == 1
        name = try reader.text(upTo: Limits.Cluster.nameBytes, .name)
        software = try reader.text(upTo: Limits.Cluster.nameBytes, .software)
        linkAddress = try reader.text(upTo: Limits.Cluster.addressBytes, .linkAddress)
        guard Self.isAddress(linkAddress) else { throw .invalid(.linkAddress) }
        let count = try reader.number()
        guard (1...UInt64(Limits.Cluster.partitions)).contains(count) else { throw .invalid(.partitions) }
        partitions = []
        partitions.reserveCapacity(Int(count))
        for _ in 0..<count { partitions.append(try PartitionReport(&reader, of: node)) }
        echoes = try reader.echoes()
        rosterChanges = try reader.rosterChanges()
        try reader.finish()
    }

    /// Whether a text is a host and a port: `host:port` or `[address]:port`.
    static func isAddress(_ text: String) -> Bool {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return false }
        let (host, port) = (text.utf8[..<colon], text.utf8[text.utf8.index(after: colon)...])
        let isHost = host.allSatisfy { (0x21...0x7e).contains($0) } && !host.isEmpty
        let isBracketed = host.first == UInt8(ascii: "[") && host.last == UInt8(ascii: "]")
        // Colons and brackets occur in the brackets of an IPv6 address only.
        let isOne = isBracketed || !host.contains { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "[") }
        let digits = port.allSatisfy { (0x30...0x39).contains($0) } && port.first != 0x30
        return isHost && isOne && digits && UInt16(String(Substring(port))) != nil
    }
}

extension PartitionReport {
    fileprivate func append(to buffer: inout ByteBuffer) {
        switch role {
        case .absent: buffer.append(byte: 0)
        case .following: buffer.append(byte: 1)
        case .claiming: buffer.append(byte: 2)
        case .owning: buffer.append(byte: isLeased ? 6 : 3)
        case .releasing(let successor):
            buffer.append(byte: 4)
            buffer.append(number: UInt64(successor.number))
        case .halted: buffer.append(byte: 5)
        }
        buffer.append(number: epoch.number)
        buffer.append(number: applied.number)
        buffer.append(number: applied.number - durable.number)
    }

    fileprivate init(_ reader: inout HeartbeatReader, of node: NodeNumber) throws(HeartbeatFault) {
        let role = try reader.byte()
        isLeased = role == 6
        switch role {
        case 0: self.role = .absent
        case 1: self.role = .following
        case 2: self.role = .claiming
        case 3, 6: self.role = .owning
        case 4: self.role = .releasing(to: try reader.node())
        case 5: self.role = .halted
        default: throw .invalid(.role)
        }
        if self.role == .releasing(to: node) { throw .invalid(.role) }
        epoch = Epoch(try reader.number())
        guard epoch <= Epoch.highest, epoch.number > 0 || !self.role.isOwner else { throw .invalid(.epoch) }
        applied = try reader.position()
        let behind = try reader.position()
        guard behind <= applied else { throw .invalid(.position) }
        durable = LogPosition(applied.number - behind.number)
    }
}

extension ByteBuffer {
    /// Appends a number of seven bits a byte, lowest first.
    fileprivate mutating func append(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(byte: UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(byte: UInt8(truncatingIfNeeded: rest))
    }
}
