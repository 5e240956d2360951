import Basics
import Testing

@testable import Delivery

@Suite("the index of a mailbox")
struct MailboxIndexTests {
    private func mailbox(_ sequences: ClosedRange<UInt64>) -> Mailbox {
        var mailbox = Mailbox()
        var counts = MessageCounts()
        for sequence in sequences {
            let message = StoredMessage(
                device: device, sequence: SequenceNumber(sequence * 10), salt: 0,
                registration: RegistrationNumber(1), sender: nil,
                fields: MessageFields(messageID: [], body: [], apns: []), acceptedAt: 0, expiresAt: 9)
            mailbox.append(
                MailboxSlot(entry: MailboxEntry(message), state: .waiting(isStored: true)), &counts)
        }
        return mailbox
    }

    @Test(
        "a message is found by its sequence, and one that is not there is not found",
        arguments: [1, 2, 7, 100])
    func search(count: UInt64) {
        let mailbox = mailbox(1...count)
        for sequence in 0...count * 10 + 1 {
            let (place, isThere) = (Int((sequence + 9) / 10) - 1, sequence > 0 && sequence % 10 == 0)
            #expect(mailbox.index(of: SequenceNumber(sequence)) == (isThere ? place : nil), "\(sequence)")
        }
    }
}
