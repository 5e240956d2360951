import Basics

/// Identifies one member of a group message: the number of the message, and the index of the member.
public struct GroupSendMember: Hashable, Sendable {
    /// The number of the message.
    public var send: UInt32
    /// The index of the member in the group.
    public var index: Int

    /// Creates the name of a member.
    public init(send: UInt32, index: Int) {
        self.send = send
        self.index = index
    }
}

/// A message on its way to the members of a group.
struct GroupSend {
    let submission: GroupSubmission
    let members: [TokenName]
    var answers: [MemberAnswer?]
    var pending: Int
}

/// Group messages that wait for the members of one group to be read.
struct GroupReads {
    /// Messages that the unanswered query serves.
    var asked: [GroupSubmission] = []
    /// Messages submitted after that query: its answer may be older than the group that their submitters expect.
    var next: [GroupSubmission] = []
}

/// The unanswered group messages of one partition.
struct GroupSends {
    private var open: [UInt32: GroupSend] = [:]
    private var nextNumber: UInt32
    /// Messages that wait for the members of their group, by group.
    var reads: [GroupName: GroupReads] = [:]
    /// Number of unanswered messages.
    private(set) var count = 0

    /// The numbers start anywhere, so that no answer to another process counts.
    init(after number: UInt32) { nextNumber = number }

    /// What is wrong with the state; `nil` if nothing is wrong.
    var violation: String? {
        let waiting = reads.values.reduce(0) { $0 + $1.asked.count + $1.next.count }
        if open.count + waiting != count { return "wrong count of group messages" }
        let isCounted = open.values.allSatisfy { send in
            send.pending > 0 && send.pending == send.answers.count { $0 == nil }
        }
        return isCounted ? nil : "wrong count of pending members"
    }

    /// Counts an accepted message.
    mutating func begin() { count += 1 }

    /// Counts a message as answered. Returns `false` if the count was 0.
    mutating func end() -> Bool {
        count -= 1
        return count >= 0
    }

    /// Stores a message until all of its members have answered. Returns its number.
    mutating func insert(_ send: GroupSend) -> UInt32 {
        repeat {
            nextNumber &+= 1
        } while open[nextNumber] != nil
        open[nextNumber] = send
        return nextNumber
    }

    /// Returns whether a member's answer is pending.
    func isWaiting(for member: GroupSendMember) -> Bool {
        guard let send = open[member.send], send.answers.indices.contains(member.index) else { return false }
        return send.answers[member.index] == nil && send.pending > 0
    }

    /// Records the answer of a member, which must be pending. Returns the message once all members have answered.
    mutating func record(_ member: GroupSendMember, _ answer: MemberAnswer) -> GroupSend? {
        let (number, index) = (member.send, member.index)
        open[number]?.answers[index] = answer
        open[number]?.pending -= 1
        guard let send = open[number], send.pending == 0 else { return nil }
        open[number] = nil
        return send
    }
}
