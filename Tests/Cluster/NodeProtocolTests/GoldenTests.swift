import Basics
import Delivery
import History
import Testing

@testable import NodeProtocol

/// The bytes of values of every case, which stay as they are: each number is a hash of the bytes of 32 values of a case.
@Suite("Bytes of every case") struct GoldenTests {
    /// Returns the hashes of the cases of a kind, in their order.
    private func hashes<Case: Numbered>(
        _ type: Case.Type, _ bytes: (inout RandomValues, Case) throws -> [UInt8]
    ) rethrows -> [UInt64] {
        try Case.allCases.map { number in
            var values = RandomValues(seed: UInt64(number.number))
            var all: [UInt8] = []
            for _ in 0..<32 { all += try bytes(&values, number) }
            return SipHash(key: (0, 0)).hash(all.raw)
        }
    }

    private func events<Case: Numbered>(
        _ event: (inout RandomValues, Case) -> Event
    ) throws -> [UInt64] {
        try hashes(Case.self) { try parcel([.event(event(&$0, $1))]) }
    }

    private func commands<Case: Numbered>(
        _ command: (inout RandomValues, Case) -> SessionCommand
    ) throws -> [UInt64] {
        try hashes(Case.self) { try parcel([.command($0.connection(), command(&$0, $1))]) }
    }

