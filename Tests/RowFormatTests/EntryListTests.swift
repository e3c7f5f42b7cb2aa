import RowFormat
import Testing

@Suite("Lists of entries")
struct EntryListTests {
  private let entries = [[1], [1, 2], [1, 2, 3], [2, 0], [7, 7, 7, 7]] as [[UInt8]]

  @Test("A list of entries returns its entries and their number of bytes.")
  func contents() {
    let list = EntryList(entries)
    #expect(list.map { Array($0) } == entries)
    #expect(list.byteCount == 12)
    #expect(list[1..<3].map { Array($0) } == [[1, 2], [1, 2, 3]])
  }

  @Test("A list of entries finds the place of an entry, whether it contains the entry or not.", arguments: 0..<5)
  func places(_ place: Int) {
    let list = EntryList(entries)
    #expect(list.place(of: entries[place], from: 0) == (place, true))
    #expect(list.place(of: entries[place] + [0], from: 0) == (place + 1, false))
    #expect(list.place(of: entries[place], from: 4) == (4, place == 4))
    #expect(list.place(of: [], from: 0) == (0, false))
  }

  @Test("A list of entries can append entries of another list from any place.", arguments: 0..<5)
  func appending(_ place: Int) {
    var list = EntryList([[0]])
    list.append(EntryList(entries), place..<5)
    list.append(EntryList(entries), 2..<2)
    #expect(list == EntryList([[0]] + entries[place...]))
  }

  @Test("A list of entries begins with a list of its first entries, and with no other.")
  func beginnings() {
    let list = EntryList(entries)
    #expect([list, EntryList(entries.prefix(2)), EntryList()].allSatisfy(list.begins))
    #expect(!list.begins(with: EntryList(entries.dropFirst())) && !EntryList(entries.prefix(2)).begins(with: list))
    #expect(!list.begins(with: EntryList([[1], [1, 2, 1]])) && !list.begins(with: EntryList([[1, 1], [2]])))
  }

  @Test("A list of entries is the same after it is packed and read, whatever part of it.")
  func packing() throws {
    let list = EntryList(entries)
    for start in list.indices {
      for end in start + 1...list.count {
        let part = list[start..<end]
        #expect(try Pack.entries(Pack.bytes(part)) == EntryList(part))
      }
    }
  }

  @Test("A pack is read from a bound on as it is read from its beginning, whatever entry was read before.")
  func readingFromBounds() throws {
    let entries =
      [[1], [1, 2], [1, 2, 3], [1, 2, 4, 0], [1, 2, 4, 1], [2, 0], [2, 1, 5], [7, 7, 7]] as [[UInt8]]
    let bytes = Pack.bytes(EntryList(entries)[...])
    let bounds: [[UInt8]] = entries + entries.map { $0 + [0] } + entries.map { $0 + [9] } + [[3], [9]]
    for first in entries.indices {
      for bound in bounds where entries[first].lexicographicallyPrecedes(bound) {
        var (reader, other) = (try PackReader(bytes), try PackReader(bytes))
        for _ in 0...first {
          _ = try reader.next()
          _ = try other.next()
        }
        var isThere = true
        while isThere, other.entry.lexicographicallyPrecedes(bound) { isThere = try other.next() }
        #expect(try reader.next(notBelow: bound) == isThere)
        #expect(reader.entry == other.entry && reader.shared == other.shared)
        #expect(try reader.next() == other.next() && reader.entry == other.entry)
      }
    }
  }
}
