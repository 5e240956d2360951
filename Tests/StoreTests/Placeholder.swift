// Tests/StoreTests
