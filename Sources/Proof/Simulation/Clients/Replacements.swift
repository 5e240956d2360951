import Basics
import Delivery

/// App servers that have messages take the place of some that they have sent, of replacements too, and others that try it with messages of
/// theirs.
///
/// Drawn from random numbers of its own, so that worlds without it stay the same.
struct Replacements {
    private var random: SeededRandom
    private let happens: Bool
    /// The longest time that the store searches for an ID, in nanoseconds; 0 for as long as anything else.
    private let searchNanoseconds: Int64
    private var next = 400_000

    init(_ seed: Simulation.Seed) {
        random = SeededRandom(seed: seed.number ^ 0x4ea1_ace5_4ea1_ace5)
        happens = !seed.isEarly && Int.random(in: 0..<6, using: &random) == 0
        searchNanoseconds = happens ? [0, 20_000_000, 400_000_000].randomElement(using: &random) ?? 0 : 0
    }

    /// Plans the replacement of some messages, soon or late. `others` are further senders of the app.
    mutating func plan(
        _ draft: DownstreamDraft, of client: AppServerClient, others: [AppServerClient], _ world: World
    ) {
        guard happens, case .registration = draft.target, !draft.isDryRun,
            Int.random(in: 0..<2, using: &random) == 0
        else { return }
        let latest: Int64 = [20_000_000, 1_000_000_000, 15_000_000_000].randomElement(using: &random) ?? 1
        let stranger =
            Int.random(in: 0..<4, using: &random) == 0
            ? others.filter { $0 !== client }.randomElement(using: &random) : nil
        let isByName = Int.random(in: 0..<3, using: &random) == 0
        let sender = stranger ?? client
        var new = draft
        new.number = next
        next += 1
        new.lifetimeSeconds = max(10, draft.lifetimeSeconds)
        new.isDryRun = Int.random(in: 0..<20, using: &random) == 0
        if Int.random(in: 0..<2, using: &random) == 0 { new.sendAt = nil }
        let stranded = stranger != nil
        world.after(Int64.random(in: 1...latest, using: &random)) {
            guard !world.isCalm else { return }
            var new = new
            new.replaces = Self.replaced(draft, isByName: isByName, isOfOther: stranded, world)
            sender.send(new)
            guard !stranded else { return }
            world.replacements.plan(new, of: client, others: others, world)
        }
    }

    /// The ID of a message: its own, or the persistent ID of one that is on disk.
    private static func replaced(
        _ draft: DownstreamDraft, isByName: Bool, isOfOther: Bool, _ world: World
    ) -> DownstreamDraft.Replaced {
        let stored = world.checkers.cancellable.filter { $0.messageID == draft.messageID }
            .min { $0.sequence < $1.sequence }
        guard isByName, let stored else { return .init(id: draft.messageID, isOfOther: isOfOther) }
        return .init(id: Array(stored.persistentID.text.utf8), isOfOther: isOfOther)
    }

    /// How long the store takes to find the messages with an ID. Returns `nil` if that is as long as anything else.
    mutating func searchTime(_ query: StoreQuery) -> Int64? {
        guard searchNanoseconds > 0, case .named = query else { return nil }
        return Int64.random(in: 1_000...searchNanoseconds, using: &random)
    }
}
