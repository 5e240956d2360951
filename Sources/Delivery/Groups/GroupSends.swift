import Basics

/// One member of a message to a group: the number of the message, and the place of the member.
public struct GroupSendMember: Hashable, Sendable {
    var send: UInt32
    var place: Int
}

/// A message on its way to the members of a group.
struct GroupSend {
    let submission: GroupSubmission
    let members: [RegistrationName]
    var answers: [MemberAnswer?]
    var pending: Int
}

/// Sends that wait for the members of one group.
struct GroupReads {
    /// Those that the question on its way answers.
    var asked: [GroupSubmission] = []
    /// Those that came after it was asked: what it answers may be older than what their senders know.
    var next: [GroupSubmission] = []
}

/// The sends to groups in one partition.
struct GroupSends {
    private var open: [UInt32: GroupSend] = [:]
    private var nextNumber: UInt32 = 0
    /// Sends that wait for the members of their group, by group.
    var reads: [GroupName: GroupReads] = [:]
    /// Sends that wait for anything.
    private(set) var count = 0

    /// What is wrong with the state; `nil` if nothing is.
    var violation: String? {
        let waiting = reads.values.reduce(0) { $0 + $1.asked.count + $1.next.count }
        if open.count + waiting != count { return "wrong count of sends to groups" }
        let isCounted = open.values.allSatisfy { send in
            send.pending > 0 && send.pending == send.answers.count { $0 == nil }
        }
        return isCounted ? nil : "wrong count of pending members"
    }

    /// Counts one that is taken.
    mutating func begin() { count += 1 }

    /// Counts one that has been answered. Returns whether one was open.
    mutating func end() -> Bool {
        count -= 1
        return count >= 0
    }

    /// Keeps a send until all of its members have answered; its number.
    mutating func insert(_ send: GroupSend) -> UInt32 {
        repeat {
            nextNumber &+= 1
        } while open[nextNumber] != nil
        open[nextNumber] = send
        return nextNumber
    }

    /// Whether the answer of a member is waited for.
    func isWaiting(for member: GroupSendMember) -> Bool {
        guard let send = open[member.send], send.answers.indices.contains(member.place) else { return false }
        return send.answers[member.place] == nil && send.pending > 0
    }

    /// Notes the answer of a member, which is waited for; the send, once all have answered.
    mutating func note(_ member: GroupSendMember, _ answer: MemberAnswer) -> GroupSend? {
        let (number, place) = (member.send, member.place)
        open[number]?.answers[place] = answer
        open[number]?.pending -= 1
        guard let send = open[number], send.pending == 0 else { return nil }
        open[number] = nil
        return send
    }
}
