/// Import of installations.
extension InstallationHub {
    /// Takes over the record of an export, and answers with the outcome. Returns whether a write is under way.
    mutating func imported(
        _ row: InstallationRecord, replaces: Bool, _ known: InstallationRecord?,
        for request: InstallationRequest, _ turn: inout Turn
    ) throws(RegistrationRefusal) -> Bool {
        guard let known else {
            if let refusal = turn.refusalToAdd(for: nil, request.requester) { throw refusal }
            put(row, for: request, answer: .imported([.added]), &turn)
            return true
        }
        // The time of the last use is never set back.
        var (merged, kept) = (row, known)
        merged.usedAt = max(known.usedAt, row.usedAt)
        kept.usedAt = merged.usedAt
        let isSame = merged == kept
        let outcome: ImportOutcome = isSame ? .unchanged : replaces ? .replaced : .differs
        guard outcome != .differs, merged != known else {
            turn.reply(.imported([outcome]), to: request.requester)
            return false
        }
        put(merged, for: request, answer: .imported([outcome]), &turn)
        return true
    }
}
