import Basics

/// The frequency of faults; some worlds have none of a kind.
struct Faults {
    /// Mean seconds between crashes of the server process; 0: never.
    var secondsBetweenCrashes = 0
    /// Mean seconds between losses of a connection; 0: never.
    var secondsBetweenCuts = 0
    /// Percentage of commits that fail.
    var failedCommits = 0
    /// Percentage of store queries that fail.
    var failedLoads = 0
    /// Maximum duration of a commit, in milliseconds.
    var commitMilliseconds: Int64 = 5
    /// Maximum delay between client and server, in milliseconds.
    var networkMilliseconds: Int64 = 50
    /// Maximum delay between two reactors, in microseconds.
    var crossingMicroseconds: Int64 = 500
    /// Batches per thousand that the store's queue refuses.
    var refusedBatches = 0
    /// Whether the wall clock jumps.
    var setsClock = false
    /// Percentage of messages that devices never acknowledge on the connection they arrived on.
    var lazyDevices = 0
    /// Percentage of messages that app servers never acknowledge.
    var lazyAppServers = 0
    /// Mean seconds between drains of app servers' connections; 0: never.
    var secondsBetweenDrains = 0
    /// Whether the network fails at times, after which all clients reconnect at once.
    var stormsLogins = false
    /// Whether connections are congested at times.
    var congests = false

    /// Percentage of topic messages, and of their answers, that are lost between two partitions, as between nodes.
    var lostCopies = 0

    /// Whether every commit succeeds as long as the process lives.
    private(set) var hasCommitsAll = true

    /// Creates a world without faults.
    init() {}

    /// Draws the faults of one world.
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

    /// No faults from now on; effects of earlier ones remain.
    var calmed: Faults {
        var faults = Faults()
        faults.hasCommitsAll = hasCommitsAll
        return faults
    }
}
