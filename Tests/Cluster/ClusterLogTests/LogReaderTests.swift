import Basics
import ClusterLog
import ClusterLogSupport
import Testing

@Suite("the rule of the readers")
struct LogReaderTests {
    static let log = LogKey(cluster: 7, partition: 2)
    static func term(_ epoch: UInt64, _ claim: UInt64) -> Term { Term(Epoch(epoch), Claim(claim)) }
    static func frame(_ term: Term, _ number: UInt64) -> LogRecord {
        .frame(FrameHeader(term: term, number: number, time: 1))
    }

    /// Reads records from the first position on.
    private func verdicts(_ records: [LogRecord]) -> [LogReader.Verdict] {
        var reader = LogReader()
        return records.enumerated().map { reader.read($1, at: LogPosition(UInt64($0 + 1))) }
    }

    @Test("a mark begins its term, and its frames are valid in the order of their numbers")
    func order() {
        let term = Self.term(1, 10)
        let verdicts = verdicts([Self.frame(term, 1), Self.frame(term, 2), Self.frame(term, 3)])
        #expect(verdicts.first == .begins(term))
        #expect(
            verdicts.dropFirst() == [
                .applies(FrameHeader(term: term, number: 2, time: 1)),
                .applies(FrameHeader(term: term, number: 3, time: 1)),
            ])
    }

    @Test("copies, frames before their predecessor, and frames of other terms are void")
    func voids() {
        let (first, second) = (Self.term(1, 10), Self.term(2, 20))
        let verdicts = verdicts([
            Self.frame(first, 2), Self.frame(first, 1), Self.frame(first, 3), Self.frame(first, 2),
            Self.frame(first, 2), Self.frame(second, 1), Self.frame(first, 3), Self.frame(first, 1), .foreign,
        ])
        #expect(
            verdicts == [
                .void(.otherTerm), .begins(first), .void(.notNext),
                .applies(FrameHeader(term: first, number: 2, time: 1)), .void(.notNext), .begins(second),
                .void(.otherTerm), .void(.lateMark), .void(.foreign),
            ])
    }

    @Test("the first mark of an epoch counts, and the frames of the other claim are void")
    func equalEpochs() {
        let (winner, loser) = (Self.term(1, 10), Self.term(1, 11))
        let verdicts = verdicts([
            Self.frame(winner, 1), Self.frame(loser, 1), Self.frame(loser, 1), Self.frame(winner, 2),
            Self.frame(Self.term(2, 10), 3), Self.frame(loser, 2),
        ])
        #expect(
            verdicts == [
                .begins(winner), .void(.lateMark), .void(.lateMark),
                .applies(FrameHeader(term: winner, number: 2, time: 1)), .void(.otherTerm),
                // Only an owner makes it: the log has lost a mark.
                .unreadable(.rival),
            ])
    }

    private static func header(
        _ term: Term, _ number: UInt64, confirmed: UInt64, previous: UInt64 = 0
    ) -> FrameHeader {
        FrameHeader(term: term, number: number, time: 1, confirmed: confirmed, previous: previous)
    }

    @Test(
        "a mark after an epoch that was not read, or by a node that had read more, proves that records are lost"
    )
    func missedMarks() {
        let first = Self.frame(Self.term(1, 1), 1)
        #expect(verdicts([first, Self.frame(Self.term(3, 2), 1)]).last == .missing)
        #expect(verdicts([Self.frame(Self.term(2, 2), 1)]) == [.missing])
        let second = Self.term(2, 2)
        let mark = { LogRecord.frame(Self.header(second, 1, confirmed: 0, previous: $0)) }
        #expect(verdicts([first, mark(1)]).last == .begins(second))
        #expect(verdicts([first, mark(2)]).last == .missing)
    }

    @Test(
        "a frame that was made after others were confirmed proves that they are lost, until they come again")
    func missedFrames() {
        let term = Self.term(1, 1)
        var reader = LogReader()
        let read = { (reader: inout LogReader, header: FrameHeader) in
            reader.read(.frame(header), at: reader.position.next)
        }
        #expect(read(&reader, Self.header(term, 1, confirmed: 0)) == .begins(term))
        #expect(read(&reader, Self.header(term, 4, confirmed: 1)) == .void(.notNext))
        #expect(!reader.isMissingRecords)
        #expect(read(&reader, Self.header(term, 4, confirmed: 3)) == .void(.notNext))
        #expect(reader.isMissingRecords)
        // A new owner has not read them either: its mark voids them.
        var voided = reader
        let mark = Self.header(Self.term(2, 2), 1, confirmed: 0, previous: 1)
        #expect(read(&voided, mark) == .missing && voided == reader)
        for number in [2, 3] as [UInt64] {
            let header = Self.header(term, number, confirmed: 1)
            #expect(read(&reader, header) == .applies(header))
        }
        #expect(!reader.isMissingRecords && read(&reader, mark) == .begins(mark.term))
    }

    @Test(
        "the first frame of a term must agree on the last one of the term before; a frame without its mark is missed"
    )
    func history() {
        let (first, second) = (Self.term(1, 1), Self.term(2, 2))
        let records = [
            LogRecord.frame(Self.header(first, 1, confirmed: 0)), .frame(Self.header(first, 2, confirmed: 1)),
            .frame(Self.header(second, 1, confirmed: 0, previous: 1)),
        ]
        for (previous, isSame) in [(1, false), (2, true), (3, false)] as [(UInt64, Bool)] {
            let frame = Self.header(second, 2, confirmed: 1, previous: previous)
            #expect(verdicts(records + [.frame(frame)]).last == (isSame ? .applies(frame) : .missing))
        }
        // The owner before has confirmed more where the mark was.
        let earlier = Self.header(first, 4, confirmed: 3)
        #expect(verdicts(records + [.frame(earlier)]).last == .missing)
        #expect(verdicts(records + [.frame(Self.header(first, 4, confirmed: 2))]).last == .void(.otherTerm))
        var reader = LogReader()
        for (at, record) in records.prefix(2).enumerated() {
            _ = reader.read(record, at: LogPosition(UInt64(at) + 1))
        }
        let frame = Self.header(second, 2, confirmed: 1, previous: 2)
        #expect(reader.read(.frame(frame), at: LogPosition(3)) == .void(.otherTerm))
        #expect(reader.isMissingRecords)
        // The mark is appended again.
        let mark = Self.header(second, 1, confirmed: 0, previous: 2)
        #expect(reader.read(.frame(mark), at: LogPosition(4)) == .begins(second) && !reader.isMissingRecords)
    }

    @Test("positions are read once and without gaps; a snapshot is continued")
    func positions() {
        let term = Self.term(3, 30)
        var reader = LogReader(term: term, number: 4, position: LogPosition(10))
        #expect(reader.read(Self.frame(term, 5), at: LogPosition(10)) == .repeated)
        #expect(reader.read(Self.frame(term, 5), at: LogPosition(12)) == .gap)
        #expect(reader.number == 4 && reader.position == LogPosition(10))
        let next = reader.read(Self.frame(term, 5), at: LogPosition(11))
        #expect(next == .applies(FrameHeader(term: term, number: 5, time: 1)))
        #expect(reader.number == 5 && reader.position == LogPosition(11))
    }

    @Test(
        "a reader stops at a frame that is damaged or of a newer version",
        arguments: [LogRecord.damaged, .newer(version: 2)])
    func unreadable(_ record: LogRecord) {
        var reader = LogReader()
        let verdict = reader.read(record, at: LogPosition(1))
        #expect(verdict == .unreadable(record == .damaged ? .damaged : .newer(version: 2)))
        #expect(reader == LogReader())
    }
}

