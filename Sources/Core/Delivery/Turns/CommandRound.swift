public import Basics

/// The commands of one round, in the order in which sessions get them: the answers to submissions, then the others.
///
/// A session is called once for successive commands, since a call costs as much as an answer. The core alternates the answer to an
/// app server and the delivery to a device; answers do not depend on other commands to the same session, so they go first.
public struct CommandRound: ~Copyable {
    private var commands: [(ConnectionID, SessionCommand)] = []
    private var index = 0
    /// Whether the answers to submissions are taken; the others follow.
    private var takesAnswers = true

    /// Takes the commands out of an array.
    public init(_ commands: inout [(ConnectionID, SessionCommand)]) { swap(&self.commands, &commands) }

    /// What stands where a command was taken; it counts as an answer, so that the second pass skips it.
    private static var taken: SessionCommand { .submission(requestID: 0, .accepted(id: nil, canonical: nil)) }

    /// The connection of the next command. Returns `nil` if all commands have been taken.
    public mutating func next() -> ConnectionID? {
        skip()
        if index == commands.count, takesAnswers {
            takesAnswers = false
            index = 0
            skip()
        }
        return index < commands.count ? commands[index].0 : nil
    }

    /// Takes the next command if it is for a connection. Returns `nil` if it is for another one.
    @inline(__always)
    public mutating func take(for connection: ConnectionID) -> SessionCommand? {
        skip()
        guard index < commands.count, commands[index].0 == connection else { return nil }
        // Moved, not copied: a delivery has half a dozen reference-counted values.
        var command = Self.taken
        swap(&command, &commands[index].1)
        index &+= 1
        return command
    }

    /// Advances to the next command of this pass.
    @inline(__always)
    private mutating func skip() {
        while index < commands.count, commands[index].1.isAnswer != takesAnswers { index &+= 1 }
    }

    /// Returns the empty array for reuse.
    public consuming func storage() -> [(ConnectionID, SessionCommand)] {
        var storage: [(ConnectionID, SessionCommand)] = []
        swap(&storage, &commands)
        storage.removeAll(keepingCapacity: true)
        return storage
    }
}

extension SessionCommand {
    /// Whether it answers a submission.
    @inline(__always)
    fileprivate var isAnswer: Bool {
        switch self {
        // It belongs to the answer that follows it.
        case .submission, .connection(.retryAfter): true
        default: false
        }
    }
}
