import Basics
import Testing

@testable import APNsGateway

@Suite("Apple's answers")
struct VerdictTests {
    @Test(
        "every reason of the table has its class under its own status, and that of the status under another")
    func table() {
        for row in VerdictTable.rows {
            #expect(VerdictTable.kind(status: row.status, reason: row.reason) == row.kind, "\(row.reason)")
            #expect(VerdictTable.kind(status: 502, reason: row.reason) == .busy)
            #expect(row.status == 403 || VerdictTable.kind(status: 403, reason: row.reason) == .foreign)
        }
        #expect(VerdictTable.rows.count == 33)
        let classes = Set(VerdictTable.rows.map { "\($0.kind)" })
        #expect(classes.count == VerdictClass.allCases.count - 2, "accepted and foreign have no reason")
    }

    @Test(
        "an unknown reason is classed by its status, and an answer without one is foreign",
        arguments: [
            (200, VerdictClass.accepted), (400, .badRequest), (403, .foreign), (404, .internalFault),
            (405, .internalFault), (410, .busy), (413, .tooLarge), (429, .tooManyRequests),
            (500, .busy),
            (503, .busy), (302, .busy), (407, .busy), (0, .busy),
        ])
    func unknown(_ status: Int, _ kind: VerdictClass) {
        #expect(VerdictTable.kind(status: status, reason: "NewReason") == kind)
        #expect(status == 200 || VerdictTable.kind(status: status, reason: "") == .foreign)
    }

    @Test("the apns-id of an answer is that of the request in either case, and no other")
    func identifier() {
        let id = "0195f3a1-0000-8abc-8000-0123456789ab"
        #expect(!APNsAnswer(status: 200, id: id).isForeign(to: id))
        #expect(!APNsAnswer(status: 200, id: id.uppercased()).isForeign(to: id))
        let others: [String?] = [
            nil, "", String(id.dropLast()), id + " ", "1" + id.dropFirst(),
            id.replacing("-", with: "M"), id.replacing("0", with: "P"),
        ]
        for other in others {
            #expect(APNsAnswer(status: 200, id: other).isForeign(to: id), "\(other ?? "")")
        }
    }

    @Test("a reason and a time are read from the body, the time under 410 alone")
    func bodies() {
        let body = Samples.body("Unregistered", timestamp: 1_700_000_000_000)
        let verdict = APNsAnswer(status: 410, body: body).verdict
        #expect(
            verdict == APNsVerdict(status: 410, reason: "Unregistered", invalidSince: 1_700_000_000_000))
        #expect(APNsAnswer(status: 400, body: body).verdict.invalidSince == nil)
    }

    @Test(
        "a body without a reason gives none",
        arguments: ["", "<html>", "{", "[]", "{\"reason\":7}", "{\"reason\":null}", "\u{0}", "{\"a\":1}"])
    func noReason(_ text: String) {
        #expect(APNsAnswer.reason(Array(text.utf8)).reason.isEmpty)
        #expect(APNsAnswer(status: 503, body: Array(text.utf8)).verdict.status == 503)
    }

    @Test("a long body is not searched, and a long or harmful reason is cut and cleaned")
    func bounds() {
        let blanks = String(repeating: " ", count: 2_000)
        #expect(APNsAnswer.reason(Array("{\"reason\":\"A\"\(blanks)}".utf8)).reason.isEmpty)
        let long = APNsAnswer.reason(Samples.body(String(repeating: "a", count: 500))).reason
        #expect(long.count <= Limits.APNsGateway.reasonCharacters + 3)
        #expect(APNsAnswer.reason(Samples.body("a\\u001b[0m")).reason == "a?[0m")
        let negative = Samples.body("Unregistered", timestamp: -5)
        #expect(APNsAnswer(status: 410, body: negative).verdict.invalidSince == nil)
    }

    @Test("GOAWAY with a reason about the certificate refuses the credential, with others it does not")
    func goAway() {
        #expect(VerdictTable.refusesCredential("BadCertificate"))
        #expect(VerdictTable.refusesCredential("BadCertificateEnvironment"))
        #expect(!VerdictTable.refusesCredential("Shutdown") && !VerdictTable.refusesCredential(""))
    }

    @Test("waits follow Apple's advice, and long ones vary by a fifth")
    func delays() {
        var random = SeededRandom(seed: 1)
        let first = [RetryDelay.busy(attempt: 0, &random), RetryDelay.busy(attempt: 1, &random)]
        #expect(first == [1_000, 5_000])
        for (attempt, wait) in [(2, 30_000), (3, 120_000), (4, 900_000), (99, 900_000)] {
            let range = Int64(wait * 4 / 5)...Int64(wait * 6 / 5)
            for _ in 0..<50 {
                let drawn = RetryDelay.busy(attempt: attempt, &random)
                #expect(range.contains(drawn))
            }
        }
        let (short, long) = (RetryDelay.device(attempt: 0, &random), RetryDelay.device(attempt: 7, &random))
        #expect(short == 10_000 && (480_000...720_000).contains(long))
    }
}
