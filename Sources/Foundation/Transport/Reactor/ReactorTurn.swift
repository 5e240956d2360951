import Basics
import CLinux
import Glibc

/// One turn of a reactor: wait, dispatch, fire timers, flush, release.
extension Reactor {
    /// Runs one turn, waiting at most `waitMilliseconds` (-1: without limit); for tests and single-threaded tools.
    public func turn(waitMilliseconds: Int) {
        let count = wait(atMost: waitMilliseconds)
        now = Now.read()
        for at in 0..<count {
            let event = unsafe events[at]
            let ready = unsafe event.events
            dispatch(unsafe event.data.u64, ready)
        }
        readUnfinished()
        fireTimers()
        if handle.consumeRequest() {
            if !lookups.isEmpty { finishLookups() }
            delegate?.reactorWoke(self, now: now)
        }
        reap()
        hasFollowUp = false
        delegate?.reactorTurnEnded(self, now: now)
        flushDirty()
        reap()
    }

    private func wait(atMost limit: Int) -> Int {
        var timeout = limit
        if hasFollowUp || !dirty.isEmpty || !unfinished.isEmpty || !closedConnections.isEmpty {
            timeout = 0
        } else if let look = wheel.nextAdvance {
            let soon = Int(
                clamping: (look.nanoseconds - Now.read().monotonic.nanoseconds + 999_999) / 1_000_000)
            timeout = timeout < 0 ? max(0, soon) : min(timeout, max(0, soon))
        }
        if timeout != 0, !handle.prepareToSleep() { timeout = 0 }
        let count = unsafe epoll_wait(
            epoll.number, events.baseAddress, Int32(events.count), Int32(clamping: timeout))
        handle.wakeUp()
        return Int(max(0, count))
    }

    private func dispatch(_ key: UInt64, _ ready: UInt32) {
        if key == Key.wake { return }
        let low = UInt32(truncatingIfNeeded: key)
        if UInt64(low) >= Key.others {
            let number = Int(low & 0x7fff)
            if low & 0x8000 != 0 {
                if number < watches.count { watches[number].body(now) }
            } else if number < acceptors.count, let acceptor = acceptors[number] {
                acceptAll(acceptor)
            }
            return
        }
        guard Int(low) < connections.count, let connection = connections[Int(low)],
            connection.id.generation == UInt32(truncatingIfNeeded: key >> 32)
        else { return }
        if ready & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
            connection.peerHungUp = true
        }
        if ready & EPOLLOUT.rawValue != 0 { connection.writable(now) }
        if ready & ~EPOLLOUT.rawValue != 0 { connection.readable(now) }
        if ready & EPOLLERR.rawValue != 0, connection.state != .closed { connection.socketFailed() }
    }

    private func readUnfinished() {
        guard !unfinished.isEmpty else { return }
        var batch: [Connection] = []
        swap(&batch, &unfinished)
        for connection in batch {
            connection.readsLater = false
            if connection.state != .closed { connection.readable(now) }
        }
    }

    private func fireTimers() {
        wheel.advance(to: now.monotonic, due: &due)
        guard !due.isEmpty else { return }
        var batch: [Timer] = []
        swap(&batch, &due)
        for timer in batch {
            switch timer {
            case .body(let body):
                bodies -= 1
                body(now)
            case .connection(let slot, let generation):
                guard let connection = connections[Int(slot)], connection.id.generation == generation else {
                    continue
                }
                connection.timer = nil
                connection.armed = .distantFuture
                connection.handleTimer(now)
            }
        }
    }

    private func flushDirty() {
        guard !dirty.isEmpty else { return }
        var batch: [Connection] = []
        swap(&batch, &dirty)
        for connection in batch { connection.flush(now) }
        guard dirty.isEmpty else { return }
        batch.removeAll(keepingCapacity: batch.capacity <= Limits.Connection.readinessPerTurn * 4)
        swap(&batch, &dirty)
    }

    /// Releases closed connections.
    func reap() {
        while let connection = closedConnections.popLast() {
            if let timer = connection.timer { wheel.remove(timer) }
            connection.timer = nil
            _ = Glibc.close(connection.socket)
            let slot = connection.id.slot
            connections[Int(slot)] = nil
            freeSlots.append(slot)
            connectionCount -= 1
            connection.acceptor?.connections -= 1
            connection.notifyClosed(now)
        }
    }

    /// Marks a connection as busy, so that its outbox keeps memory.
    func keepWarm(_ connection: Connection) {
        connection.wasBusy = true
        guard !connection.isWarm else { return }
        connection.isWarm = true
        if warm.isEmpty { scheduleMemoryRelease() }
        warm.append(connection)
    }

    /// Schedules the release of outbox memory of connections that have sent nothing by then.
    private func scheduleMemoryRelease() {
        schedule(at: now.monotonic.advanced(milliseconds: Limits.Connection.warmMilliseconds)) {
            [weak self] _ in
            guard let self else { return }
            warm.removeAll { connection in
                guard !connection.wasBusy || connection.state != .open else {
                    connection.wasBusy = false
                    return false
                }
                connection.isWarm = false
                if connection.outbox.isEmpty { connection.outbox.removeAll() }
                return true
            }
            if !warm.isEmpty { scheduleMemoryRelease() }
        }
    }

    /// Schedules the flush of a connection at the end of the turn.
    func flushLater(_ connection: Connection) { dirty.append(connection) }

    /// Schedules another read of a connection's socket in the next turn.
    func readLater(_ connection: Connection) {
        guard !connection.readsLater else { return }
        connection.readsLater = true
        unfinished.append(connection)
    }

    /// Schedules the release of a connection.
    func reapLater(_ connection: Connection) { closedConnections.append(connection) }

    /// Makes the connection's timer fire no later than its next deadline.
    func arm(_ connection: Connection) {
        // The owner's deadline counts only while the connection is open: later it is not delivered, and would make the loop
        // spin.
        let own = connection.state == .open ? connection.deadline : .distantFuture
        let next = min(own, connection.writeDeadline, connection.stateDeadline)
        // A timer that fires too early checks again, so deadlines can be postponed for free.
        guard next < connection.armed, connection.state != .closed else { return }
        if let timer = connection.timer { wheel.remove(timer) }
        connection.armed = next
        connection.timer = wheel.insert(
            at: next, .connection(slot: connection.id.slot, generation: connection.id.generation))
    }
}

extension Connection {
    /// Handles an error that epoll reports while nothing is read.
    func socketFailed() {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &length)
        fail(code: code == 0 ? ECONNRESET : code)
    }
}
