import Basics

/// Messages to topics: stored once, then sent to those meant page by page (http 5).
///
/// A device's partition marks each subscriber that it has stored the message for, in the same batch; a page never names a
/// subscriber that is marked. The marks of a page go in the one change that moves the job behind it. So a page can be gone
/// through again after a crash, or after a batch that failed, and nobody is left out or sent it twice.
extension Dispatcher {
    mutating func topicSubmitted(_ given: TopicSubmission, _ now: Now, _ effects: inout Effects) {
        let submission = given.submission
        let (origin, sender) = (submission.origin, submission.sender)
        do throws(Refusal) {
            try checkTopic(submission, now.monotonic, effects)
        } catch {
            effects.downstream.refused += 1
            return effects.commands.append((origin.connection, .refuse(ticket: origin.ticket, error)))
        }
        guard !submission.isDryRun else {
            return effects.commands.append(
                (origin.connection, .acknowledge(ticket: origin.ticket, id: nil, canonical: nil)))
        }
        messageBuckets.take(sender, now: now.monotonic)
        let lifetime = Int64(min(max(submission.lifetimeSeconds, 0), Limits.lifetimeSeconds))
        let job = TopicJob(
            name: TopicJobName(sender: sender, sequence: sequences.next(now)), salt: salt,
            target: given.target, messageID: submission.messageID, collapseKey: submission.collapseKey,
            priority: submission.priority, wantsReceipt: submission.wantsReceipt,
            delaysWhileIdle: submission.delaysWhileIdle,
            restrictedPackage: submission.restrictedPackage, acceptedAt: now.wall,
            expiresAt: now.end(after: lifetime * 1_000), body: submission.body)
        guard job.isStored else {
            begin(job, origin, &effects)
            return askForTopicPages(now, &effects)
        }
        turn.waiters.append(.topicJob(origin, mutation: effects.mutations.count))
        effects.mutations.append(.putTopicJob(job))
    }

    private func checkTopic(
        _ submission: borrowing Submission, _ now: Instant, _ effects: borrowing Effects
    ) throws(Refusal) {
        guard messageBuckets.allows(submission.sender, now: now) else { throw .senderRateExceeded }
        guard topicRuns.count(of: submission.sender) < Limits.topicJobsPerSender else {
            throw .topicRateExceeded
        }
        guard topicRuns.count < Limits.topicJobs, !isOverloaded(effects) else { throw .unavailable }
    }

    /// Says that a job has been taken, and begins it.
    private mutating func begin(_ job: TopicJob, _ origin: Origin, _ effects: inout Effects) {
        let id = PersistentID(sequence: job.name.sequence, salt: job.salt)
        effects.commands.append(
            (origin.connection, .acknowledge(ticket: origin.ticket, id: id, canonical: nil)))
        effects.topicJobs += 1
        effects.topicJobsOpen += 1
        topicRuns.insert(job)
    }

    /// The batch of a job is on disk, or has failed.
    mutating func topicJobCommitted(
        _ job: TopicJob, _ origin: Origin, hasFailed: Bool, _ now: Now, _ effects: inout Effects
    ) {
        guard hasFailed else {
            begin(job, origin, &effects)
            return askForTopicPages(now, &effects)
        }
        effects.downstream.refused += 1
        effects.commands.append((origin.connection, .refuse(ticket: origin.ticket, .unavailable)))
        // It may be on disk all the same, and nobody expects it any more.
        topicRuns.failed.append(.removeTopicJob(job.name, marked: []))
    }

    // MARK: Pages

    /// Asks for as many pages as may be under way.
    private mutating func askForTopicPages(_ now: Now, _ effects: inout Effects) {
        while let number = topicRuns.takeReady() {
            guard let run = topicRuns[number] else { continue }
            let job = run.job
            guard job.cursor.pass < run.passes.count else {
                finish(number, &effects)
                continue
            }
            var topic: TopicName?
            if case .topic(let place) = run.passes[job.cursor.pass] { topic = job.target.topics[place] }
            // Of one whose time is over only what is left of it is asked for.
            let limit = isOver(job, now) ? 0 : Limits.topicPage
            effects.loads.append(.topicPage(job.name, of: topic, after: job.cursor.after, limit: limit))
        }
    }

