import Basics
import Catalogue
import Delivery
import Testing

@testable import Server

/// The mistakes of clients that the log names.
@Suite("Handshake problems") struct HandshakeProblemTests {
    @Test(
        "mistakes in the settings of a client are named, and other failures are not",
        arguments: [
            ("error:0A00009C:SSL routines::http request", HandshakeProblem.plainHTTP),
            ("error:0A00009B:SSL routines::https proxy request", .plainHTTP),
            ("error:0A00010B:SSL routines::wrong version number", .notTLS),
            ("error:0A000418:SSL routines::tlsv1 alert unknown ca", .untrusted),
            ("error:0A000412:SSL routines::sslv3 alert bad certificate", .untrusted),
            ("error:0A000416:SSL routines::sslv3 alert certificate unknown", .untrusted),
            ("error:0A000102:SSL routines::unsupported protocol", nil), ("", nil),
        ] as [(String, HandshakeProblem?)])
    func words(failure: String, problem: HandshakeProblem?) {
        #expect(HandshakeProblem(failure: failure) == problem)
    }

    @Test(
        "ccsctl explain has each reason of a failed handshake, of a refused login, and of a refused connection"
    )
    func explained() {
        let words =
            HandshakeProblem.allCases.map(\.rawValue) + LoginRefusal.allCases.map(\.rawValue)
            + ConnectionRefusal.allCases.map(\.rawValue)
        for word in words { #expect(!Glossary.meanings(of: word).isEmpty, "\(word)") }
        #expect(Glossary.meanings(of: "no_reason").isEmpty, "canary")
    }
}
