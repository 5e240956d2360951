import Basics
import Operator
import Testing
import Wire

/// A credential is taken from one place, and a page of another origin cannot use a session.
@Suite("Credentials of the operator API") struct APICredentialTests {
    private func text(_ headers: [String: String]) throws -> String {
        switch APICredential(
            try APIRequests.request("GET", "/operator/v1/status", headers), cookie: "ccsd_session_1a")
        {
        case .none: "none"
        case .token(let token): "token \(token.revealed)"
        case .session(let secret): "session \(secret.revealed)"
        }
    }

    @Test("a token is taken from the header Authorization, a session from the cookie")
    func places() throws {
        #expect(try text(["Authorization": "Bearer abc"]) == "token abc")
        #expect(try text(["Authorization": "bearer  abc"]) == "token abc")
        #expect(try text(["Cookie": "a=b; ccsd_session_1a=xyz; c=d"]) == "session xyz")
        #expect(try text(["Authorization": "Bearer abc", "Cookie": "ccsd_session_1a=xyz"]) == "token abc")
        #expect(
            try text(["Cookie": "ccsd_session_2b=abc; ccsd_session=def; ccsd_session_1a=xyz"])
                == "session xyz",
            "those of other processes at the same host name are ignored")
    }

    @Test("two cookies of the name are no credential, in one header or in two, whichever comes first")
    func twoCookies() throws {
        for value in ["ccsd_session_1a=xyz; ccsd_session_1a=abc", "ccsd_session_1a=xyz; ccsd_session_1a=xyz"]
        {
            #expect(try text(["Cookie": value]) == "none")
        }
        var call = HTTPCall("GET", "/operator/v1/status")
        call.add("Cookie", "ccsd_session_1a=xyz")
        call.add("Cookie", "a=b; ccsd_session_1a=abc")
        guard case .none = APICredential(try APIRequests.request(call), cookie: "ccsd_session_1a") else {
            Issue.record("one of them may come from another site")
            return
        }
    }

    @Test("with TLS the name of the cookie has the prefix that browsers take from this host alone")
    func cookieName() {
        #expect(APICredential.cookieName("1a", isTLS: true) == "__Host-ccsd_session_1a")
        #expect(APICredential.cookieName("1a", isTLS: false) == "ccsd_session_1a")
        let set = APICredential.setCookie("__Host-ccsd_session_1a", Redacted("xyz"))
        #expect(set.contains("; Secure") && set.contains("; Path=/;") && !set.contains("Domain"))
    }

    @Test("anything else is no credential, also beside a cookie")
    func none() throws {
        #expect(try text([:]) == "none")
        for value in [
            "Basic YTpi", "Bearer", "Bearer ", "key=abc", "Bearer " + String(repeating: "a", count: 256),
        ] {
            #expect(
                try text(["Authorization": value, "Cookie": "ccsd_session_1a=xyz"]) == "none", "\(value)")
        }
        #expect(try text(["Cookie": "ccsd_session_1as=xyz; xccsd_session_1a=xyz"]) == "none")
        var call = HTTPCall("GET", "/operator/v1/status")
        call.add("Authorization", "Bearer a")
        call.add("Authorization", "Bearer b")
        #expect(throws: RequestFault.self, "two tokens are no credential") {
            try APIRequests.request(call)
        }
    }

    @Test("the cookie of a session is out of reach of scripts and other sites, and ends with the session")
    func cookie() {
        #expect(
            APICredential.setCookie("ccsd_session_1a", Redacted("xyz"))
                == "ccsd_session_1a=xyz; Path=/; Max-Age=43200; Secure; HttpOnly; SameSite=Strict")
        #expect(APICredential.removeCookie("ccsd_session_1a").contains("Max-Age=0"))
    }

    private func isAllowed(
        _ method: String, _ headers: [String: String], isTLS: Bool = true, hasCookie: Bool = true
    ) throws -> Bool {
        let request = try APIRequests.request(method, "/operator/v1/drain", headers)
        do {
            try APICredential.requireOwnOrigin(request, isTLS: isTLS, hasCookie: hasCookie)
            return true
        } catch {
            #expect(error.status == .forbidden)
            return false
        }
    }

    @Test("a request that a page of another origin may have caused is refused")
    func origins() throws {
        let change = ["X-CCSD-Request": "1"]
        #expect(try isAllowed("POST", change))
        #expect(try !isAllowed("POST", [:]), "a change with a cookie needs the header")
        #expect(try !isAllowed("POST", ["X-CCSD-Request": ""]))
        #expect(try isAllowed("POST", [:], hasCookie: false), "a token is not sent by itself")
        #expect(try isAllowed("GET", [:]))
        for origin in ["https://evil.example", "http://localhost:9100", "https://localhost", "null"] {
            #expect(try !isAllowed("POST", change.merging(["Origin": origin]) { $1 }), "\(origin)")
            #expect(try !isAllowed("GET", ["Origin": origin], hasCookie: false), "\(origin)")
        }
        #expect(try isAllowed("POST", change.merging(["Origin": "https://LOCALHOST:9100"]) { $1 }))
        #expect(
            try isAllowed("POST", change.merging(["Origin": "http://localhost:9100"]) { $1 }, isTLS: false))
        #expect(try !isAllowed("GET", ["Sec-Fetch-Site": "cross-site"]))
        #expect(try !isAllowed("GET", ["Sec-Fetch-Site": "same-site"]))
        #expect(try isAllowed("GET", ["Sec-Fetch-Site": "same-origin"]))
    }

    @Test("a credential is as long as its limit, and not longer")
    func limits() throws {
        let limit = Limits.Login.credentialBytes
        let cookie = "ccsd_session_1a="
        for (excess, isTaken) in [(0, true), (1, false)] {
            let token = String(repeating: "a", count: limit + excess)
            #expect((try text(["Authorization": "Bearer \(token)"]) != "none") == isTaken)
            let secret = token.dropFirst(cookie.utf8.count)
            #expect((try text(["Cookie": cookie + secret]) != "none") == isTaken)
        }
        #expect(try text(["Authorization": "Bearer"]) == "none")
    }
}
