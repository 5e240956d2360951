import Basics

/// Resumption of app servers' streams after a lost connection (XEP-0198; ccs-xmpp 1.15).
extension SenderHub {
    /// Makes a session's stream resumable.
    mutating func streamManaged(
        _ connection: ConnectionID, _ sender: SenderID, id: String, _ turn: inout Turn
    ) {
        guard let entry = table[sender], entry.index(of: connection) != nil else { return }
        // Each session has at most one stream, so their number is bounded.
        entry.streams.removeAll { $0.connection == connection }
        entry.streams.append(KnownStream(id: id, connection: connection))
        demandBound(of: entry, &turn)
    }

    private func demandBound(of entry: SenderEntry, _ turn: inout Turn) {
        turn.demand(
            entry.streams.count <= entry.sessions.count + Limits.AppServer.resumableStreamsPerSender,
            "there are more resumable streams than the limit", of: entry)
    }

    /// Saves the stream of a session that has lost its connection; `appServerClosed` follows.
    mutating func streamDetached(
        _ connection: ConnectionID, _ sender: SenderID, _ remains: ResumableStream, _ turn: inout Turn
    ) {
        guard let entry = table[sender],
            let at = entry.streams.firstIndex(where: { $0.connection == connection && $0.id == remains.id })
        else { return }
        turn.demand(
            entry.index(of: connection) != nil, "a stream has no connection", of: entry)
        var stream = entry.streams.remove(at: at)
        if let waiting = stream.waiting {
            turn.send(.streamResumed(remains), to: waiting)
            return
        }
        stream.connection = nil
        stream.remains = remains
        stream.endsAt = turn.now.monotonic.advanced(seconds: Limits.AppServer.resumptionSeconds)
        entry.streams.append(stream)
        let detached = entry.streams.indices.filter { entry.streams[$0].connection == nil }
        if detached.count > Limits.AppServer.resumableStreamsPerSender {
            entry.streams.remove(at: detached[0])
        }
        demandBound(of: entry, &turn)
    }

    /// Resumes a stream on a new connection.
    mutating func streamRequested(
        _ connection: ConnectionID, _ sender: SenderID, id: String, _ turn: inout Turn
    ) {
        guard let entry = table[sender], let at = entry.streams.firstIndex(where: { $0.id == id }),
            entry.streams[at].endsAt > turn.now.monotonic
        else {
            turn.send(.streamNotResumed, to: connection)
            return
        }
        let (isLost, hasRemains) = (entry.streams[at].connection == nil, entry.streams[at].remains != nil)
        turn.demand(
            isLost == hasRemains, "a stream has both a connection and a saved state, or neither",
            of: entry)
        if let remains = entry.streams[at].remains {
            entry.streams.remove(at: at)
            turn.send(.streamResumed(remains), to: connection)
        } else if let old = entry.streams[at].connection, old != connection {
            // The app server has detected before the server that the old connection is dead.
            if let other = entry.streams[at].waiting {
                turn.send(.streamNotResumed, to: other)
            }
            entry.streams[at].waiting = connection
            turn.send(.close(.streamResumed), to: old)
        } else {
            turn.send(.streamNotResumed, to: connection)
        }
    }

    /// Removes the stream of a closed session, unless it was detached before.
    func forgetStreams(of connection: ConnectionID, in entry: SenderEntry, _ turn: inout Turn) {
        for at in entry.streams.indices where entry.streams[at].waiting == connection {
            entry.streams[at].waiting = nil
        }
        for stream in entry.streams where stream.connection == connection {
            if let waiting = stream.waiting { turn.send(.streamNotResumed, to: waiting) }
        }
        entry.streams.removeAll { $0.connection == connection }
    }

    /// Removes streams that were not resumed in time.
    func forgetOldStreams(of entry: SenderEntry, _ turn: borrowing Turn) {
        guard !entry.streams.isEmpty else { return }
        entry.streams.removeAll { $0.endsAt <= turn.now.monotonic }
    }
}
