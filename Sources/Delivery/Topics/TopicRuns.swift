import Basics

/// A job that is under way in the partition of its sender.
struct TopicRun {
    var job: TopicJob
    /// What is gone through.
    let passes: [TopicTarget.Pass]
    /// Those of the page under way.
    var names: [RegistrationName] = []
    /// After which the next page begins.
    var next: RegistrationName?
    /// Whether the store has been asked for a page.
    var isAsking = false
    /// Of those, how many have not answered.
    var pending = 0
    /// How many have been sent the message.
    var reached: UInt64 = 0
    /// Whether the store could not serve one of them.
    var isRefused = false
    /// Those behind which it has not moved on disk: they may have marks.
    var marked: Set<RegistrationName> = []

    init(_ job: TopicJob) {
        self.job = job
        passes = job.target.passes
    }
}

/// The jobs of one partition.
struct TopicRuns {
    private var runs: [UInt32: TopicRun] = [:]
    private var numbers: [TopicJobName: UInt32] = [:]
    private var counts: [SenderID: Int] = [:]
    private var lastNumber: UInt32 = 0
    /// Runs that want their next page, the longest waiting first.
    private var ready: [UInt32] = []
    private var readyHead = 0
    /// Runs whose page is to be asked for again.
    private var refused: [UInt32] = []
    /// When those are.
    private var retryAt = Instant.distantPast
    /// Pages that are under way.
    private(set) var pagesInFlight = 0
    /// Changes of batches that failed, to be made at the next tick.
    var failed: [Mutation] = []

    /// What is wrong with the state; `nil` if nothing is.
    var violation: String? {
        if numbers.count != runs.count { return "wrong count of names of jobs" }
        if counts.values.reduce(0, +) != runs.count { return "wrong counts of jobs by sender" }
        return runs.values.contains { $0.pending < 0 || $0.pending > $0.names.count }
            ? "wrong count of pending answers" : nil
    }

    /// How many are under way.
    var count: Int { runs.count }

    /// How many of one sender are.
    func count(of sender: SenderID) -> Int { counts[sender] ?? 0 }

    /// The first ones of so many in the order of their names, with how far they have come just now.
    func list(limit: Int) -> [TopicJob] {
        runs.values.sorted { $0.job.name < $1.job.name }.prefix(limit).map { run in
            var job = run.job
            job.cursor.reached += run.reached
            return job
        }
    }

    subscript(number: UInt32) -> TopicRun? {
        get { runs[number] }
        set { runs[number] = newValue }
    }

    /// The run of a job.
    func number(of job: TopicJobName) -> UInt32? { numbers[job] }

    /// Takes in a job, which is to begin when a page is free. Returns `false` if it is under way already.
    mutating func insert(_ job: TopicJob) -> Bool {
        guard numbers[job.name] == nil else { return false }
        repeat { lastNumber &+= 1 } while runs[lastNumber] != nil
        runs[lastNumber] = TopicRun(job)
        numbers[job.name] = lastNumber
        counts[job.name.sender, default: 0] += 1
        ready.append(lastNumber)
        return true
    }

    /// Forgets a run. Returns whether it was counted for its sender.
    mutating func remove(_ number: UInt32) -> Bool {
        guard let run = runs.removeValue(forKey: number) else { return false }
        numbers[run.job.name] = nil
        let sender = run.job.name.sender
        guard let count = counts[sender] else { return false }
        counts[sender] = count > 1 ? count - 1 : nil
        return count > 0
    }

    /// The next run that may ask for a page now, of up to `pages` under way; it counts as under way from then on.
    mutating func takeReady(pages: Int) -> UInt32? {
        while readyHead < ready.count, pagesInFlight < pages {
            let number = ready[readyHead]
            readyHead += 1
            if readyHead == ready.count || readyHead >= 256 {
                ready.removeFirst(readyHead)
                readyHead = 0
            }
            guard runs[number] != nil else { continue }
            pagesInFlight += 1
            return number
        }
        return nil
    }

    /// A page is done, or has failed: the run goes to the end of those that wait, where it wants another. Returns whether one was
    /// under way.
    mutating func pageEnded(_ number: UInt32, wantsMore: Bool, retryAfter time: Instant? = nil) -> Bool {
        pagesInFlight -= 1
        if let time {
            if refused.isEmpty { retryAt = time }
            refused.append(number)
        } else if wantsMore {
            ready.append(number)
        }
        return pagesInFlight >= 0
    }

    /// Time has passed: those that the store could not serve are tried again.
    mutating func wake(_ now: Instant) {
        guard !refused.isEmpty, now >= retryAt else { return }
        ready += refused
        refused = []
    }
}

/// The search for jobs of this partition that a stop has interrupted.
struct TopicResumption {
    /// The last one found.
    var after: TopicJobName?
    /// Whether the store has been asked.
    var isAsking = false
    /// Whether all have been found.
    var isDone = false
}
