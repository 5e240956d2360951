import Basics

/// Messages to topics: stored once, then sent to those meant page by page (http 5).
///
/// A device's partition marks each subscriber that it has stored the message for, in the same batch; a page never names a
/// subscriber that is marked. The marks of a page go in the one change that moves the job behind it. So a page can be gone
/// through again after a crash, or after a batch that failed, and nobody is left out or sent it twice.
struct TopicHub: ~Copyable {
    /// Messages to topics that are under way.
    var runs = TopicRuns()
    /// The search for those that a stop has interrupted.
    var resumption = TopicResumption()

    /// What is wrong with the state; `nil` if nothing is.
    var violation: String? { runs.violation }

    mutating func handle(_ event: consuming TopicEvent, of sender: SenderID, _ turn: inout Turn) {
        guard turn.demand(event.isFor(sender), "an event of another sender's topics", owner: .sender(sender))
        else { return refuse(event, &turn) }
        switch consume event {
        case .submitted(let submission): submit(submission, &turn)
        case .answered(let run, let answer): answered(run, answer, &turn)
        }
    }

    /// Answers an event that cannot be handled, as far as anybody waits for an answer.
    func refuse(_ event: TopicEvent, _ turn: inout Turn) {
        guard case .submitted(let submission) = event else { return }
        turn.effects.downstream.refused += 1
        turn.reply(.refused(.unavailable), to: submission.origin)
    }

    private mutating func submit(_ submission: TopicSubmission, _ turn: inout Turn) {
        let (origin, sender, content) = (submission.origin, submission.sender, submission.content)
        do throws(Refusal) {
            try check(sender, turn)
        } catch {
            turn.effects.downstream.refused += 1
            return turn.reply(.refused(error), to: origin)
        }
        guard !content.isDryRun else {
            return turn.reply(.accepted(id: nil, canonical: nil), to: origin)
        }
        turn.messageBuckets.take(sender, now: turn.now.monotonic)
        let lifetime = Int64(min(max(content.lifetimeSeconds, 0), Limits.Message.lifetimeSeconds))
        let job = TopicJob(
            name: TopicJobName(sender: sender, sequence: turn.nextSequence()), salt: turn.salt,
            target: submission.target, messageID: content.messageID, collapseKey: content.collapseKey,
            priority: content.priority, wantsReceipt: content.wantsReceipt,
            delaysWhileIdle: content.delaysWhileIdle, restrictedPackage: content.restrictedPackage,
            acceptedAt: turn.now.wall, expiresAt: turn.now.end(after: lifetime * 1_000), body: content.body,
            apns: content.apns)
        guard job.isStored else {
            begin(job, origin, &turn)
            return askForTopicPages(&turn)
        }
        turn.write(.putTopicJob(job), then: .topicJob(job, origin))
    }

    /// Whether a sender may have one more.
    private func check(_ sender: SenderID, _ turn: borrowing Turn) throws(Refusal) {
        guard turn.messageBuckets.allows(sender, now: turn.now.monotonic) else {
            throw .senderRateExceeded
        }
        guard runs.count(of: sender) < Limits.Topic.jobsPerSender else {
            throw .topicRateExceeded
        }
        guard runs.count < turn.shares.topicJobs, !turn.isOverloaded else { throw .unavailable }
    }

    /// Says that a job has been taken, and begins it.
    private mutating func begin(_ job: TopicJob, _ origin: Origin, _ turn: inout Turn) {
        let id = PersistentID(sequence: job.name.sequence, salt: job.salt)
        turn.reply(.accepted(id: id, canonical: nil), to: origin)
        turn.effects.topicJobs += 1
        turn.effects.topicJobsOpen += 1
        turn.demand(runs.insert(job), "a message to topics begins twice", owner: .sender(job.name.sender))
    }

    /// The batch of a job is on disk, or has failed.
    mutating func jobCommitted(
        _ job: TopicJob, _ origin: Origin, hasFailed: Bool, _ turn: inout Turn
    ) {
        turn.demand(
            job.isStored && job.cursor == TopicCursor(), "a message to topics was stored half of the way",
            owner: .sender(job.name.sender))
        guard hasFailed else {
            begin(job, origin, &turn)
            return askForTopicPages(&turn)
        }
        turn.effects.downstream.refused += 1
        turn.reply(.refused(.unavailable), to: origin)
        // It may be on disk all the same, and nobody expects it any more.
        runs.failed.append(.removeTopicJob(job.name, marked: []))
    }

    // MARK: Pages

    /// Asks for as many pages as may be under way.
    private mutating func askForTopicPages(_ turn: inout Turn) {
        while let number = runs.takeReady(pages: turn.shares.topicPages) {
            guard let run = turn.demand(runs[number], "a page is due of no message to topics") else {
                continue
            }
            let job = run.job
            turn.demand(
                runs.pagesInFlight <= Limits.Topic.pagesInFlight,
                "more pages of topics are under way than may be")
            turn.demand(
                !run.isAsking && run.pending == 0, "a page is due while another one is under way",
                owner: .sender(job.name.sender))
            guard job.cursor.pass < run.passes.count else {
                finish(number, &turn)
                continue
            }
            var topic: TopicName?
            if case .topic(let place) = run.passes[job.cursor.pass] { topic = job.target.topics[place] }
            // Of one whose time is over only what is left of it is asked for.
            let limit = isOver(job, turn) ? 0 : Limits.Topic.page
            runs[number]?.isAsking = true
            turn.load(.topicPage(job.name, of: topic, after: job.cursor.after, limit: limit))
        }
    }