    private func isOver(_ job: TopicJob, _ now: Now) -> Bool { job.isStored && job.expiresAt <= now.ended }

    /// The store has said who comes next.
    mutating func topicPageLoaded(
        _ name: TopicJobName, _ page: TopicPage, _ now: Now, _ effects: inout Effects
    ) {
        guard let number = topicRuns.number(of: name), let run = topicRuns[number] else { return }
        topicRuns[number]?.marked.formUnion(page.marked)
        guard !isOver(run.job, now) else {
            finish(number, &effects)
            return askForTopicPages(now, &effects)
        }
        topicRuns[number]?.names = page.names
        topicRuns[number]?.next = page.next
        topicRuns[number]?.pending = page.names.count
        topicRuns[number]?.reached = 0
        topicRuns[number]?.isRefused = false
        let job = run.job
        let share = TopicShare(job)
        for name in page.names {
            var submission = Submission(
                origin: .topicJob(number), sender: job.name.sender, target: name, messageID: job.messageID,
                collapseKey: job.collapseKey, lifetimeSeconds: job.isStored ? Limits.lifetimeSeconds : 0,
                priority: job.priority, wantsReceipt: job.wantsReceipt,
                delaysWhileIdle: job.delaysWhileIdle, restrictedPackage: job.restrictedPackage, body: job.body
            )
            submission.topic = share
            effects.forwards.append(.submitted(submission))
        }
        if page.names.isEmpty { topicPageDone(number, now, &effects) }
    }

    mutating func topicPageLoadFailed(_ name: TopicJobName, _ now: Now) {
        guard let number = topicRuns.number(of: name) else { return }
        topicRuns.pageEnded(number, wantsMore: true, retryAfter: retryTime(now))
    }

    private func retryTime(_ now: Now) -> Instant {
        now.monotonic.advanced(milliseconds: Int64(Limits.topicRetryMilliseconds))
    }

    /// A device's partition has answered for one of a page.
    mutating func topicAnswered(
        _ number: UInt32, _ answer: TopicAnswer, _ now: Now, _ effects: inout Effects
    ) {
        guard let run = topicRuns[number], run.pending > 0 else { return }
        topicRuns[number]?.pending -= 1
        switch answer {
        case .reached:
            topicRuns[number]?.reached += 1
            effects.topicMembers += 1
        case .passedOver: break
        case .unavailable: topicRuns[number]?.isRefused = true
        }
        if run.pending == 1 { topicPageDone(number, now, &effects) }
    }

    /// All of a page have answered: the job moves behind it, unless the store could not serve some.
    private mutating func topicPageDone(_ number: UInt32, _ now: Now, _ effects: inout Effects) {
        guard var run = topicRuns[number] else { return }
        run.job.cursor.reached += run.reached
        run.marked.formUnion(run.names)
        run.names = []
        guard !run.isRefused || !run.job.isStored else {
            // What it has reached is marked, so that the same page, asked for again, names the others alone.
            topicRuns[number] = run
            return topicRuns.pageEnded(number, wantsMore: true, retryAfter: retryTime(now))
        }
        run.job.cursor.after = run.next
        if run.next == nil { run.job.cursor.pass += 1 }
        guard run.job.cursor.pass < run.passes.count else {
            topicRuns[number] = run
            finish(number, &effects)
            return askForTopicPages(now, &effects)
        }
        if run.job.isStored {
            effects.mutations.append(
                .advanceTopicJob(run.job.name, run.job.cursor, marked: run.marked.sorted()))
            run.marked = []
        }
        topicRuns[number] = run
        topicRuns.pageEnded(number, wantsMore: true)
        askForTopicPages(now, &effects)
    }

