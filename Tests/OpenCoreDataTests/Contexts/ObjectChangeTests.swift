import OpenCoreData
import Testing

@Suite("The changes of an object", .timeLimit(.minutes(5))) struct ObjectChangeTests {
  private let bank: Bank

  init() throws { bank = try Bank(accounts: 2) }

  /// The values of a stream that has ended, or whose reader was slow.
  private func values(_ stream: AsyncStream<ObjectChange>) async -> [ObjectChange] {
    var values: [ObjectChange] = []
    for await value in stream { values.append(value) }
    return values
  }

  @Test("A value follows each event in which the object changes, and none follows the changes of others.")
  func events() async throws {
    let context = bank.context("screen")
    let (id, otherID) = (bank.accounts[0], bank.accounts[1])
    let stream = context.performAndWait { context.changes(of: context.object(with: id)) }
    var iterator = stream.makeAsyncIterator()
    context.performAndWait {
      context.object(with: otherID).balance += 1
      context.processPendingChanges()
      context.object(with: id).balance += 1
      context.processPendingChanges()
    }
    #expect(await iterator.next() == .updated)
    try context.performAndWait { try context.save() }
    let theirs = bank.context("theirs")
    let saved = try theirs.performAndWait {
      theirs.object(with: id).balance += 1
      try theirs.save()
      return [NSUpdatedObjectsKey: [id]]
    }
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: saved, into: [context])
    #expect(await iterator.next() == .refreshed)
    context.performAndWait {
      context.object(with: id).balance += 1
      context.rollback()
    }
    #expect(await iterator.next() == .refreshed)
    context.performAndWait {
      context.delete(context.object(with: id))
      context.processPendingChanges()
    }
    #expect(await iterator.next() == .deleted)
    #expect(await iterator.next() == nil)
  }

  @Test("The stream ends when the context is reset or goes away, and at once for an object that is deleted.")
  func ends() async throws {
    let id = bank.accounts[0]
    let context = bank.context("screen")
    let reset = context.performAndWait { context.changes(of: context.object(with: id)) }
    context.performAndWait { context.reset() }
    #expect(await values(reset) == [.deleted])
    let deleted = context.performAndWait {
      let object = context.object(with: id)
      context.delete(object)
      return context.changes(of: object)
    }
    #expect(await values(deleted) == [.deleted])
    func left() -> AsyncStream<ObjectChange> {
      let context = bank.context("closed")
      return context.performAndWait { context.changes(of: context.object(with: id)) }
    }
    #expect(await values(left()) == [.deleted])
  }

  @Test("The context keeps an object only as long as somebody reads its changes.")
  func memory() async throws {
    let context = bank.context("screen")
    let id = bank.accounts[0]
    var stream: AsyncStream<ObjectChange>? = context.performAndWait { context.changes(of: context.object(with: id)) }
    context.performAndWait { #expect(context.registeredObjects.count == 1) }
    withExtendedLifetime(stream) {}
    stream = nil
    context.performAndWait { #expect(context.registeredObjects.isEmpty) }
  }
}
