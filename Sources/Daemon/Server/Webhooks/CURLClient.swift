import Basics
import CCURL
import Synchronization
import Transport
import Webhooks

/// What the requests of webhooks share.
struct CURLSettings: Sendable, Equatable {
    /// A file of authorities. `nil` for those of the system.
    var authorities: String?
    /// Which addresses are connected to.
    var reach = WebhookReach()
}

/// The HTTPS client of webhooks: libcurl with its pool of connections, on one thread.
///
/// Only `wake` may be called on other threads.
@safe final class CURLClient: @unchecked Sendable {
    /// Changes only on the thread, and while `poolChanges` is locked, which is needed to use it on another one.
    private var pool: UnsafeMutableRawPointer
    private let poolChanges = Mutex(())
    /// Whether the kept connections are older than the settings.
    private var isOutdated = false
    /// The requests in flight, by number and by the address of their handle.
    private var requests: [UInt64: CURLRequest] = [:]
    private var numbers: [UInt: UInt64] = [:]

    /// Creates the pool. Throws if there is no memory.
    init() throws(TransportError) {
        guard curl_global_init(ccurl_global_default()) == CURLE_OK, let pool = unsafe Self.makePool() else {
            throw TransportError("start the client of webhooks", detail: "libcurl cannot be initialized")
        }
        unsafe self.pool = pool
    }

    private static func makePool() -> UnsafeMutableRawPointer? {
        guard let pool = unsafe curl_multi_init() else { return nil }
        _ = unsafe ccurl_set_pool(pool, CURLMOPT_MAX_TOTAL_CONNECTIONS, Limits.Webhook.requests)
        _ = unsafe ccurl_set_pool(pool, CURLMOPT_MAX_HOST_CONNECTIONS, Limits.Webhook.requestsPerSender)
        _ = unsafe ccurl_set_pool(pool, CURLMOPT_MAXCONNECTS, Limits.Webhook.keptConnections)
        return unsafe pool
    }

    /// Applies changed settings: to requests that still wait for a connection, and to kept connections, which end as soon as no request
    /// is in flight. Until then each request checks the address of its connection.
    func apply(_ settings: CURLSettings) {
        for request in requests.values { request.reach = settings.reach }
        isOutdated = true
        endOutdated()
    }

    /// Ends the kept connections if they are older than the settings and none is in use.
    private func endOutdated() {
        guard isOutdated, requests.isEmpty, let fresh = unsafe Self.makePool() else { return }
        isOutdated = false
        let old = unsafe pool
        poolChanges.withLock { _ in unsafe pool = fresh }
        unsafe curl_multi_cleanup(old)
    }

    deinit {
        for request in Array(requests.keys) { abort(request) }
        unsafe curl_multi_cleanup(pool)
    }

    /// Ends `wait` early.
    func wake() { poolChanges.withLock { _ in _ = unsafe curl_multi_wakeup(pool) } }

    /// Waits until a connection is ready, `wake` is called, or the time is over.
    func wait(milliseconds: Int64) {
        _ = unsafe curl_multi_poll(pool, nil, 0, Int32(clamping: max(0, milliseconds)), nil)
    }

    /// Starts a request. Returns whether that succeeded.
    func start(_ wanted: WebhookRequest, _ settings: CURLSettings, at now: Instant) -> Bool {
        guard let request = CURLRequest(wanted, settings, at: now) else { return false }
        guard unsafe curl_multi_add_handle(pool, request.handle) == CURLM_OK else { return false }
        requests[wanted.number] = request
        numbers[request.address] = wanted.number
        return true
    }

    /// Ends a request without a report.
    func abort(_ number: UInt64) {
        guard let request = requests.removeValue(forKey: number) else { return }
        _ = unsafe curl_multi_remove_handle(pool, request.handle)
        numbers[request.address] = nil
        endOutdated()
    }

    /// Reads and writes. Returns the requests that have ended.
    func perform() -> [(request: CURLRequest, answer: WebhookAnswer)] {
        var running: Int32 = 0
        _ = unsafe curl_multi_perform(pool, &running)
        var ended: [(request: CURLRequest, answer: WebhookAnswer)] = []
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(pool, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let handle = unsafe message.pointee.easy_handle
            else { continue }
            // Read before the handle is removed, which frees the message.
            let result = unsafe ccurl_result(message)
            let number = numbers[UInt(bitPattern: handle)]
            guard let request = number.flatMap({ requests[$0] }) else { continue }
            ended.append((request, request.answer(result)))
            abort(request.number)
        }
        return ended
    }
}
