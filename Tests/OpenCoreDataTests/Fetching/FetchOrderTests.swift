import OpenCoreData
import Testing

@Suite struct FetchOrderTests {
  private let staff = Staff()

  private func by(_ key: String, ascending: Bool = true, _ selector: Selector = "compare:") -> NSSortDescriptor {
    NSSortDescriptor(key: key, ascending: ascending, selector: selector)
  }

  @Test("Nil comes first in ascending order and last in descending order.")
  func null() throws {
    #expect(try staff.names(sortedBy: by("age")) == "Cleo Bob Ada dán")
    #expect(try staff.names(sortedBy: by("age", ascending: false)) == "dán Ada Bob Cleo")
  }

  @Test("Later sort descriptors decide where earlier ones do not, and rows that are equal keep their order.")
  func several() throws {
    #expect(try staff.names(sortedBy: by("salary"), by("name", ascending: false)) == "dán Cleo Bob Ada")
    #expect(try staff.names(sortedBy: by("salary", ascending: false)) == "Ada Bob Cleo dán")
  }

  @Test("Sort keys may lead to related objects, to values computed from them, and into values.")
  func keyPaths() throws {
    #expect(try staff.names(sortedBy: by("department.name"), by("name")) == "dán Ada Bob Cleo")
    #expect(try staff.names(sortedBy: by("projects.@count"), by("name")) == "Cleo Bob dán Ada")
    #expect(try staff.names(sortedBy: by("place.city", ascending: false)) == "Cleo Ada Bob dán")
  }

  @Test(
    "Strings are sorted as Apple's comparison methods do.",
    arguments: [
      ("compare:", "B Z9 a z10"), ("caseInsensitiveCompare:", "a B z10 Z9"), ("localizedCompare:", "a B z10 Z9"),
      ("localizedCaseInsensitiveCompare:", "a B z10 Z9"), ("localizedStandardCompare:", "a B Z9 z10"),
    ])
  func selectors(_ selector: String, _ expected: String) throws {
    let rows = ["z10", "B", "a", "Z9"].map { StoredRow(0, ["name": $0]) }
    let request = staff.request { $0.sortDescriptors = [by("name", Selector(selector))] }
    #expect(try staff.joined(staff.compiled(request).rows(among: rows)) == expected)
  }

  @Test("A block may compare in a sort descriptor, which Apple's SQLite store refuses.")
  func block() throws {
    let byLastLetter = NSSortDescriptor(key: "name", ascending: true) { left, right in
      let (left, right) = ("\(left)".suffix(1), "\(right)".suffix(1))
      return left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
    }
    #expect(try staff.names(sortedBy: byLastLetter) == "Ada Bob dán Cleo")
  }

  @Test("Rows are filtered, then sorted, then limited.")
  func window() throws {
    func names(_ offset: Int, _ limit: Int) throws -> String {
      let request = staff.request {
        $0.predicate = NSPredicate(format: "name != 'Bob'")
        $0.sortDescriptors = [by("name", ascending: false)]
        ($0.fetchOffset, $0.fetchLimit) = (offset, limit)
      }
      let fetch = try staff.compiled(request)
      #expect(fetch.count(among: staff.employees) == fetch.rows(among: staff.employees).count)
      return staff.joined(fetch.rows(among: staff.employees))
    }
    #expect(try names(0, 0) == "dán Cleo Ada")
    #expect(try names(1, 0) == "Cleo Ada")
    #expect(try names(0, 2) == "dán Cleo")
    #expect(try names(1, 1) == "Cleo")
    #expect(try names(3, 1) == "")
    #expect(try names(-1, -1) == "dán Cleo Ada")
  }

  @Test("Without an order, a fetch examines no row after the limit.")
  func early() throws {
    let request = staff.request {
      ($0.predicate, $0.fetchOffset, $0.fetchLimit) = (NSPredicate(format: "age != 1"), 1, 2)
    }
    let fetch = try staff.compiled(request)
    var looked = 0
    let rows = staff.employees.lazy.map { row in
      looked += 1
      return row
    }
    #expect(staff.joined(fetch.rows(among: AnySequence(rows))) == "Bob Cleo")
    #expect(looked == 3)
  }

  @Test("Requests of all result types are filtered and limited equally.")
  func resultTypes() throws {
    for type in [.managedObjectResultType, .managedObjectIDResultType, .countResultType] as [NSFetchRequestResultType] {
      let request = staff.request { ($0.resultType, $0.predicate) = (type, NSPredicate(format: "salary = 20")) }
      let fetch = try staff.compiled(request)
      #expect(fetch.rows(among: staff.employees) == [staff.bob, staff.cleo])
      #expect(fetch.count(among: staff.employees) == 2)
    }
  }
}
