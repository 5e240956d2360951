import Basics

/// Topic messages: stored once, then sent to their recipients page by page (http 5).
///
/// A device's partition marks each subscriber in the same batch that stores its message; a page never names a marked subscriber.
/// The change that advances the job past a page removes the marks of that page. So a page can be repeated after a crash or a failed
/// batch, and no subscriber is left out or sent the message twice.
struct TopicHub: ~Copyable {
    /// Jobs in progress.
    var runs: TopicRuns
    /// The search for jobs that a stop has interrupted.
    var resumption = TopicResumption()

    init(salt: UInt32) { runs = TopicRuns(after: salt) }

    /// What is wrong with the state; `nil` if nothing is wrong.
    var violation: String? { runs.violation }

    mutating func handle(_ event: consuming TopicEvent, of sender: SenderID, _ turn: inout Turn) {
        guard turn.demand(event.isFor(sender), "an event of another sender's topics", owner: .sender(sender))
        else { return refuse(event, &turn) }
        switch consume event {
        case .submitted(let submission): submit(submission, &turn)
        case .answered(let run, let answer): answered(run, answer, &turn)
        }
    }

    /// Refuses an event that cannot be handled, if its sender waits for an answer.
    func refuse(_ event: TopicEvent, _ turn: inout Turn) {
        guard case .submitted(let submission) = event else { return }
        turn.countRefused(.unavailable, of: submission.sender)
        turn.reply(.refused(.unavailable), to: submission.requester)
    }

    private mutating func submit(_ submission: TopicSubmission, _ turn: inout Turn) {
        let (requester, sender, content) = (submission.requester, submission.sender, submission.content)
        do throws(Refusal) {
            try check(sender, turn)
        } catch {
            turn.countRefused(error, of: sender)
            return turn.reply(.refused(error), to: requester)
        }
        guard !content.isDryRun else {
            return turn.reply(.accepted(id: nil, canonical: nil), to: requester)
        }
        turn.messageBuckets.consume(sender, now: turn.now.monotonic)
        let lifetime = Int64(min(max(content.lifetimeSeconds, 0), Limits.Message.lifetimeSeconds))
        let job = TopicJob(
            name: TopicJobName(sender: sender, sequence: turn.nextSequence()), salt: turn.salt,
            target: submission.target, messageID: content.messageID, collapseKey: content.collapseKey,
            priority: content.priority, wantsReceipt: content.wantsReceipt,
            delaysWhileIdle: content.delaysWhileIdle, restrictedPackage: content.restrictedPackage,
            acceptedAt: turn.now.wall, expiresAt: turn.now.expiry(after: lifetime * 1_000),
            body: content.body,
            apns: content.apns(routingDataBy: turn.settings.appleData))
        guard job.isStored else {
            begin(job, requester, &turn)
            return askForTopicPages(&turn)
        }
        turn.write(.putTopicJob(job), then: .topicJob(job, requester))
    }

    /// Throws the refusal if a sender cannot submit another topic message now.
    private func check(_ sender: SenderID, _ turn: borrowing Turn) throws(Refusal) {
        guard turn.messageBuckets.allows(sender, now: turn.now.monotonic) else {
            throw .senderRateExceeded
        }
        guard runs.count(of: sender) < Limits.Topic.jobsPerSender else {
            throw .topicRateExceeded
        }
        guard runs.count < turn.shares.topicJobs, !turn.isOverloaded else { throw .unavailable }
    }

    /// Accepts a job and starts it.
    private mutating func begin(_ job: TopicJob, _ requester: Requester, _ turn: inout Turn) {
        let id = PersistentID(sequence: job.name.sequence, salt: job.salt)
        turn.reply(.accepted(id: id, canonical: nil), to: requester)
        turn.effects.topicJobs += 1
        turn.effects.topicJobsOpen += 1
        turn.demand(runs.insert(job), "a topic message was started twice", owner: .sender(job.name.sender))
    }

    /// Handles the outcome of a job's batch.
    mutating func jobCommitted(
        _ job: TopicJob, _ requester: Requester, hasFailed: Bool, _ turn: inout Turn
    ) {
        turn.demand(
            job.isStored && job.cursor == TopicCursor(),
            "a topic message was stored after it had been started",
            owner: .sender(job.name.sender))
        guard hasFailed else {
            begin(job, requester, &turn)
            return askForTopicPages(&turn)
        }
        turn.countRefused(.unavailable, of: job.name.sender)
        turn.reply(.refused(.unavailable), to: requester)
        // It may be on disk nevertheless, although its submitter has been refused.
        runs.failed.append(.removeTopicJob(job.name, marked: []))
    }

    // MARK: Pages