@Suite("frames of the log")
struct FrameHeaderTests {
    private let header = FrameHeader(term: Term(Epoch(5), Claim(.max)), number: 7, time: -3)

    @Test("a frame is read as it was written")
    func roundTrip() {
        let frame = header.frame(with: [1, 2, 3], in: LogReaderTests.log)
        #expect(frame.count == FrameHeader.length + 3 && frame.suffix(3) == [1, 2, 3])
        #expect(FrameHeader.read(bytes: frame, in: LogReaderTests.log) == .frame(header))
    }

    @Test("a frame with a changed byte is no frame of the log")
    func damage() {
        let frame = header.frame(with: [1, 2, 3], in: LogReaderTests.log)
        for index in frame.indices {
            var changed = frame
            changed[index] ^= 0x10
            let record = FrameHeader.read(bytes: changed, in: LogReaderTests.log)
            #expect(record == .foreign, "byte \(index)")
        }
        for length in frame.indices {
            let record = FrameHeader.read(bytes: Array(frame.prefix(length)), in: LogReaderTests.log)
            #expect(record == .foreign, "length \(length)")
        }
    }

    @Test("a frame of another partition or cluster, or of a writer without the secret, is foreign")
    func otherLog() {
        let frame = header.frame(with: [], in: LogKey(cluster: 7, partition: 3))
        #expect(FrameHeader.read(bytes: frame, in: LogReaderTests.log) == .foreign)
        #expect(FrameHeader.read(bytes: frame, in: LogKey(cluster: 8, partition: 3)) == .foreign)
        for at in [0, 8, 16, 24] {
            var secret = [UInt8](0..<32)
            secret[at] ^= 1
            let forged = header.frame(
                with: [], in: LogKey(LogSecret(secret.raw), cluster: 7, partition: 2))
            #expect(FrameHeader.read(bytes: forged, in: LogReaderTests.log) == .foreign, "byte \(at)")
        }
    }