    /// A job whose page is under way is over.
    private mutating func finish(_ number: UInt32, _ effects: inout Effects) {
        guard let run = topicRuns[number] else { return }
        if run.job.isStored {
            effects.mutations.append(.removeTopicJob(run.job.name, marked: run.marked.sorted()))
        }
        effects.topicJobsOpen -= 1
        topicRuns.remove(number)
        topicRuns.pageEnded(number, wantsMore: false)
    }

    /// A batch has failed: what it was to change of jobs is changed later.
    mutating func topicChangesFailed(_ record: borrowing BatchRecord) {
        for mutation in record.mutations {
            switch mutation {
            case .advanceTopicJob(let name, _, let marked):
                if let number = topicRuns.number(of: name) {
                    topicRuns[number]?.marked.formUnion(marked)
                } else if let at = topicRuns.failed.firstIndex(where: { $0.isRemoval(of: name) }) {
                    topicRuns.failed[at].add(marked)
                } else {
                    topicRuns.failed.append(.removeTopicJob(name, marked: marked))
                }
            case .removeTopicJob, .removeTopicBody: topicRuns.failed.append(mutation)
            default: break
            }
        }
    }

    // MARK: Time

    mutating func tickTopics(_ now: Now, _ effects: inout Effects) {
        if !topicRuns.failed.isEmpty {
            effects.mutations += topicRuns.failed
            topicRuns.failed = []
        }
        topicRuns.wake(now.monotonic)
        askForTopicPages(now, &effects)
        guard partition == 0, !topicResumption.isDone, !topicResumption.isAsking else { return }
        topicResumption.isAsking = true
        effects.loads.append(.topicJobs(after: topicResumption.after, limit: Limits.topicJobsRead))
    }

    /// Jobs that an earlier process has left: each goes on where its sender lives.
    mutating func topicJobsLoaded(_ jobs: [TopicJob], isLast: Bool, _ effects: inout Effects) {
        topicResumption.isAsking = false
        topicResumption.isDone = isLast
        topicResumption.after = jobs.last?.name ?? topicResumption.after
        for job in jobs { effects.forwards.append(.topicResumed(job)) }
    }

    mutating func topicResumed(_ job: TopicJob, _ now: Now, _ effects: inout Effects) {
        sequences.observe(job.name.sequence)
        guard job.salt != salt, topicRuns.number(of: job.name) == nil else { return }
        effects.topicJobsOpen += 1
        topicRuns.insert(job)
        askForTopicPages(now, &effects)
    }

    // MARK: At the device

    /// Whether a submission of a job is for this registration, which it was met under a moment ago.
    func isMeant(_ submission: borrowing Submission, _ entry: DeviceEntry, _ now: Now) -> Bool {
        guard let share = submission.topic else { return true }
        guard let at = entry.index(of: submission.target.number) else { return false }
        let state = entry.registrations[at]
        // What is now or never has no time in which it could be late.
        if share.expiresAt > share.acceptedAt, share.expiresAt <= now.ended { return false }
        // Another instance of the app has come in its place: its topics went with it.
        let isReplaced = entry.registrations[(at + 1)...].contains {
            !$0.registration.instance.isEmpty && $0.registration.isSameApp(as: state.registration)
        }
        return !isReplaced
            && share.target.reaches(on: share.pass) { state.topics.contains(submission.sender, $0) }
    }

    /// Tells a job what became of one of its page.
    func answer(topicJob origin: Origin, of sender: SenderID, _ answer: TopicAnswer, _ effects: inout Effects)
    {
        effects.forwards.append(.topicAnswered(sender, run: origin.ticket, answer))
    }
}

extension Mutation {
    fileprivate func isRemoval(of name: TopicJobName) -> Bool {
        if case .removeTopicJob(name, _) = self { true } else { false }
    }

    fileprivate mutating func add(_ names: [RegistrationName]) {
        guard case .removeTopicJob(let job, let marked) = self else { return }
        self = .removeTopicJob(job, marked: marked + names)
    }
}