    /// Requests pages until the maximum is in progress.
    private mutating func askForTopicPages(_ turn: inout Turn) {
        while let number = runs.dequeueReady(pages: turn.shares.topicPages) {
            guard let run = turn.demand(runs[number], "a page is due for an unknown topic message") else {
                continue
            }
            let job = run.job
            turn.demand(
                runs.pagesInFlight <= Limits.Topic.pagesInFlight,
                "more topic pages are in progress than the limit")
            turn.demand(
                !run.isAsking && run.pending == 0, "a page is due while another one is in progress",
                owner: .sender(job.name.sender))
            guard job.cursor.pass < run.passes.count else {
                finish(number, &turn)
                continue
            }
            var topic: TopicName?
            if case .topic(let index) = run.passes[job.cursor.pass] { topic = job.target.topics[index] }
            // For an expired job only the remaining marks are requested.
            let limit = isOver(job, turn) ? 0 : Limits.Topic.page
            runs[number]?.isAsking = true
            turn.load(.topicPage(job.name, of: topic, after: job.cursor.after, limit: limit))
        }
    }

    private func isOver(_ job: TopicJob, _ turn: borrowing Turn) -> Bool {
        job.isStored && job.expiresAt <= turn.now.expiryCutoff
    }

    /// Sends the message to the subscribers of a page.
    mutating func pageLoaded(
        _ name: TopicJobName, _ page: TopicPage, _ turn: inout Turn
    ) {
        guard let number = pageAnswered(name, &turn), let run = runs[number] else { return }
        guard isInOrder(page, of: run.job, &turn) else {
            return endPage(number, wantsMore: true, retryAfter: retryTime(turn), &turn)
        }
        runs[number]?.marked.formUnion(page.marked)
        guard !isOver(run.job, turn) else {
            finish(number, &turn)
            return askForTopicPages(&turn)
        }
        guard let number = runs.renumber(number) else { return }
        runs[number]?.names = page.names
        runs[number]?.next = page.next
        runs[number]?.pending = page.names.count
        runs[number]?.reached = 0
        runs[number]?.isRefused = false
        let job = run.job
        let share = TopicShare(job)
        let content = MessageContent(
            messageID: job.messageID, collapseKey: job.collapseKey,
            lifetimeSeconds: job.isStored ? Limits.Message.lifetimeSeconds : 0, priority: job.priority,
            wantsReceipt: job.wantsReceipt, delaysWhileIdle: job.delaysWhileIdle,
            restrictedPackage: job.restrictedPackage, body: job.body, apns: job.apns)
        for name in page.names {
            var submission = Submission(
                replyTo: .topic(job.name.sender, run: number), submitter: nil, sender: job.name.sender,
                target: name, content: content)
            submission.topic = share
            turn.forward(.submitted(submission))
        }
        if page.names.isEmpty { topicPageDone(number, &turn) }
    }

    mutating func pageLoadFailed(_ name: TopicJobName, _ turn: inout Turn) {
        guard let number = pageAnswered(name, &turn) else { return }
        endPage(number, wantsMore: true, retryAfter: retryTime(turn), &turn)
    }

    /// Marks a page query as answered and returns the number of its run.
    private mutating func pageAnswered(_ name: TopicJobName, _ turn: inout Turn) -> UInt32? {
        let found = turn.demand(
            runs.number(of: name), "a page of an unknown topic message", owner: .sender(name.sender))
        guard let number = found else { return nil }
        turn.demand(
            runs[number]?.isAsking == true, "a topic page without a query",
            owner: .sender(name.sender))
        runs[number]?.isAsking = false
        return number
    }

    /// Returns whether a page continues at the job's cursor in order. Also checks its size.
    private func isInOrder(_ page: TopicPage, of job: TopicJob, _ turn: inout Turn) -> Bool {
        let key = PartitionKey.sender(job.name.sender)
        let after = job.cursor.after
        var last = after
        for name in page.names {
            let isNext = last.map { $0 < name } ?? true
            guard turn.demand(isNext, "a topic page is out of order", owner: key) else { return false }
            last = name
        }
        turn.demand(
            page.names.count <= Limits.Topic.page, "a topic page exceeds its limit", owner: key)
        let advances = page.next.map { next in after.map { $0 < next } ?? true } ?? true
        return turn.demand(advances, "a topic page does not advance the cursor", owner: key)
    }

    private mutating func endPage(
        _ number: UInt32, wantsMore: Bool, retryAfter time: Instant? = nil, _ turn: inout Turn
    ) {
        let wasUnderWay = runs.pageEnded(number, wantsMore: wantsMore, retryAfter: time)
        turn.demand(wasUnderWay, "more topic pages ended than started")
    }

    private func retryTime(_ turn: borrowing Turn) -> Instant {
        turn.now.monotonic.advanced(milliseconds: Int64(Limits.Topic.retryMilliseconds))
    }