    @Test("events keep their bytes") func events() throws {
        let ofDevices = try events { $0.event($1 as DeviceEventCase) }
        #expect(
            ofDevices == [
                0xb7d136b78ff0a259, 0xf8e35bdc8f7c6972, 0x7a7ef0a0411746f8, 0xa028ffeb88350dce,
                0x9b8eca40da43f4df, 0x0428417f21d06f06, 0x8263e975ddddd3aa, 0x6365cb911eea8673,
                0xf50d1942f01206ab, 0x2999b236e244f041, 0xed2bd6a844e0676b, 0x01206e23aa1ae955,
                0x6ce94faa80a60471, 0xf86361f11b7f73c5, 0x4a8d130ed3960ef7, 0x9b0f475cd44e5990,
                0x91bffacb8bed1a47, 0xe4f0c6aff1b52d87, 0x74ff63960153698d, 0x34ea1600b511d32e,
                0x5057179301a37df6, 0x40c2ce602b671790, 0x130e2395b67f7d9c, 0xcce19452e41132b7,
                0x90d320521002af00, 0x33a8ee20a7bb3eac, 0x2806fed1d40f981d, 0xbb3326dd9db93cf7,
                0x2b75ded659e253f3,
            ])
        #expect(
            try events { $0.event($1 as SenderEventCase) } == [
                0x10b62a4f35dba0b3, 0x387d22c32ee739c7, 0x97bf48e91544ffc6, 0xf51219326682ea8a,
                0x1013379665de2b46, 0xe7ec9f850b9dd777, 0xa83f43f8527ed6b0, 0x76db13a06eb7a9f8,
                0x39ce3bcfa1a9724d, 0xb06e03f5d9136387, 0x2b2b8b69bbdfea42, 0xdea40555f43bc37a,
                0x9c5defc7e8cab672, 0x6a4050ef028f2aca, 0x28fcfb8d745500c6,
            ])
        #expect(
            try events { $0.event($1 as GroupEventCase) } == [
                0x18e438bc3032101a, 0x437db1f78e0c21e1, 0xbd3e4720fe08882a,
            ])
        #expect(
            try events { $0.event($1 as TopicEventCase) } == [
                0xa611985c7e27d8ae
            ])
        #expect(
            try events { $0.event($1 as TopicLogEventCase) } == [
                0x56d6fbe92aa06b99, 0x14527dbbc5ccd7bd, 0xc951ba33e663f318,
            ])
        #expect(
            try events { $0.event($1 as InstallationEventCase) } == [
                0x76c11525cd96842d, 0x2cc377d90b832ba9,
            ])
    }

    @Test("requests in events keep their bytes") func requests() throws {
        #expect(
            try events { .installation($0.bytes(), .requested($0.installationRequest($1))) } == [
                0xeb587a74467c30b0, 0x99d726b43778189e, 0x741c5263f8433502, 0x35df85432f6fcb91,
                0xdbb0621debe50392, 0x319bfe48daf3e90f, 0x851f823c493a7299, 0x434f4aa4df66b1da,
                0x04fefbe7bec01f18, 0xaf18feaa39641961, 0x3353e3208323d327, 0xbf8f20202f8eb0ea,
                0x62645bdb99d1ed8a, 0x879763128947114d,
            ])
        #expect(
            try events { .group($0.sender(), .requested($0.groupRequest($1))) } == [
                0x94ac7ac053054d28, 0xdd5b8dc715523adb, 0xe43659ae69f43533, 0xc9485e43ced4d537,
                0x3f5ce68317726b64, 0xf09a8d7d6a6a4cb0, 0xd49cbc768618bdc3,
            ])
        #expect(
            try events { .device($0.device(), .gatewayAnswered($0.gatewayAnswer($1))) } == [
                0xc78f3fb85ed0e886, 0xd82bc5b08cab58d3, 0x8a16d490fb78af53, 0xd4544ac492dd5caf,
                0x617ca9bbec1b2b4e, 0x25230ecda29257d3,
            ])
    }

    @Test("commands keep their bytes") func commands() throws {
        #expect(
            try commands { $0.command($1 as AppServerCommandCase) } == [
                0x193a3510af5f888d, 0x78ef6728316d4541, 0x5f58e079f2eae4c9, 0x0498bfaff54b65c7,
                0x96036cb7dc1e4827, 0x8c1107101736fbdf, 0x98f440eb263324f2, 0x732e2480a1809d25,
                0x52e20134c3297cc2,
            ])
        #expect(
            try commands { $0.command($1 as DeviceCommandCase) } == [
                0xedecf53265d347d1, 0x2b6a845a489e6901, 0xa7f6232d7f0ee89a, 0xe91c8b0212d84879,
                0x05b269230618386a, 0x4cb4631a4b0e590a,
            ])
        #expect(
            try commands { $0.command($1 as ConnectionCommandCase) } == [
                0x4c7e47c2015e6b73, 0x1d51a79f4052fe55, 0x2db32f004008130a, 0x90226e7bb2b9af92,
                0xd5fbd87ec72efca1,
            ])
        #expect(
            try commands { $0.command($1 as SubmissionReplyCase) } == [
                0xfed9dc2a40093c79, 0x82417a33f79be4f3, 0xd496e7c13e0cd98a,
            ])
        let replies = try commands { $0.command($1 as RequestReplyCase) }
        #expect(
            replies == [
                0x1c4124cccb227b45, 0x955f35ac539b8d5e, 0x9c300f75b9ac2c33, 0xd70544bfb2d34464,
                0x18bce8f0a59b4e25, 0x4076085284dd755b, 0x11dc028377478dbd, 0xfa3cf6c45f14b2c1,
                0xf4bc4e5b06b2d48e, 0xfd7847ffd9d85adc, 0xef10ec7fecc291e7, 0x29fd60dffd221bd4,
                0x4b9d6739573e6249, 0x9e717e6d8f386f35,
            ])
        #expect(
            try commands { .submission(requestID: $0.small(), .refused($0.refusal($1))) } == [
                0x8960c37b686dce86, 0x1147963cafaa0c02, 0x58dfd8be4941d5dd, 0xa1f1aaac1f56ae0f,
                0x1e5a951859cdb42c, 0xba90a2f7a4fda82d, 0x1032aeecb893efd3, 0x5ac6a60404956d3f,
                0xf6c2a17c79c23424, 0x70e30f47e80134ec, 0xce748344757b8930, 0xaeb1c207cd17a34b,
                0x7a84a5cdfa1b1037, 0xa95fabda14776372, 0xb5db6db132331fb8, 0x5bcd472d03168b20,
                0x1d397b7e180c963e, 0xddbb16fb0e63cd29, 0xc7b0db1eaa736931, 0x005b8018428874a5,
                0xfb9efccd1e333101, 0xeb3be61e87a1beb0, 0xae278b2629fc6743, 0x9e0ec704e9b571d9,
                0xffcd56cfc3dc3d9e,
            ])
    }

    @Test("mutations keep their bytes") func mutations() throws {
        #expect(
            try hashes(MutationCase.self) { try entries([$0.batch([$0.mutation($1)])]) } == [
                0x5af2d181e4e3024a, 0x02251198f8933817, 0x874a53626e58cced, 0x11ec9821f9d899c6,
                0x119a62fbbfc6fe66, 0xcf6517969563eccd, 0x22bd98b2b0245829, 0x98eb929bfaacec2d,
                0x37d71352e1e3afb7, 0x1af146292d82f8d8, 0x70451454a854e989, 0x081dd0d8fb6891cb,
                0x81ecce28292bd2e2, 0x2a0c97e0a589f1e0, 0x0e662edfc89adc9d, 0xc1f94c76c9a5eb4c,
                0x4e488edd21bda587, 0xcdbc6fcaa7f7cf77, 0xaf277a9c861f3047, 0x58cc172bfdc50f9f,
                0x960e95113f55d1b7, 0xdc08cb4519536017, 0xb68f7c2d786ff701, 0x7af80b64a21effb3,
                0xc37573048a46817f, 0xbd95b7eecebc8c93, 0x2bbcbe0eefd15781, 0x8eacfd2552bd4991,
                0x6524a6b2301d3c26, 0x21d0c512e37d787a, 0x7ce154cca9026a6d, 0x7427bd0a968fbd67,
                0xd2d2325f7be76ee1, 0x6572e0546b28eebb, 0x43e095f7c75d78bb, 0x8eb7851b25aad413,
            ])
    }

    @Test("questions to the history and its answers keep their bytes") func histories() throws {
        let questions = try hashes(HistoryQuestionCase.self) {
            try parcel([.asked($0.number(), $0.question($1))])
        }
        #expect(
            questions == [0x87495bfaa3218cc4, 0x535cf4ee0f135987, 0x8eaae555f51faf88, 0x0c79fe193b35abce])
        let replies = try hashes(HistoryContentCase.self) {
            try parcel([.answered($0.number(), $0.historyReply($1))])
        }
        #expect(
            replies == [
                0x78d7ae15d5968660, 0x0f65519247f4d6bb,
            ])
    }

    @Test("cases without values keep their numbers") func numbers() throws {
        func numbers<Case: Numbered>(_ type: Case.Type) -> [UInt8] { Case.allCases.map(\.number) }
        #expect(numbers(CloseReason.self) == Array(1...35) + [38, 37, 36])
        #expect(numbers(APNsRefusal.Kind.self) == Array(1...10))
        #expect(numbers(LoginRefusal.self) == Array(1...6))
        #expect(numbers(UpstreamRefusal.self) == Array(1...5))
        #expect(numbers(RegistrationRefusal.self) == Array(1...10))
        #expect(numbers(TokenRefusal.self) == Array(1...6))
        #expect(numbers(GroupRefusal.self) == Array(1...8))
        #expect(numbers(ImportOutcome.self) == Array(1...8))
        #expect(numbers(APNsEnvironment.self) == [1, 2])
        #expect(numbers(TraceRecord.Direction.self) == [1, 2, 3])
        #expect(numbers(TraceRecord.Step.self) == Array(1...23))
        #expect(numbers(Priority.self) == [1, 2])
        #expect(numbers(Requester.Growth.self) == [1, 2, 3, 4])
        #expect(numbers(UpstreamOutcome.self) == Array(1...5))
        #expect(numbers(Milestone.self) == Array(1...10))
        #expect(numbers(StoreMark.self) == [1, 2])
        #expect(numbers(HistoryStep.Kind.self) == Array(1...6))
        #expect(numbers(HistoryOutcome.self) == Array(1...8))
    }
}
