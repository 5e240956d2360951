import Basics
import Wire

/// The answers to requests that reach no endpoint: unreadable ones, those that come too slowly, and those for unknown paths.
///
/// They have the error form of the endpoint that they were meant for, if so much could be read: clients parse every error of an
/// interface in one way, and a page must be able to read it.
struct HTTPRefusals: Sendable {
    let endpoints: [HTTPEndpoint]
    let settings: SharedSettings

    /// Returns the answer to a fault of a request, of which the first lines may be all that is known, or nothing (`nil`).
    func response(to fault: RequestFault, of request: HTTPRequest?) -> HTTPResponse {
        guard let request, let path = HTTPPath(request.path) else {
            return request?.path.starts(with: Self.v1) == true ? .rpc(fault) : .plain(fault)
        }
        let found = path.found(in: endpoints).map(\.endpoint)
        guard let endpoint = found.first(where: { $0.accepts(request.method) }) ?? found.first else {
            return path.isBelowV1 ? .rpc(fault) : .plain(fault)
        }
        var response = endpoint.errors.refusal(fault)
        if endpoint.isForPages { response.crossOrigin = settings.value.pageOrigins.grant(to: request) }
        return response
    }

    private static let v1 = Array("/v1/".utf8)
}

extension HTTPEndpoint.ErrorForm {
    /// The answer to a request that was not read. An error word is none: its status 200 would report a good connection to a client.
    fileprivate func refusal(_ fault: RequestFault) -> HTTPResponse {
        switch self {
        case .text, .word: .plain(fault)
        case .json: .rpc(fault)
        case .note: .errorObject("\(fault.reason)", fault.status)
        }
    }
}
