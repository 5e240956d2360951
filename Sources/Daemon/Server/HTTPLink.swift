import Basics
import Cluster
import Delivery
import Sessions
import Store
import Synchronization
import Transport
import Wire

/// An HTTP connection, which also serves the pages of the daemon itself.
class HTTPLink: SessionLink<HTTPSession> {
    let daemon: Daemon

    init(
        kind: Kind, connection: Connection, host: ReactorHost, daemon: Daemon, session: consuming HTTPSession
    ) {
        self.daemon = daemon
        super.init(kind: kind, connection: connection, host: host, session: session)
    }

    /// The part of `ReactorHost.unauthenticatedBytes` that this connection accounts for.
    private var weight = 0

    override func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        super.connection(connection, received: bytes, now: now)
        if connection.isAnonymous, session.isTrusted { connection.isAnonymous = false }
        weigh(session.unauthenticatedBytes)
        guard weight > Limits.HTTP2.streamWindowBytes,
            host.unauthenticatedBytes > Limits.HTTP.unauthenticatedRequestBytes
        else { return }
        connection.abort(.flood)
    }

    override func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        weigh(0)
        super.connectionClosed(connection, reason: reason, now: now)
    }

    private func weigh(_ held: Int) {
        host.unauthenticatedBytes += held - weight
        weight = held
    }

    override func answer(_ request: HostRequest, now: Now) {
        switch request.question {
        case .page(let page): answer(request, page, now: now)
        case .feedback(let query): answer(request, query, now: now)
        case .history(let query): answer(request, query, now: now)
        case .topics(let query): answer(request, query, now: now)
        case .operation: assertionFailure("an operation on a listener without the operator API")
        }
    }

    /// Answers with what the history has.
    private func answer(_ request: HostRequest, _ query: HistoryQuery, now: Now) {
        lookUp(request, now: now) { isKnown, answer throws(V1Error) in
            guard let histories = daemon.histories else { throw .historyOff }
            try histories.port.count(query.sender, now, isKnown: isKnown)
            return histories.ask(query.request(now.wall), upTo: Limits.History.waitingSenderQuestions) {
                answer(query.response($0))
            }
        }
    }

    /// Answers with a page of topics or subscribers.
    private func answer(_ request: HostRequest, _ query: TopicListQuery, now: Now) {
        lookUp(request, now: now) { isKnown, answer throws(V1Error) in
            try daemon.topicAllowance.withLock { allowance throws(V1Error) in
                try allowance.count(query.sender, now: now.monotonic, isKnown: isKnown)
            }
            return daemon.storage.threads.perform { [seal = daemon.secrets.seal] store in
                answer(query.answer(from: store, seal: seal))
            }
        }
    }

    /// Answers a question of an app server that another thread looks up. `ask` counts it, and passes it on with what takes the answer;
    /// it returns whether there will be one.
    private func lookUp(
        _ request: HostRequest, now: Now,
        _ ask: (_ isKnown: (SenderID) -> Bool, _ answer: @escaping @Sendable (HTTPResponse) -> Void)
            throws(V1Error) -> Bool
    ) {
        do throws(V1Error) {
            let senders = daemon.senders
            guard senders.areCurrent(since: now) else { throw V1Error(Refusal.unavailable) }
            let (id, mailbox) = (connection.id, daemon.core.mailboxes[host.index])
            let isTaken = try ask({ senders.directory[$0] != nil }) { response in
                mailbox.post { host in
                    (host.link(id) as? HTTPLink)?.answer(request, response, now: host.reactor.now)
                }
            }
            guard isTaken else { throw V1Error(Refusal.unavailable) }
        } catch { answer(request, error.response, now: now) }
    }

    private func answer(_ request: HostRequest, _ response: HTTPResponse, now: Now) {
        call(now) { session, io in
            session.answer(requestID: request.requestID, response, now: now, io: &io)
        }
    }

    /// Answers with a page of the feedback, which is read on another thread.
    private func answer(_ request: HostRequest, _ query: FeedbackQuery, now: Now) {
        let (id, mailbox, seal) = (connection.id, daemon.core.mailboxes[host.index], daemon.secrets.seal)
        let isTaken =
            daemon.senders.areCurrent(since: now)
            && daemon.storage.threads.perform { store in
                let entries = try? store.feedback(of: query.sender, after: query.after, limit: query.limit)
                let page = entries.map { FeedbackPage.json($0, of: query, seal: seal) }
                mailbox.post { host in
                    (host.link(id) as? HTTPLink)?.answer(request, feedback: page, now: host.reactor.now)
                }
            }
        if !isTaken { answer(request, feedback: nil, now: now) }
    }

    private func answer(_ request: HostRequest, feedback: [UInt8]?, now: Now) {
        let status: HTTPStatus = feedback == nil ? .unavailable : .ok
        answer(request, status: status, HTTPResponse.json, feedback ?? FeedbackPage.unavailable, now: now)
    }

    private func answer(_ request: HostRequest, _ page: HostRequest.Page, now: Now) {
        switch page {
        case .openAPI: answer(request, status: .ok, HTTPResponse.json, daemon.openAPI, now: now)
        case .health: answer(request, status: .ok, "text/plain; charset=utf-8", Array("ok\n".utf8), now: now)
        case .readiness:
            let isReady = daemon.isReady
            let text = daemon.readiness
            answer(
                request, status: isReady ? .ok : .unavailable, "text/plain; charset=utf-8", Array(text.utf8),
                now: now)
        case .metrics:
            let page = daemon.metricsPage(now: now)
            answer(request, status: .ok, "text/plain; version=0.0.4; charset=utf-8", page, now: now)
        }
    }

    private func answer(
        _ request: HostRequest, status: HTTPStatus, _ contentType: StaticString, _ body: [UInt8], now: Now
    ) {
        answer(request, HTTPResponse(status, contentType, body), now: now)
    }
}
