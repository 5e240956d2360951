/// Runs simulated worlds.
public enum Simulation {
    /// Identifies a world, in the form of a line of `Fixtures/seeds.txt`: `17`.
    public struct Seed: Sendable, Hashable, CustomStringConvertible {
        /// The kind of world.
        public let kind: WorldSettings.Kind
        /// The seed of its random numbers.
        public let number: UInt64
        /// Whether the seed dates from the time when each number made a world of either kind: `sessions 17`. It still makes the
        /// same world.
        public let isEarly: Bool

        /// Creates a seed. The kinds alternate, so that a range of numbers has equally many worlds of each.
        public init(_ number: UInt64) {
            let kinds = WorldSettings.Kind.allCases
            self.init(kind: kinds[Int(number % UInt64(kinds.count))], number: number, isEarly: false)
        }

        private init(kind: WorldSettings.Kind, number: UInt64, isEarly: Bool) {
            self.kind = kind
            self.number = number
            self.isEarly = isEarly
        }

        /// Reads a line. Returns `nil` if it is empty or invalid; ignores what follows `#`.
        public init?(line: some StringProtocol) {
            let words = line.prefix { $0 != "#" }.split(separator: " ")
            guard let last = words.last, let number = UInt64(last), words.count <= 2 else { return nil }
            guard words.count == 2 else {
                self.init(number)
                return
            }
            guard let kind = WorldSettings.Kind(rawValue: String(words[0])) else { return nil }
            self.init(kind: kind, number: number, isEarly: true)
        }

        /// The line of the seed.
        public var description: String { isEarly ? "\(kind.rawValue) \(number)" : "\(number)" }
    }

    /// A world in which a check failed.
    public struct Failure: Sendable, CustomStringConvertible {
        /// The seed that repeats it.
        public var seed: Seed
        /// The failed checks.
        public var violations: [String]
        /// The events before, oldest first.
        public var trace: [String]

        /// The seed, the failed checks and the end of the trace.
        public var description: String {
            let end = trace.filter { !$0.hasSuffix(".tick)") && !$0.hasSuffix("expired 0") }.suffix(40)
            return "seed '\(seed)': \(violations.joined(separator: "; "))\n" + end.joined(separator: "\n")
        }
    }

    /// Runs the world of a seed. Returns `nil` if no check failed.
    public static func run(_ seed: Seed, canary: WorldSettings.Canary? = nil) -> Failure? {
        var tally = RuleTally()
        return run(seed, canary: canary, counting: &tally)
    }

    /// Runs the world of a seed and adds to `tally` how often it reached each rule. Returns `nil` if no check failed.
    public static func run(
        _ seed: Seed, canary: WorldSettings.Canary? = nil, counting tally: inout RuleTally
    ) -> Failure? {
        func world(isTraced: Bool) -> World {
            World(seed, canary: canary, isTraced: isTraced)
        }
        let first = world(isTraced: false)
        let violations = first.run()
        tally.add(first.tally)
        guard !violations.isEmpty else { return nil }
        // The world is run again with a trace, which costs too much for every world.
        let second = world(isTraced: true)
        let again = second.run()
        let isSame = again == violations
        return Failure(
            seed: seed, violations: isSame ? violations : violations + ["not the same again: \(again)"],
            trace: second.trace)
    }

    /// Runs the worlds of several seeds. Returns the failures.
    public static func run(seeds: some Swift.Sequence<Seed>) -> [Failure] { seeds.compactMap { run($0) } }
}
