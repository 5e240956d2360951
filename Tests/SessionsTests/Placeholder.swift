// Tests/SessionsTests
