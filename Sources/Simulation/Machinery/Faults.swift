import Basics

/// How often what goes wrong; a share of the worlds has none of each kind.
struct Faults {
    /// Mean seconds between deaths of the server process; 0: never.
    var secondsBetweenCrashes = 0
    /// Mean seconds between losses of connections; 0: never.
    var secondsBetweenCuts = 0
    /// Commits in a hundred that fail.
    var failedCommits = 0
    /// Loads in a hundred that fail.
    var failedLoads = 0
    /// Longest commit, milliseconds.
    var commitMilliseconds: Int64 = 5
    /// Longest way between client and server, milliseconds.
    var networkMilliseconds: Int64 = 50
    /// Longest way between two reactors, microseconds.
    var crossingMicroseconds: Int64 = 500
    /// Batches in a thousand that the store's queue refuses.
    var refusedBatches = 0
    /// Whether the wall clock jumps.
    var setsClock = false
    /// Messages in a hundred that devices never acknowledge on the connection they came by.
    var lazyDevices = 0
    /// Messages in a hundred that app servers never acknowledge.
    var lazyAppServers = 0
    /// Mean seconds between planned ends of app servers' connections; 0: never.
    var secondsBetweenDrains = 0
    /// Whether the network goes now and then, and all come back at once.
    var stormsLogins = false
    /// Whether connections are congested now and then.
    var congests = false

    /// Whether every commit works as long as the process lives.
    private(set) var hasCommitsAll = true

    /// No fault at all.
    init() {}

    /// Drawn for one world.
    init(random: inout SeededRandom) {
        func often(_ values: [Int]) -> Int { values[Int.random(in: 0..<values.count, using: &random)] }
        secondsBetweenCrashes = often([0, 0, 5, 20, 60])
        secondsBetweenCuts = often([0, 1, 5, 20])
        failedCommits = often([0, 0, 2, 20])
        failedLoads = often([0, 0, 2, 20])
        commitMilliseconds = Int64(often([1, 5, 50, 2_000]))
        networkMilliseconds = Int64(often([1, 50, 500]))
        crossingMicroseconds = Int64(often([1, 500, 20_000]))
        refusedBatches = often([0, 0, 0, 20])
        hasCommitsAll = failedCommits == 0 && refusedBatches == 0
        setsClock = often([0, 0, 1]) == 1
        lazyDevices = often([0, 5, 50, 100])
        lazyAppServers = often([0, 5, 50])
        secondsBetweenDrains = often([0, 5, 20])
        congests = often([0, 1]) == 1
        stormsLogins = often([0, 0, 1]) == 1
    }

    /// No fault any more; what earlier ones have left stays.
    var calmed: Faults {
        var faults = Faults()
        faults.hasCommitsAll = hasCommitsAll
        return faults
    }
}
