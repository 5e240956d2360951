/// Where a page of the message history begins or ends: a place in the history of each node. Without a cluster there is one, that of node 0.
public struct HistoryCursor: Sendable, Equatable {
    /// The place in the history of each node; later steps have greater ones.
    public var places: [NodeNumber: UInt64]

    /// Creates a cursor.
    public init(_ places: [NodeNumber: UInt64]) { self.places = places }

    /// Reads what `text` returns. Returns `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= Limits.History.cursorNodes else { return nil }
        places = [:]
        for part in parts {
            let numbers = part.split(separator: "-", omittingEmptySubsequences: false)
            guard (1...2).contains(numbers.count),
                numbers.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
                let node = numbers.count == 1 ? 0 : UInt16(numbers[0]), node > 0 || parts.count == 1,
                let place = UInt64(numbers[numbers.count - 1]),
                places.updateValue(place, forKey: NodeNumber(node)) == nil
            else { return nil }
        }
        guard self.text == text else { return nil }
    }

    /// The cursor as text, such as `4711`, or in a cluster `1-4711.2-815`.
    public var text: String {
        places.sorted { $0.key < $1.key }
            .map { $0.key.number == 0 ? "\($0.value)" : "\($0.key.number)-\($0.value)" }
            .joined(separator: ".")
    }
}
