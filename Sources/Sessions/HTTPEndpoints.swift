import Basics
import Wire

/// What can be asked for over HTTP: method, path and what it leads to.
///
/// The host name plays no part: clients come by Google's names, by ours and by address (http 1.1).
struct HTTPEndpoint: Sendable {
    /// What it does.
    enum Action: Sendable, Equatable {
        /// A device checks in (mcs-device 5.1).
        case checkIn
        /// An app registers or unregisters (mcs-device 5.2, 5.3).
        case register
        /// A Firebase installation is made (mcs-device 5.5).
        case createInstallation
        /// An app server sends to one or many (http 2).
        case legacySend
        /// A web push, encrypted already (mcs-device 5.7).
        case push
        /// The daemon answers.
        case page(HostRequest.Page)
    }

    /// In which form its errors are told.
    enum ErrorForm: Sendable {
        case text
        case json
    }

    /// The method; `GET` stands for `HEAD` too.
    var method: HTTPMethod
    /// The segments of the path; `*` is any one.
    var segments: [String]
    /// What it leads to.
    var action: Action
    /// The form of its errors.
    var errors: ErrorForm

    /// What an `Allow` header says of it.
    var allow: String { method == .get ? "GET, HEAD" : "POST" }

    private init(_ method: HTTPMethod, _ path: String, _ action: Action, _ errors: ErrorForm = .text) {
        self.method = method
        segments = path.split(separator: "/").map(String.init)
        self.action = action
        self.errors = errors
    }

    /// What devices, apps and app servers may ask for.
    static let services = [
        HTTPEndpoint(.post, "/checkin", .checkIn),
        HTTPEndpoint(.post, "/c2dm/register3", .register),
        HTTPEndpoint(.post, "/v1/projects/*/installations", .createInstallation, .json),
        HTTPEndpoint(.post, "/fcm/send", .legacySend),
        HTTPEndpoint(.post, "/gcm/send", .legacySend),
        HTTPEndpoint(.post, "/fcm/send/*", .push),
        HTTPEndpoint(.post, "/wp/*", .push),
    ]

    /// What the operator's tools may ask for, on a port of their own.
    static let administration = [
        HTTPEndpoint(.get, "/healthz", .page(.health)),
        HTTPEndpoint(.get, "/readyz", .page(.readiness)),
        HTTPEndpoint(.get, "/metrics", .page(.metrics)),
    ]

    /// The parts of a path that the `*` stand for, not decoded; nil if the path is another one.
    func match(_ path: [UInt8]) -> [[UInt8]]? {
        let parts = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == segments.count else { return nil }
        var captured: [[UInt8]] = []
        for (part, segment) in zip(parts, segments) {
            if segment == "*", !part.isEmpty {
                captured.append(Array(part))
            } else if !part.elementsEqual(segment.utf8) {
                return nil
            }
        }
        return captured
    }
}
