import Basics
import Delivery
import Wire

/// Why a request about groups is refused, as the text in `error` (http 6.1).
struct GroupFault: Error, Equatable {
    var text: String

    init(_ text: String) { self.text = text }

    /// Creates the text by which clients recognise a refusal of the core.
    init(_ refusal: GroupRefusal) {
        switch refusal {
        case .labelTaken: text = "notification_key already exists"
        case .noMembers: text = "no valid registration ids"
        case .notFound: text = "notification_key not found"
        case .labelMismatch:
            text = "notification_key_name doesn't match the group name of the notification_key"
        case .tooManyMembers: text = "a group has at most \(Limits.Group.members) registration ids"
        case .registryFull: text = "\(RequestFault.registryFull.reason)"
        case .unavailable: text = "the server is unavailable, try again"
        case .storeDamaged: text = "\(DamageText.value)"
        }
    }

    /// The key was not issued by this server; clients look for "Error decrypting GroupToken".
    static let malformedKey = GroupFault(
        "notification_key: Error decrypting GroupToken, expected a key of this server")
}

/// A request that creates, changes or deletes a group.
struct GroupChange {
    /// The values of `operation`.
    enum Kind: String {
        case create
        case add
        case remove
    }

    let sender: SenderID
    let kind: Kind
    /// `notification_key_name`; required for `create`.
    let label: [UInt8]?
    /// The group number in `notification_key`; 0 for `create`.
    let number: UInt64
    /// `registration_ids`, as sent.
    let tokens: [[UInt8]]

    /// Parses a body. Throws the error of the first invalid field.
    init(_ body: RawSpan, _ sender: SenderID, _ seal: TokenSeal) throws(GroupFault) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: body) } catch {
            throw GroupFault("invalid JSON at byte \(error.offset): \(error.fault.rawValue)")
        }
        guard let word = value["operation"]?.text, let kind = Kind(rawValue: word) else {
            throw GroupFault("operation must be create, add or remove")
        }
        self.sender = sender
        self.kind = kind
        label = try Self.label(value["notification_key_name"])
        tokens = try Self.tokens(value["registration_ids"])
        guard kind != .create else {
            guard label != nil else { throw GroupFault("notification_key_name must be given") }
            number = 0
            return
        }
        guard let key = value["notification_key"]?.text, !key.isEmpty else {
            throw GroupFault("notification_key must be given")
        }
        guard let group = seal.group(of: Array(key.utf8).raw) else { throw .malformedKey }
        // The existence of another sender's group is not revealed.
        guard group.sender == sender else { throw GroupFault(.notFound) }
        number = group.number
    }

    private static func label(_ value: JSONValue?) throws(GroupFault) -> [UInt8]? {
        guard let value, value != .null else { return nil }
        guard let text = value.text, !text.isEmpty, text.utf8.count <= Limits.Group.labelBytes,
            !text.utf8.contains(0)
        else {
            throw GroupFault(
                "notification_key_name must be a text of 1 to \(Limits.Group.labelBytes) bytes without U+0000"
            )
        }
        return Array(text.utf8)
    }

    private static func tokens(_ value: JSONValue?) throws(GroupFault) -> [[UInt8]] {
        guard let elements = value?.elements, !elements.isEmpty else {
            throw GroupFault("registration_ids must be an array of 1 to \(Limits.Group.members) tokens")
        }
        guard elements.count <= Limits.Group.members else { throw GroupFault(.tooManyMembers) }
        var tokens: [[UInt8]] = []
        for element in elements {
            guard let text = element.text else { throw GroupFault("registration_ids must be strings") }
            tokens.append(Array(text.utf8))
        }
        return tokens
    }

    /// Returns the operation for the core, with the validated members.
    func operation(members: [TokenName]) -> GroupRequest.Operation {
        switch kind {
        case .create: .create(label: label ?? [], members: members)
        case .add: .add(number: number, label: label, members: members)
        case .remove: .remove(number: number, label: label, members: members)
        }
    }
}

/// The tokens of a group change while the core checks them.
final class GroupCheck: HTTPMultiTokenRequest {
    let change: GroupChange
    var tokenResults: HTTPTokenResults<LegacyReply.Result>

    init(_ change: GroupChange) {
        self.change = change
        tokenResults = HTTPTokenResults(change.tokens.count)
    }

    /// Whether a token could not be checked now, so that the client must retry.
    var mustRetry: Bool {
        tokenResults.results.contains { result in
            switch result {
            case .refused(.unavailable), .refused(.storeDamaged), .refused(.internalError),
                .refused(.draining), nil:
                true
            default: false
            }
        }
    }

    /// Returns the valid members. A replaced token counts as its successor, and a rate-limited one is valid.
    func members(_ seal: TokenSeal) -> [TokenName] {
        zip(change.tokens, tokenResults.results).compactMap { token, result in
            switch result {
            case .sent(_, let canonical):
                let member = canonical ?? token
                return seal.tokenName(of: member)
            case .refused(.deviceRateExceeded), .refused(.senderRateExceeded):
                return seal.tokenName(of: token)
            default: return nil
            }
        }
    }
}
