import Synchronization

/// Counts by name what inputs have reached: events, close reasons, errors and readings. Disabled outside of `counting`.
public enum FuzzReach {
    private final class Counts: Sendable {
        let names = Mutex<[String: Int]>([:])
    }

    /// The counts of the current task, since tests run in parallel.
    @TaskLocal private static var counts: Counts?

    /// Runs a closure and returns the counts of what it has reached.
    public static func counting(_ body: () throws -> Void) throws -> [String: Int] {
        let counts = Counts()
        try $counts.withValue(counts) { try body() }
        return counts.names.withLock { $0 }
    }

    static func record(_ name: @autoclosure () -> String) {
        guard let counts else { return }
        let name = name()
        counts.names.withLock { $0[name, default: 0] += 1 }
    }

    /// Records whether a reader accepted an input; `nil` means refused. Returns the value.
    static func read<Value>(_ name: StaticString, _ value: Value?) -> Value? {
        record("\(name) \(value == nil ? "refused" : "taken")")
        return value
    }
}

extension String {
    /// The name of a case, without what it carries.
    var caseName: String { String(prefix { $0 != "(" }) }
}
