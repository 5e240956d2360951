import Testing

/// The checkers of a cluster under load find what they are for.
@Suite struct ClusterCheckersTests {
    private static let stream = ClusterOrder.Stream(connection: 1, device: 2)

    @Test("of one connection and device, acknowledged messages that arrive in the wrong order are found")
    func order() {
        var order = ClusterOrder()
        for id in ["a", "b", "c"] { order.sent(id, on: Self.stream) }
        order.sent("z", on: ClusterOrder.Stream(connection: 2, device: 2))
        for id in ["z", "a", "c", "b", "a"] { order.arrived(id) }
        #expect(order.violations(acknowledged: ["a", "b", "c", "z"]) == ["order: c before b"])
        #expect(order.violations(acknowledged: ["a", "c", "z"]).isEmpty, "b has no acknowledgement")
    }

    @Test("what is sent while a device is removed is forbidden until it joins again")
    func membership() {
        var member = ClusterMembership()
        member.sent("1")
        member.begin(joins: false)
        member.sent("2")
        member.end(joined: false)
        member.sent("3")
        #expect(!member.isForbidden("1") && !member.isForbidden("2") && member.isForbidden("3"))
        member.begin(joins: true)
        #expect(!member.isForbidden("3") && member.state == .changing)
    }

    @Test("an answer about a device that lives is false, and one about the cluster is not")
    func answers() {
        #expect(ClusterAnswers.isFalse(refusal: "DEVICE_UNREGISTERED"))
        #expect(ClusterAnswers.isFalse(refusal: "BAD_REGISTRATION"))
        #expect(!ClusterAnswers.isFalse(refusal: "SERVICE_UNAVAILABLE"))
        #expect(ClusterAnswers.isFalse(loginCondition: "not-authorized"))
        #expect(!ClusterAnswers.isFalse(loginCondition: "temporary-auth-failure"))
        #expect(ClusterAnswers.isFalse(loginCode: 401) && !ClusterAnswers.isFalse(loginCode: 503))
    }

    @Test("a message that arrives again with another persistent ID is found")
    func identity() {
        var identity = ClusterIdentity()
        #expect(identity.arrived("d1", as: [49]) == nil && identity.arrived("d1", as: [49]) == nil)
        #expect(identity.arrived("t1@1", as: [50]) == nil && identity.arrived("t1@2", as: [51]) == nil)
        #expect(identity.arrived("d1", as: [52]) == "id: d1 came as 1 and 4")
    }
}
