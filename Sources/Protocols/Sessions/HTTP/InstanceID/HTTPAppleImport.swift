import Basics
import Delivery
import Wire

/// `POST /iid/v1:batchImport`: app servers migrate their iOS users by their APNs tokens (http 7.4).
extension HTTPSession {
    /// Creates a registration for each token, or finds the existing one.
    ///
    /// Any bundle ID is accepted: which ones a sender may use depends on its APNs credential, which is not known here.
    func importTokens(
        _ request: HTTPRequest, _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(HTTPRefusal) {
            let sender = try sender(of: request, now)
            let (bundle, isSandbox, tokens) = try Self.wanted(Self.jsonBody(of: request))
            let batch = AppleImport(tokens, settings.seal)
            for (index, text) in tokens.enumerated() {
                guard let digits = AppleToken.Digits(Array(text.utf8)[...]) else {
                    batch.recordResult(.malformed, at: index)
                    continue
                }
                let token = AppleToken(digits, isSandbox: isSandbox).stored
                let place = settings.seal.indexKey(ofBundle: bundle, token: token)
                let device = Self.deviceNumber(settings.seal.deviceNumber(ofIndexKey: place, sender: sender))
                let address = AppleRegistration(
                    bundle: bundle, token: token, freshDevice: DeviceID(device),
                    freshDigest: digest(ofToken: freshNumber()), isImport: true)
                let requestID = RecipientRequestID.make(request: requester.requestID, index: index)
                io.events.append(
                    .installation(
                        InstallationRequest(
                            requester: Requester(connection: connection, requestID: requestID),
                            installation: place,
                            sender: sender, action: .apple(address))))
            }
            return batch.outcome
        } catch { return .answer(error.response) }
    }

    private static func wanted(
        _ body: JSONValue
    ) throws(HTTPRefusal) -> (bundle: [UInt8], isSandbox: Bool, tokens: [String]) {
        guard let bundle = bundle(body["application"]) else {
            throw HTTPRefusal(.errorObject("application must be the bundle id of the app", .badRequest))
        }
        let isSandbox: Bool
        switch body["sandbox"] {
        case .boolean(let value): isSandbox = value
        case nil, .null: isSandbox = false
        default: throw HTTPRefusal(.errorObject("sandbox must be true or false", .badRequest))
        }
        guard let elements = body["apns_tokens"]?.elements, !elements.isEmpty,
            elements.count <= Limits.Installation.appleTokensPerImport
        else {
            throw HTTPRefusal(
                .errorObject(
                    "apns_tokens must be an array of 1 to \(Limits.Installation.appleTokensPerImport) tokens",
                    .badRequest))
        }
        let tokens = elements.compactMap(\.text)
        guard tokens.count == elements.count else {
            throw HTTPRefusal(.errorObject("apns_tokens must be strings", .badRequest))
        }
        return (bundle, isSandbox, tokens)
    }
}

/// An import of APNs tokens while it waits for the core's replies.
public final class AppleImport: HTTPMultiTokenAnswer {
    /// The result for one token.
    enum Result {
        case done(TokenName)
        /// The text is not an APNs token.
        case malformed
        /// The registry is full.
        case full
        case failed

        var isFull: Bool { if case .full = self { true } else { false } }
    }

    private static let ok = "OK"
    private static let malformed = "Invalid APNs token"
    private static let failed = "Internal Server Error"
    /// All values of `status`.
    public static let words = [ok, malformed, failed]

    private let tokens: [String]
    private let seal: TokenSeal
    var tokenResults: HTTPTokenResults<Result>

    init(_ tokens: [String], _ seal: TokenSeal) {
        self.tokens = tokens
        self.seal = seal
        tokenResults = HTTPTokenResults(tokens.count)
    }

    func result(of reply: HTTPTokenReply) -> Result? {
        switch reply {
        case .registration(let name): .done(name)
        case .registrationRefused(.registryFull): .full
        case .registrationRefused: .failed
        case .message, .subscription: nil
        }
    }

    /// The answer, in the order of the request; a `status` other than `OK` is an error.
    var response: HTTPResponse {
        // Nothing was changed, so the whole request may be repeated.
        guard !tokenResults.results.allSatisfy({ $0?.isFull == true }) else { return .registryFull }
        var body = ByteBuffer()
        body.append("{\"results\":[")
        for (at, (token, result)) in zip(tokens, tokenResults.results).enumerated() {
            body.append(at == 0 ? "{\"apns_token\":" : ",{\"apns_token\":")
            JSONWriter.append(text: token, to: &body)
            switch result {
            case .done(let name):
                Self.append(Self.ok, to: &body)
                body.append(",\"registration_token\":\"")
                body.append(seal.token(for: name))
                body.append("\"")
            case .malformed: Self.append(Self.malformed, to: &body)
            // The real service has no status that gives the reason.
            case .full, .failed, nil: Self.append(Self.failed, to: &body)
            }
            body.append("}")
        }
        body.append("]}")
        return HTTPResponse(.ok, HTTPResponse.json, body.copied())
    }

    private static func append(_ status: String, to body: inout ByteBuffer) {
        body.append(",\"status\":")
        JSONWriter.append(text: status, to: &body)
    }
}