    private func isOver(_ job: TopicJob, _ turn: borrowing Turn) -> Bool {
        job.isStored && job.expiresAt <= turn.now.ended
    }

    /// The store has said who comes next.
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

    /// A page that was asked for has come, or could not be read.
    private mutating func pageAnswered(_ name: TopicJobName, _ turn: inout Turn) -> UInt32? {
        let found = turn.demand(
            runs.number(of: name), "a page of no message to topics", owner: .sender(name.sender))
        guard let number = found else { return nil }
        turn.demand(
            runs[number]?.isAsking == true, "a page of topics that nobody asked for",
            owner: .sender(name.sender))
        runs[number]?.isAsking = false
        return number
    }

    /// Whether a page goes on where the job is, and is no larger than was asked for.
    private func isInOrder(_ page: TopicPage, of job: TopicJob, _ turn: inout Turn) -> Bool {
        let key = PartitionKey.sender(job.name.sender)
        let after = job.cursor.after
        var last = after
        for name in page.names {
            let isNext = last.map { $0 < name } ?? true
            guard turn.demand(isNext, "a page of topics is out of order", owner: key) else { return false }
            last = name
        }
        turn.demand(
            page.names.count <= Limits.Topic.page, "a page of topics is larger than asked for", owner: key)
        let advances = page.next.map { next in after.map { $0 < next } ?? true } ?? true
        return turn.demand(advances, "a page of topics ends where it begins", owner: key)
    }

    private mutating func endPage(
        _ number: UInt32, wantsMore: Bool, retryAfter time: Instant? = nil, _ turn: inout Turn
    ) {
        let wasUnderWay = runs.pageEnded(number, wantsMore: wantsMore, retryAfter: time)
        turn.demand(wasUnderWay, "more pages of topics end than began")
    }

    private func retryTime(_ turn: borrowing Turn) -> Instant {
        turn.now.monotonic.advanced(milliseconds: Int64(Limits.Topic.retryMilliseconds))
    }

    /// A device's partition has answered for one of a page.
    private mutating func answered(
        _ number: UInt32, _ answer: TopicAnswer, _ turn: inout Turn
    ) {
        guard let run = turn.demand(runs[number], "a subscriber answers for no message to topics"),
            turn.demand(
                run.pending > 0 && run.pending <= run.names.count, "a subscriber answers twice",
                owner: .sender(run.job.name.sender))
        else { return }
        runs[number]?.pending -= 1
        switch answer {
        case .reached:
            runs[number]?.reached += 1
            turn.effects.topicMembers += 1
        case .passedOver: break
        case .unavailable: runs[number]?.isRefused = true
        }
        if run.pending == 1 { topicPageDone(number, &turn) }
    }

    /// All of a page have answered: the job moves behind it, unless the store could not serve some.
    private mutating func topicPageDone(_ number: UInt32, _ turn: inout Turn) {
        guard var run = turn.demand(runs[number], "a page is done of no message to topics") else { return }
        turn.demand(
            run.pending == 0 && run.reached <= UInt64(run.names.count),
            "a page of topics is done before its subscribers have answered",
            owner: .sender(run.job.name.sender))
        run.job.cursor.reached += run.reached
        run.marked.formUnion(run.names)
        run.names = []
        guard !run.isRefused || !run.job.isStored else {
            // What it has reached is marked, so that the same page, asked for again, names the others alone.
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

    /// A job whose page is under way is over.
    private mutating func finish(_ number: UInt32, _ turn: inout Turn) {
        guard let run = turn.demand(runs[number], "a message to topics ends twice") else { return }
        if run.job.isStored {
            turn.write(.removeTopicJob(run.job.name, marked: run.marked.sorted()))
        }
        turn.effects.topicJobsOpen -= 1
        turn.demand(
            runs.remove(number), "a message to topics is not counted for its sender",
            owner: .sender(run.job.name.sender))
        endPage(number, wantsMore: false, &turn)
    }

    /// A batch has failed: what it was to change of jobs is changed later.
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
        runs.wake(turn.now.monotonic)
        askForTopicPages(&turn)
        guard !resumption.isDone, !resumption.isAsking else { return }
        resumption.isAsking = true
        turn.load(
            .topicJobs(after: resumption.after, limit: Limits.Topic.jobsRead, partition: turn.partition))
    }

    /// Jobs that an earlier process has left go on.
    mutating func jobsLoaded(_ jobs: [TopicJob], isLast: Bool, _ turn: inout Turn) {
        turn.demand(resumption.isAsking, "an answer to a search for messages to topics that nobody asked for")
        turn.demand(
            jobs.count <= Limits.Topic.jobsRead, "a search found more messages to topics than asked for")
        turn.demand(
            isLast || !jobs.isEmpty, "a search for messages to topics finds none and is not at its end")
        let advances = jobs.first.map { first in resumption.after.map { $0 < first.name } ?? true } ?? true
        turn.demand(advances, "a search for messages to topics goes back")
        resumption.isAsking = false
        resumption.isDone = isLast
        resumption.after = jobs.last?.name ?? resumption.after
        for job in jobs {
            turn.sequences.observe(job.name.sequence)
            guard job.salt != turn.salt, runs.number(of: job.name) == nil else { continue }
            turn.effects.topicJobsOpen += 1
            turn.demand(
                runs.insert(job), "a message to topics goes on twice", owner: .sender(job.name.sender))
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
