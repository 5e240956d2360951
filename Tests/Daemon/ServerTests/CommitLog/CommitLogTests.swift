import Basics
import Delivery
import NATSServerSupport
import Synchronization
import Testing

@testable import Server

/// The local store and the replicated log keep the same contract.
@Suite("CommitLog", .serialized)
struct CommitLogTests {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case local, replicated

        var testDescription: String { rawValue }

        func make() throws -> any LogUnderTest {
            switch self {
            case .local: try LocalLog()
            case .replicated: try ReplicatedLog()
            }
        }

        /// The logs that can be tested on this machine.
        static var available: [Kind] { NATSServerProcess.isInstalled ? allCases : [.local] }
    }

    @Test(
        "several batches in flight get one outcome each, in order, when queries see them",
        arguments: Kind.available)
    func severalInFlight(_ kind: Kind) throws {
        #expect(CommitLogContract(subject: try kind.make()).severalInFlight() == [])
    }

    @Test("batches count in the order of their submission", arguments: Kind.available)
    func orderOfWrites(_ kind: Kind) throws {
        #expect(CommitLogContract(subject: try kind.make()).orderOfWrites() == [])
    }

    @Test("an outcome names the messages that the store has already", arguments: Kind.available)
    func duplicates(_ kind: Kind) throws {
        #expect(CommitLogContract(subject: try kind.make()).duplicates() == [])
    }

    @Test("a batch of the control plane gets its outcome on another thread", arguments: Kind.available)
    func controlPlane(_ kind: Kind) throws {
        #expect(CommitLogContract(subject: try kind.make()).controlPlane() == [])
    }

    @Test("a log that fails reports each batch once, and goes on afterwards", arguments: Kind.available)
    func failure(_ kind: Kind) throws {
        #expect(CommitLogContract(subject: try kind.make()).failure() == [])
    }

    @Test("a closed log answers what it has taken, and refuses more at once", arguments: Kind.available)
    func closing(_ kind: Kind) throws {
        #expect(CommitLogContract(subject: try kind.make()).closing() == [])
    }
}
