import Basics
import Foundation

/// What cuts are there to meet; a run that misses one of them has not tested it.
enum CutEvent: String, CaseIterable {
    case lossOfAll = "loss of all"
    case lossOfNothing = "loss of nothing"
    case lossOfTail = "loss of a tail"
    case lossOfPages = "loss of pages"
    case noted = "note of what was synced"
    case lazyUnsynced = "written commit that no sync covers"
    case rotation = "journal file begun"
    case lazyRotation = "journal file begun behind a lazy commit"
    case retirement = "journal file removed"
    case sortedFile = "sorted file begun"
    case unknownFound = "unanswered batch found"
    case unknownGone = "unanswered batch gone"
    case reopened = "round on a store that was cut"
    case setting = "setting kept"

    init(_ loss: Loss) {
        switch loss {
        case .all: self = .lossOfAll
        case .nothing: self = .lossOfNothing
        case .tail: self = .lossOfTail
        case .pages: self = .lossOfPages
        }
    }
}

/// Follows a trace and notes which states of the journal it goes through.
struct JournalWatch {
    private var journals: Set<Int32> = []
    /// Commits that were written and that no sync has covered yet; those that the last sync covered.
    private var unsynced = 0
    private var covered = 0

    /// Whether a commit was written that a power cut would take away.
    var hasUnsynced: Bool { unsynced > 0 }

    mutating func see(_ step: Step, _ reached: inout ReachTally<CutEvent>) {
        switch step {
        case .open(let descriptor, let path, let isNew, _):
            let name = path.split(separator: "/").last ?? ""
            if isNew, name.hasSuffix(".sst") { reached.note(.sortedFile) }
            guard name.hasPrefix("journal-") else { return }
            journals.insert(descriptor)
            guard isNew else { return }
            reached.note(.rotation)
            // The rotation's own sync has just covered them, or nothing has.
            if unsynced + covered > 0 { reached.note(.lazyRotation) }
        case .write(let descriptor, _, _): if journals.contains(descriptor) { covered = 0 }
        case .sync(let descriptor):
            guard journals.contains(descriptor) else { return }
            (covered, unsynced) = (unsynced, 0)
        case .close(let descriptor): journals.remove(descriptor)
        case .unlink(let path): if path.contains("/journal-") { reached.note(.retirement) }
        case .note(let text): if text.hasPrefix("written ") { unsynced += 1 }
        case .truncate, .rename, .link, .syncFailed: break
        }
    }
}
