/// The ID of a cluster, drawn at random when it is founded; never 0.
public struct ClusterID: Hashable, Sendable {
    /// The number.
    public let number: UInt64
    /// The ID of a number.
    public init(_ number: UInt64) { self.number = number }

    /// The 16 hexadecimal digits by which certificates and logs name the cluster.
    public var text: String {
        var buffer = ByteBuffer()
        Hex.append(number, to: &buffer)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }
}

/// The number of a node, unique in its cluster; never 0.
public struct NodeNumber: Hashable, Comparable, Sendable {
    /// The number.
    public let number: UInt16
    /// The node of a number.
    public init(_ number: UInt16) { self.number = number }
    public static func < (a: NodeNumber, b: NodeNumber) -> Bool { a.number < b.number }
}

/// A random number that a process draws at its start: two processes with the same node number differ in it.
public struct Incarnation: Hashable, Sendable {
    /// The number.
    public let number: UInt64
    /// The incarnation of a number.
    public init(_ number: UInt64) { self.number = number }
}