    @Test("a newer version is recognized, and what is no frame")
    func versions() {
        let newer = FrameHeader(version: 2, term: header.term, number: 7, time: 0)
        let frame = newer.frame(with: [9], in: LogReaderTests.log)
        #expect(FrameHeader.read(bytes: frame, in: LogReaderTests.log) == .newer(version: 2))
        #expect(
            FrameHeader.read(bytes: [UInt8](repeating: 0x20, count: 100), in: LogReaderTests.log) == .foreign)
        #expect(FrameHeader.read(bytes: [], in: LogReaderTests.log) == .foreign)
    }

    @Test("impossible numbers are damage")
    func impossible() {
        for (epoch, number) in [(0, 1), (1, 0), (Epoch.highest.number + 1, 1)] as [(UInt64, UInt64)] {
            let frame = FrameHeader(term: Term(Epoch(epoch), Claim(1)), number: number, time: 0)
                .frame(with: [], in: LogReaderTests.log)
            #expect(FrameHeader.read(bytes: frame, in: LogReaderTests.log) == .damaged, "\(epoch) \(number)")
        }
        for (confirmed, isRight) in [(4, true), (5, false), (6, false)] as [(UInt64, Bool)] {
            let header = FrameHeader(
                term: Term(Epoch(1), Claim(1)), number: 5, time: 0, confirmed: confirmed, previous: 1)
            let read = FrameHeader.read(
                bytes: header.frame(with: [], in: LogReaderTests.log), in: LogReaderTests.log)
            #expect(read == (isRight ? .frame(header) : .damaged), "\(confirmed)")
        }
        // A mark with the number of a commit, and a commit with the number of a mark.
        for kind in [FrameHeader.Kind.mark, .commit] {
            var frame = FrameHeader(term: Term(Epoch(1), Claim(1)), number: kind == .mark ? 2 : 1, time: 0)
                .frame(with: [], in: LogReaderTests.log)
            frame[8] = kind.rawValue
            let tag = FrameHeader.tag(Array(frame[8...]))
            for index in 0..<8 { frame[index] = UInt8(truncatingIfNeeded: tag >> (8 * UInt64(index))) }
            #expect(FrameHeader.read(bytes: frame, in: LogReaderTests.log) == .damaged)
        }
        let mark = FrameHeader(term: Term(Epoch(1), Claim(1)), number: 1, time: 0)
        #expect(
            FrameHeader.read(bytes: mark.frame(with: [1], in: LogReaderTests.log), in: LogReaderTests.log)
                == .damaged)
    }
}
