import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Testing

@Test func nothing() {}
