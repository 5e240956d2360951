import Delivery
import Operator

/// What became of one row of an import. A row that is refused does not end the import: all others are still imported.
enum ImportRowResult: Equatable {
    case done(ImportOutcome)
    /// The row is not imported, for this reason. The field is `nil` if it concerns the whole row.
    case refused(field: String?, String)

    /// A row that the store has refused or cannot read, such as one beside a damaged block.
    static func unstored(_ what: String) -> ImportRowResult {
        .refused(field: nil, "the store did not accept \(what): see the log of ccsd, then import it again")
    }

    /// Returns the results of the rows of one answer of the core. Throws only for what concerns all further rows as well.
    static func rows(
        _ answer: SessionCommand, of what: String, count: Int
    ) throws(OperatorProblem) -> [ImportRowResult] {
        switch answer {
        case .reply(_, .imported(let outcomes)) where outcomes.count == count:
            return outcomes.map { .done($0) }
        case .reply(_, .registrationRefused(.registryFull)), .reply(_, .groupRefused(.registryFull)):
            throw registryFull
        default: return Array(repeating: unstored(what), count: count)
        }
    }

    /// Returns the result of a group. Throws only for what concerns all further rows as well.
    static func group(_ answer: SessionCommand, isKnown: Bool) throws(OperatorProblem) -> ImportRowResult {
        switch answer {
        case .reply(_, .group): return .done(isKnown ? .replaced : .added)
        case .reply(_, .groupRefused(.labelTaken)): return .done(.differs)
        case .reply(_, .groupRefused(.registryFull)): throw registryFull
        case .reply(_, .groupRefused(.unavailable)), .reply(_, .groupRefused(.storeDamaged)):
            return unstored("the group")
        case .reply(_, .groupRefused(let refusal)):
            return .refused(field: nil, "the group cannot be imported (\(refusal.rawValue))")
        default: return unstored("the group")
        }
    }

    static let registryFull = OperatorProblem(
        "the registry is full", hint: "raise registry_bytes, reload, and import again")
}
