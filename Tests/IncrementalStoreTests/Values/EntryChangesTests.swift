import RowFormat
import Testing

@testable import IncrementalStore

@Suite("The entries that a save changes")
struct EntryChangesTests {
  /// Entries of which some begin alike, are prefixes of others, or differ only in zeros at the end.
  private static let entries: [[UInt8]] =
    [0, 1, 7, 15, 16, 17, 40].flatMap { count in
      let start = [UInt8](repeating: 3, count: count)
      return [start + [0], start + [0, 0], start + [9], start + [9, 1]]
    }

  @Test("Each entry is in one of the lists, once and in order: added if anything has added it.")
  func sorted() {
    for step in [1, 3, 5, 9, 11] {
      var changes = EntryChanges()
      var (removed, added): (Set<[UInt8]>, Set<[UInt8]>) = ([], [])
      for number in 0..<3 * Self.entries.count {
        let entry = Self.entries[number * step % Self.entries.count]
        if number % 4 == 1 {
          changes.add(entry)
          added.insert(entry)
        } else {
          changes.remove(entry)
          removed.insert(entry)
        }
      }
      let lists = changes.sorted
      #expect(lists.added == EntryList(added.sorted { $0.lexicographicallyPrecedes($1) }))
      let rest = removed.subtracting(added)
      #expect(lists.removed == EntryList(rest.sorted { $0.lexicographicallyPrecedes($1) }))
    }
  }

  @Test("An entry is withdrawn if it was added before, and not if it is added afterwards.")
  func withdrawing() {
    var changes = EntryChanges()
    changes.add([1])
    changes.withdraw([1])
    changes.withdraw([2])
    changes.add([2])
    #expect(changes.sorted.removed == EntryList([[1]]) && changes.sorted.added == EntryList([[2]]))
  }

  @Test("A member is the same entry, however it is given.")
  func members() {
    let member = ObjectReference(entity: 7, reference: .integer(1000))
    var changes = EntryChanges()
    changes.add(member, of: .string("owner"), 300)
    changes.remove(member, of: .integer(-5), 300)
    #expect(changes.sorted.added == EntryList([Entry.member(member, of: .string("owner"), 300)]))
    #expect(changes.sorted.removed == EntryList([Entry.member(member, of: .integer(-5), 300)]))
  }
}
