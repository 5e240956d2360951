import Basics

/// The target of a legacy HTTP send (http 2.1).
public enum LegacyTarget: Sendable, Equatable {
    /// `to`, or the older `notification_key`: a token, a group key or `/topics/NAME`.
    case one(JSONSlice)
    /// `registration_ids`: an array of `count` tokens, in the order of their results.
    case several(JSONSlice, count: Int)
    /// `condition`: an expression over topics.
    case condition(JSONSlice)
}

/// The reason for refusing a whole request with status 400 (http 2.7).
public struct LegacyFault: Error, Sendable, Equatable {
    /// The body of the response, without its line end.
    public var text: String

    /// Creates a fault.
    public init(_ text: String) { self.text = text }
}

extension AppServerPayload {
    /// Returns the target of a request. Throws the error texts of the real service for none, several and invalid ones (http 2.7).
    public func legacyTarget() throws(LegacyFault) -> LegacyTarget {
        let one = self[.to] != nil ? PayloadField.to : PayloadField.notificationKey
        if let list = self[.registrationIDs] {
            guard self[one] == nil else {
                throw LegacyFault("Must use either \"registration_ids\" field or \"to\", not both")
            }
            guard self[.condition] == nil else { throw Self.severalTargets }
            return .several(list, count: try count(ofTokens: list))
        }
        if let condition = self[.condition] {
            guard self[one] == nil else { throw Self.severalTargets }
            guard reader.kind(condition) == .string else { throw notString(.condition, condition) }
            return .condition(condition)
        }
        guard let target = self[one] else { throw LegacyFault("Missing \"registration_ids\" field") }
        guard reader.kind(target) == .string else { throw notString(one, target) }
        return .one(target)
    }

    private static let severalTargets = LegacyFault(
        "Must use only one of \"to\", \"registration_ids\" and \"condition\"")

    private func count(ofTokens list: JSONSlice) throws(LegacyFault) -> Int {
        guard reader.kind(list) == .array else {
            throw LegacyFault("\"registration_ids\" field is not a JSON array")
        }
        var count = 0
        var cursor = reader.begin(list)
        while let token = reader.nextElement(&cursor) {
            guard reader.kind(token) == .string else {
                throw LegacyFault(
                    "Field \"registration_ids\" must be a JSON array of strings: \(shown(token))")
            }
            count += 1
        }
        guard count > 0 else { throw LegacyFault("\"registration_ids\" field cannot be empty") }
        guard count <= Limits.HTTP.recipientsPerRequest else {
            throw LegacyFault(
                "Number of messages on bulk (\(count)) exceeds maximum allowed (\(Limits.HTTP.recipientsPerRequest))"
            )
        }
        return count
    }

    private func notString(_ field: PayloadField, _ value: JSONSlice) -> LegacyFault {
        LegacyFault("Field \"\(field.name)\" must be a JSON string: \(shown(value))")
    }
}
