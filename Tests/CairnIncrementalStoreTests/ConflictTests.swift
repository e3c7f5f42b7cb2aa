import CairnIncrementalStore
import CoreData
import Testing

/// Two coordinators on one store, neither of which is notified of what the other saves.
@Suite struct ConflictTests {
  private let library = Library()
  private let mine: Coordinator
  private let theirs: Coordinator
  private let book: NSManagedObject
  private let theirBook: NSManagedObject

  init() throws {
    mine = try library.coordinator()
    theirs = try library.coordinator()
    let (mine, theirs) = (mine, theirs)
    book = try mine.work { context in
      let book = context.insert("Book", ["title": "Emma", "author": "J. A."])
      try context.save()
      return book
    }
    theirBook = try theirs.work { context in
      let other = try #require(try context.all("Book").first)
      #expect(other.value(forKey: "author") as? String == "J. A.")
      return other
    }
    mine.work { _ in _ = book.value(forKey: "title") }
  }

  /// The other coordinator saves another author.
  private func theyChange() throws {
    try theirs.work { context in
      theirBook.setValue("Jane Austen", forKey: "author")
      try context.save()
    }
  }

  private func stored() throws -> [String: String?] {
    let reader = try library.coordinator()
    defer { try? reader.close() }
    return try reader.work { context in
      let book = try context.all("Book").first
      return ["title": book?.value(forKey: "title") as? String, "author": book?.value(forKey: "author") as? String]
    }
  }

  @Test func whatAnotherCoordinatorHasSavedIsAConflictWithBothSnapshots() throws {
    try theyChange()
    try mine.work { context in
      book.setValue("Austen", forKey: "author")
      let error = try #require(error { try context.save() })
      #expect(error.code == NSManagedObjectMergeError)
      let conflicts = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
      let conflict = try #require(conflicts.first)
      #expect(conflicts.count == 1 && conflict.sourceObject === book)
      #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
      #expect(conflict.cachedSnapshot?["author"] as? String == "J. A.")
      #expect(conflict.persistedSnapshot?["author"] as? String == "Jane Austen")
      #expect(conflict.persistedSnapshot?["shelf"] is NSNull)
    }
    #expect(try stored()["author"] == "Jane Austen")
  }

