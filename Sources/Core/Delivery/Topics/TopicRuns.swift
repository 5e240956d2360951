import Basics

/// A job in progress, in the partition of its sender.
struct TopicRun {
    var job: TopicJob
    /// The passes through the possible recipients.
    let passes: [TopicTarget.Pass]
    /// Recipients of the current page.
    var names: [RegistrationName] = []
    /// The cursor after the current page.
    var next: RegistrationName?
    /// Whether a page query is unanswered.
    var isAsking = false
    /// Number of recipients of the page that have not answered.
    var pending = 0
    /// Number of recipients of the page that were sent the message.
    var reached: UInt64 = 0
    /// Whether the store was unavailable for one of them.
    var isRefused = false
    /// Recipients that may still have marks, because the stored cursor has not passed them.
    var marked: Set<RegistrationName> = []

    init(_ job: TopicJob) {
        self.job = job
        passes = job.target.passes
    }
}

/// The jobs in progress of one partition.
struct TopicRuns {
    private var runs: [UInt32: TopicRun] = [:]
    private var numbers: [TopicJobName: UInt32] = [:]
    private var counts: [SenderID: Int] = [:]
    private var lastNumber: UInt32
    /// Runs that are ready for their next page, the longest waiting first.
    private var ready: [UInt32] = []
    private var readyHead = 0
    /// Runs whose page is to be requested again.
    private var refused: [UInt32] = []
    /// When those pages are requested.
    private var retryAt = Instant.distantPast
    /// Number of pages in progress.
    private(set) var pagesInFlight = 0
    /// Job changes of failed batches, to be written at the next tick.
    var failed: [Mutation] = []

    /// The numbers start anywhere, so that no answer to another process counts.
    init(after number: UInt32) { lastNumber = number }

    /// What is wrong with the state; `nil` if nothing is wrong.
    var violation: String? {
        if numbers.count != runs.count { return "wrong count of names of jobs" }
        if counts.values.reduce(0, +) != runs.count { return "wrong counts of jobs by sender" }
        return runs.values.contains { $0.pending < 0 || $0.pending > $0.names.count }
            ? "wrong count of pending answers" : nil
    }

    /// Number of jobs in progress.
    var count: Int { runs.count }

    /// Returns the number of a sender's jobs in progress.
    func count(of sender: SenderID) -> Int { counts[sender] ?? 0 }

    /// Returns the first jobs in the order of their names, with their current progress.
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

    /// Returns the number of a job's run; `nil` if it is not in progress.
    func number(of job: TopicJobName) -> UInt32? { numbers[job] }

    /// Adds a job, which starts when a page is free. Returns `false` if it is already in progress.
    mutating func insert(_ job: TopicJob) -> Bool {
        guard numbers[job.name] == nil else { return false }
        let number = nextNumber()
        runs[number] = TopicRun(job)
        numbers[job.name] = number
        counts[job.name.sender, default: 0] += 1
        ready.append(number)
        return true
    }

    private mutating func nextNumber() -> UInt32 {
        repeat { lastNumber &+= 1 } while runs[lastNumber] != nil
        return lastNumber
    }

    /// Gives a run with a page in progress another number, which is returned: a late answer to an earlier page must not count for
    /// this one. `nil` if there is no such run.
    mutating func renumber(_ number: UInt32) -> UInt32? {
        guard let run = runs.removeValue(forKey: number) else { return nil }
        let next = nextNumber()
        runs[next] = run
        numbers[run.job.name] = next
        return next
    }

    /// Removes a run. Returns whether it was counted for its sender.
    mutating func remove(_ number: UInt32) -> Bool {
        guard let run = runs.removeValue(forKey: number) else { return false }
        numbers[run.job.name] = nil
        let sender = run.job.name.sender
        guard let count = counts[sender] else { return false }
        counts[sender] = count > 1 ? count - 1 : nil
        return count > 0
    }

    /// Removes and returns the next run that can request a page, and counts the page as in progress. Returns `nil` if `pages` are.
    mutating func dequeueReady(pages: Int) -> UInt32? {
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

    /// Ends a page: appends its run to the ready runs if it needs another page, or schedules a retry. Returns whether a page was in
    /// progress.
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

    /// Makes the runs to be retried ready when their time has come.
    mutating func requeueRefused(_ now: Instant) {
        guard !refused.isEmpty, now >= retryAt else { return }
        ready += refused
        refused = []
    }
}

/// The search for jobs of this partition that a stop has interrupted.
struct TopicResumption {
    /// The last job found.
    var after: TopicJobName?
    /// Whether a query is unanswered.
    var isAsking = false
    /// Whether all jobs have been found.
    var isDone = false
}
