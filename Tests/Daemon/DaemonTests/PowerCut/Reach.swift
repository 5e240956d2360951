import Basics
import Foundation

/// The events that power cuts must cover.
enum CutEvent: String, CaseIterable {
    case lossOfAll = "loss of all"
    case lossOfNothing = "loss of nothing"
    case lossOfTail = "loss of a tail"
    case lossOfPages = "loss of pages"
    case noted = "record of synced positions"
    case lazyUnsynced = "written commit that no sync covers"
    case rotation = "journal file started"
    case lazyRotation = "journal file started after a lazy commit"
    case retirement = "journal file removed"
    case sortedFile = "sorted file started"
    case unknownFound = "unanswered batch present"
    case unknownGone = "unanswered batch lost"
    case reopened = "round on a store that was cut"
    case setting = "setting present"

    init(_ loss: Loss) {
        switch loss {
        case .all: self = .lossOfAll
        case .nothing: self = .lossOfNothing
        case .tail: self = .lossOfTail
        case .pages: self = .lossOfPages
        }
    }
}

/// Follows a trace and counts the states of the journal that it reaches.
struct JournalWatch {
    private var journals: Set<Int32> = []
    /// Commits written since the last sync, and commits that the last sync covered.
    private var unsynced = 0
    private var covered = 0

    /// Whether a power cut would lose a written commit.
    var hasUnsynced: Bool { unsynced > 0 }

    mutating func observe(_ step: Step, _ reached: inout ReachTally<CutEvent>) {
        switch step {
        case .open(let descriptor, let path, let isNew, _):
            let name = path.split(separator: "/").last ?? ""
            if isNew, name.hasSuffix(".sst") { reached.record(.sortedFile) }
            guard name.hasPrefix("journal-") else { return }
            journals.insert(descriptor)
            guard isNew else { return }
            reached.record(.rotation)
            // The commits are still unsynced, or the sync of the rotation itself covered them.
            if unsynced + covered > 0 { reached.record(.lazyRotation) }
        case .write(let descriptor, _, _): if journals.contains(descriptor) { covered = 0 }
        case .sync(let descriptor):
            guard journals.contains(descriptor) else { return }
            (covered, unsynced) = (unsynced, 0)
        case .close(let descriptor): journals.remove(descriptor)
        case .unlink(let path): if path.contains("/journal-") { reached.record(.retirement) }
        case .note(let text): if text.hasPrefix("written ") { unsynced += 1 }
        case .truncate, .rename, .link, .makeFolder, .syncFailed: break
        }
    }
}
