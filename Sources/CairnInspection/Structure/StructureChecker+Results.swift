import RowFormat

/// Checks the lists of a remote service: STORE-FORMAT.md, section 10.
extension StructureChecker {
  /// A list, and how many of its pages have been read.
  private struct List {
    let reference: RowReference
    let digest: Substring
    /// Nil if it cannot be read, or if a migration has removed its entity. Then its pages are not checked.
    var row: ResultRow?
    var pages: UInt64 = 0
    var formerPages: UInt64 = 0
  }

  /// Pages come after the row of their list.
  func checkResults() throws {
    var list: List?
    try source.forEachRow(in: ResultRow.table) { reference, bytes in
      guard case .string(let text) = reference else {
        return find(.row, .row(reference, table: ResultRow.table), "a list or a page has the reference \(reference)")
      }
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      if parts.count == 1 {
        findMissingPages(list)
        list = List(reference: reference, digest: parts[0], row: checkedList(bytes, reference))
      } else if parts[0] == list?.digest {
        try checkPage(bytes, reference, parts, &list)
      } else {
        find(.row, .row(reference, table: ResultRow.table), "the page belongs to no list")
      }
    }
    findMissingPages(list)
  }

  private func checkedList(_ bytes: [UInt8], _ reference: RowReference) -> ResultRow? {
    func find(_ words: String) { self.find(.row, .row(reference, table: ResultRow.table), words) }
    do {
      let row = try ResultRow(bytes)
      if ResultRow.reference(of: row.key) != reference { find("the reference is not that of the list's key") }
      guard schema.entities[row.entity] == nil else { return row }
      if !schema.isUnassigned(row.entity) { find("the schema has no entity \(row.entity)") }
      return nil
    } catch {
      find("the list: \(error)")
      return nil
    }
  }

  private func findMissingPages(_ list: List?) {
    guard let list, let row = list.row else { return }
    for (found, count, words) in [
      (list.pages, row.pages, "its pages"), (list.formerPages, row.formerPages, "the pages of the generation before"),
    ] where found < count {
      find(.row, .row(list.reference, table: ResultRow.table), "\(count - found) of \(count) of \(words) are missing")
    }
  }

  private func checkPage(
    _ bytes: [UInt8], _ reference: RowReference, _ parts: [Substring], _ list: inout List?
  ) throws {
    func find(_ words: String) { self.find(.row, .row(reference, table: ResultRow.table), words) }
    guard let row = list?.row else { return }
    guard parts.count == 3, let generation = UInt64(parts[1]), let page = UInt64(parts[2]),
      reference == ResultRow.reference(of: page, generation, of: row.key)
    else { return find("this is not a reference of a page of the list") }
    switch generation {
    case row.generation where page < row.pages: list?.pages += 1
    case _ where generation + 1 == row.generation && page < row.formerPages: list?.formerPages += 1
    default: find("the list does not have the page")
    }
    do {
      for object in try ResultPage(bytes).objects
      where schema.entities[object.entity] == nil && !schema.isUnassigned(object.entity) {
        find("the schema has no entity \(object.entity)")
      }
    } catch {
      find("the page: \(error)")
    }
  }
}