    /// Records the answer of one subscriber of a page.
    private mutating func answered(
        _ number: UInt32, _ answer: TopicAnswer, _ turn: inout Turn
    ) {
        guard let run = turn.demand(runs[number], "a subscriber answered for an unknown topic message"),
            turn.demand(
                run.pending > 0 && run.pending <= run.names.count, "a subscriber answered twice",
                owner: .sender(run.job.name.sender))
        else { return }
        runs[number]?.pending -= 1
        switch answer {
        case .reached:
            runs[number]?.reached += 1
            turn.effects.topicMembers += 1
        case .skipped: break
        case .unavailable: runs[number]?.isRefused = true
        }
        if run.pending == 1 { topicPageDone(number, &turn) }
    }

    /// Advances a job past a page whose subscribers have all answered, unless the store could not serve some of them.
    private mutating func topicPageDone(_ number: UInt32, _ turn: inout Turn) {
        guard var run = turn.demand(runs[number], "a page is done of an unknown topic message") else {
            return
        }
        turn.demand(
            run.pending == 0 && run.reached <= UInt64(run.names.count),
            "a topic page is done before its subscribers answered",
            owner: .sender(run.job.name.sender))
        run.job.cursor.reached += run.reached
        run.marked.formUnion(run.names)
        run.names = []
        guard !run.isRefused || !run.job.isStored else {
            // The subscribers that were reached are marked, so the same page, requested again, names only the others.
            runs[number] = run
            return endPage(number, wantsMore: true, retryAfter: retryTime(turn), &turn)
        }
        run.job.cursor.after = run.next
        if run.next == nil { run.job.cursor.pass += 1 }
        guard run.job.cursor.pass < run.passes.count else {
            runs[number] = run
            finish(number, &turn)
            return askForTopicPages(&turn)
        }
        if run.job.isStored {
            turn.write(.advanceTopicJob(run.job.name, run.job.cursor, marked: run.marked.sorted()))
            run.marked = []
        }
        runs[number] = run
        endPage(number, wantsMore: true, &turn)
        askForTopicPages(&turn)
    }

    /// Ends a job whose page is in progress.
    private mutating func finish(_ number: UInt32, _ turn: inout Turn) {
        guard let run = turn.demand(runs[number], "a topic message ended twice") else { return }
        if run.job.isStored {
            turn.write(.removeTopicJob(run.job.name, marked: run.marked.sorted()))
        }
        turn.effects.topicJobsOpen -= 1
        turn.demand(
            runs.remove(number), "a topic message is not counted for its sender",
            owner: .sender(run.job.name.sender))
        endPage(number, wantsMore: false, &turn)
    }

    /// Schedules the job changes of a failed batch to be written again.
    mutating func changesFailed(_ record: borrowing BatchRecord) {
        for mutation in record.mutations {
            switch mutation {
            case .advanceTopicJob(let name, _, let marked):
                if let number = runs.number(of: name) {
                    runs[number]?.marked.formUnion(marked)
                } else if let at = runs.failed.firstIndex(where: { $0.isRemoval(of: name) }) {
                    runs.failed[at].add(marked)
                } else {
                    runs.failed.append(.removeTopicJob(name, marked: marked))
                }
            case .removeTopicJob, .removeTopicBody: runs.failed.append(mutation)
            default: break
            }
        }
    }

    // MARK: Time

    mutating func tick(_ turn: inout Turn) {
        if !runs.failed.isEmpty {
            turn.effects.mutations += runs.failed
            runs.failed = []
        }
        runs.requeueRefused(turn.now.monotonic)
        askForTopicPages(&turn)
        guard !resumption.isDone, !resumption.isAsking else { return }
        resumption.isAsking = true
        turn.load(
            .topicJobs(after: resumption.after, limit: Limits.Topic.jobsRead, partition: turn.partition))
    }

    /// Resumes jobs of an earlier process.
    mutating func jobsLoaded(_ jobs: [TopicJob], isLast: Bool, _ turn: inout Turn) {
        turn.demand(resumption.isAsking, "an answer to a search for topic messages without a query")
        turn.demand(
            jobs.count <= Limits.Topic.jobsRead, "a search returned more topic messages than its limit")
        turn.demand(
            isLast || !jobs.isEmpty, "a search for topic messages is empty but not at its end")
        let advances = jobs.first.map { first in resumption.after.map { $0 < first.name } ?? true } ?? true
        turn.demand(advances, "a search for topic messages did not advance")
        resumption.isAsking = false
        resumption.isDone = isLast
        resumption.after = jobs.last?.name ?? resumption.after
        for job in jobs {
            turn.sequences.observe(job.name.sequence)
            guard job.salt != turn.salt, runs.number(of: job.name) == nil else { continue }
            turn.effects.topicJobsOpen += 1
            turn.demand(
                runs.insert(job), "a topic message was resumed twice", owner: .sender(job.name.sender))
        }
        askForTopicPages(&turn)
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
