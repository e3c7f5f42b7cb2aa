import Cairn
import CairnFoundation
import Foundation
import Testing

@Suite struct FoundationTests {
  @Test("Foundation's types are keys that sort, and come back.") func keys() throws {
    let id = try #require(UUID(uuidString: "67E55044-10B1-426F-9247-BB680E5FE0C8"))
    #expect(Key(id).description == "67e55044-10b1-426f-9247-bb680e5fe0c8" && UUID(key: Key(id)) == id)
    let dates = [Date.distantPast, Date(timeIntervalSinceReferenceDate: -0.5), Date(), Date.distantFuture]
    #expect(dates.map { Key($0) } == dates.map { Key($0) }.sorted())
    #expect(dates.map { Date(key: Key($0)) } == dates)
    let (data, url) = (Data([1, 0, 2]), try #require(URL(string: "https://example.com/a")))
    #expect(Data(key: Key(data)) == data && URL(key: Key(url)) == url && Key(data) == Key.bytes([1, 0, 2]))
    #expect(String(key: "a") == "a" && Int(key: 7) == 7 && Int64(key: -7) == -7 && Double(key: 1.5) == 1.5)
    #expect(UUID(key: 1) == nil && Date(key: 1) == nil && Data(key: "a") == nil && Int(key: "1") == nil)
  }

  @Test("Foundation's types are values that come back.") func values() throws {
    let folder = Folder()
    let rows = try folder.open().keyspace("rows")
    let (id, url) = (UUID(), try #require(URL(string: "https://example.com/a")))
    try rows.put(id, at: "id")
    try rows.put(url, at: "url")
    try rows.put(Data([1, 2]), at: "data")
    #expect(try rows.get("id", as: UUID.self) == id && rows.get("url", as: URL.self) == url)
    #expect(try rows.get("data", as: Data.self) == Data([1, 2]))
    #expect(throws: StoreError.self) { try rows.get("data", as: UUID.self) }
  }

  @Test("The localized description of an error says what happened, and what to do.") func errors() {
    let folder = Folder()
    var options = StoreOptions()
    options.createsIfMissing = false
    do {
      _ = try Store.open(at: folder.path, options: options)
      Issue.record("opened")
    } catch {
      #expect(error.localizedDescription == error.description)
      #expect((error as any LocalizedError).recoverySuggestion == nil)
    }
  }
}