  #if !canImport(Darwin)
    @Test func aRowInsertedAgainConflictsAlthoughItHasTheVersionThatAMergePolicyHasRead() throws {
      try theyChange()
      try mine.work { context in
        context.mergePolicy = NSMergePolicy.rollback
        book.setValue("Austen", forKey: "author")
        try context.save()
        #expect(book.value(forKey: "author") as? String == "Jane Austen")
      }
      let third = try library.coordinator()
      let thirdBook = try third.work { context in
        let thirdBook = try #require(try context.all("Book").first)
        _ = thirdBook.value(forKey: "title")
        return thirdBook
      }
      try theirs.work { context in
        context.delete(theirBook)
        try context.save()
      }
      try third.work { context in
        context.mergePolicy = NSMergePolicy.overwrite
        for title in ["Emma, again", "Emma, changed"] {
          thirdBook.setValue(title, forKey: "title")
          try context.save()
        }
      }
      // The row cache forgets the row, which it would compare.
      let sibling = NSManagedObjectContext(.privateQueue)
      sibling.persistentStoreCoordinator = mine.coordinator
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectIDsKey: [book.objectID]], into: [sibling])
      mine.work { context in
        context.mergePolicy = NSMergePolicy.error
        book.setValue("me", forKey: "author")
        #expect(error { try context.save() }?.code == NSManagedObjectMergeError)
      }
      #expect(try stored()["title"] == "Emma, changed")
    }
  #endif

  @Test func everyConflictingObjectIsInTheError() throws {
    let others = try mine.work { context in
      let others = (0..<5).map { context.insert("Book", ["title": "\($0)"]) }
      try context.save()
      return others
    }
    try theirs.work { context in
      for other in others.map(context.its) { other.setValue("them", forKey: "author") }
      try context.save()
    }
    try mine.work { context in
      for other in others { other.setValue("me", forKey: "author") }
      let error = try #require(error { try context.save() })
      let conflicts = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
      #expect(Set(conflicts.map(\.sourceObject)) == Set(others))
    }
  }

  @Test(arguments: [
    (NSMergePolicy.mergeByPropertyObjectTrump, "Austen", "Emma!"),
    (.mergeByPropertyStoreTrump, "Jane Austen", "Emma!"), (.overwrite, "Austen", "Emma!"),
    (.rollback, "Jane Austen", "Emma"),
  ])
  func thePolicyResolvesItAndTheSecondAttemptSucceeds(
    _ policy: NSMergePolicy, _ author: String, _ title: String
  ) throws {
    try theyChange()
    try mine.work { context in
      context.mergePolicy = policy
      book.setValue("Austen", forKey: "author")
      book.setValue("Emma!", forKey: "title")
      try context.save()
      #expect(book.value(forKey: "author") as? String == author)
    }
    #expect(try stored() == ["title": title, "author": author])
    // The cache is right afterwards: there is no conflict any more.
    try mine.work { context in
      book.setValue("again", forKey: "author")
      try context.save()
    }
    #expect(try stored()["author"] == "again")
  }

  @Test func aDeletedRowIsAConflictOfVersionZeroWithoutSnapshot() throws {
    try theirs.work { context in
      context.delete(theirBook)
      try context.save()
    }
    try mine.work { context in
      book.setValue("Austen", forKey: "author")
      let error = try #require(error { try context.save() })
      let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      let conflict = try #require(conflicts?.first)
      #expect(conflict.newVersionNumber == 0 && conflict.oldVersionNumber == 1)
      #expect(conflict.persistedSnapshot == nil && conflict.cachedSnapshot != nil)
    }
  }

  @Test func aRowThatWasDeletedIsInsertedAgainByThePolicyThatPrefersTheContext() throws {
    try theirs.work { context in
      context.delete(theirBook)
      try context.save()
    }
    try mine.work { context in
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      book.setValue("Austen", forKey: "author")
      try context.save()
    }
    #expect(try stored() == ["title": "Emma", "author": "Austen"])
  }

  @Test func deletingWhatWasChangedIsAConflict() throws {
    try theyChange()
    mine.work { context in
      context.delete(book)
      #expect(code { try context.save() } == NSManagedObjectMergeError)
    }
    #expect(try stored()["author"] == "Jane Austen")
  }

  @Test func deletingWhatWasDeletedIsNone() throws {
    try theirs.work { context in
      context.delete(theirBook)
      try context.save()
    }
    try mine.work { context in
      context.delete(book)
      try context.save()
    }
    #expect(try stored()["title"] == .some(nil))
  }

  @Test func aLockedObjectIsInConflictAndCountsAsSaved() throws {
    try mine.work { context in
      context.detectConflicts(for: book)
      _ = context.insert("Shelf")
      try context.save()
    }
    theirs.work { context in
      theirBook.setValue("x", forKey: "author")
      #expect(code { try context.save() } == NSManagedObjectMergeError)
      context.rollback()
    }
    try mine.work { context in
      context.detectConflicts(for: book)
      _ = context.insert("Shelf")
      try context.save()
    }
  }

  @Test func twoContextsOfOneCoordinatorAreInConflictThroughTheCache() throws {
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = mine.coordinator
    let copy = other.performAndWait {
      let copy = other.its(book)
      _ = copy.value(forKey: "title")
      return copy
    }
    try mine.work { context in
      book.setValue("1", forKey: "author")
      try context.save()
    }
    try other.performAndWait {
      copy.setValue("2", forKey: "author")
      let error = try #require(error { try other.save() })
      let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      let conflict = try #require(conflicts?.first)
      #expect(conflict.objectSnapshot != nil && conflict.cachedSnapshot != nil && conflict.persistedSnapshot == nil)
    }
  }

  @Test func aMemberAddedByBothIsNoConflictOfNeighboursInAPack() throws {
    let shelves = try mine.work { context in
      let shelves = (0..<2).map { context.insert("Shelf", ["name": "\($0)"]) }
      try context.save()
      return shelves
    }
    try theirs.work { context in
      context.insert("Book", ["title": "theirs"]).setValue(context.its(shelves[1]), forKey: "shelf")
      try context.save()
    }
    try mine.work { context in
      context.insert("Book", ["title": "mine"]).setValue(shelves[0], forKey: "shelf")
      try context.save()
    }
    let reader = try library.coordinator()
    try reader.work { context in
      let names = try context.all("Shelf").map { ($0.value(forKey: "books") as! Set<NSManagedObject>).count }
      #expect(names == [1, 1])
    }
  }
}
