import Basics
import Delivery
import Wire

/// `POST /iid/v1:batchImport`: app servers move their iOS users here by what Apple gave the apps (http 7.4).
extension HTTPSession {
    /// Makes a registration for each token, or finds the one that is there.
    ///
    /// Any bundle id is taken: which ones the sender may use is known where there is a credential of Apple's for it.
    func importTokens(
        _ request: HTTPRequest, _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(HTTPRefusal) {
            let sender = try sender(of: request, now)
            let (bundle, isSandbox, tokens) = try Self.wanted(Self.noteBody(of: request))
            let batch = AppleImport(tokens, settings.seal)
            for (index, text) in tokens.enumerated() {
                guard let digits = AppleToken.digits(text[...]) else {
                    batch.note(.malformed, at: index)
                    continue
                }
                let token = AppleToken.token(digits: digits, isSandbox: isSandbox)
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
            throw HTTPRefusal(.told("application must be the bundle id of the app", .badRequest))
        }
        let isSandbox: Bool
        switch body["sandbox"] {
        case .boolean(let value): isSandbox = value
        case nil, .null: isSandbox = false
        default: throw HTTPRefusal(.told("sandbox must be true or false", .badRequest))
        }
        guard let elements = body["apns_tokens"]?.elements, !elements.isEmpty,
            elements.count <= Limits.Installation.appleTokensPerImport
        else {
            throw HTTPRefusal(
                .told(
                    "apns_tokens must be an array of 1 to \(Limits.Installation.appleTokensPerImport) tokens",
                    .badRequest))
        }
        let tokens = elements.compactMap(\.text)
        guard tokens.count == elements.count else {
            throw HTTPRefusal(.told("apns_tokens must be strings", .badRequest))
        }
        return (bundle, isSandbox, tokens)
    }
}

/// An import of tokens of Apple's, while the core has not told of all of them.
final class AppleImport: HTTPGatheredAnswer {
    /// What became of one token.
    enum Result {
        /// Its registration.
        case done(RegistrationName)
        /// It is none of Apple's.
        case malformed
        /// The registry has no room for it.
        case full
        case failed

        var isFull: Bool { if case .full = self { true } else { false } }
    }

    private static let ok = "OK"
    private static let malformed = "Invalid APNs token"
    private static let failed = "Internal Server Error"
    /// All words of `status`.
    static let words = [ok, malformed, failed]

    private let tokens: [String]
    private let seal: TokenSeal
    var gathered: HTTPGathered<Result>

    /// An import of these, as sent.
    init(_ tokens: [String], _ seal: TokenSeal) {
        self.tokens = tokens
        self.seal = seal
        gathered = HTTPGathered(tokens.count)
    }

    func result(of word: HTTPWord) -> Result? {
        switch word {
        case .registration(let name): .done(name)
        case .registrationRefused(.registryFull): .full
        case .registrationRefused: .failed
        case .message, .subscription: nil
        }
    }

    /// The answer, in the order of the request; a `status` other than `OK` says what is wrong.
    var response: HTTPResponse {
        // Nothing was done: the whole request may be repeated.
        guard !gathered.results.allSatisfy({ $0?.isFull == true }) else { return .registryFull }
        var body = ByteBuffer()
        body.append("{\"results\":[")
        for (at, (token, result)) in zip(tokens, gathered.results).enumerated() {
            body.append(at == 0 ? "{\"apns_token\":" : ",{\"apns_token\":")
            JSONWriter.append(text: token, to: &body)
            switch result {
            case .done(let name):
                Self.append(Self.ok, to: &body)
                body.append(",\"registration_token\":\"")
                body.append(seal.token(for: name))
                body.append("\"")
            case .malformed: Self.append(Self.malformed, to: &body)
            // The real service has no word that says why.
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
